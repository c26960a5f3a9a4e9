import JSONMapper
import OneWayTestLimits
import Testing

@Suite(.endsInTime) struct JSONCaptureTests {
    private func captured(_ text: String, at keyPath: String, _ keyPaths: [String]) throws -> [[String: JSONValue]] {
        try readers(of: text, .array(at: keyPath).capturing(keyPaths)).map(\.captured)
    }

    /// Readers of a document that is fed in pieces of every size, so that each value is cut
    /// everywhere.
    private func readers(of text: String, _ layout: JSONReader.Layout) throws -> [JSONReader] {
        let bytes = Array(text.utf8)
        return try [1, 2, 3, 7, bytes.count].map { size in
            let reader = JSONReader(layout: layout)
            for start in stride(from: 0, to: bytes.count, by: size) {
                try reader.append(bytes[start..<min(start + size, bytes.count)])
                while try reader.next({ try $0.skipValue() }) != nil {}
            }
            reader.finish()
            while try reader.next({ try $0.skipValue() }) != nil {}
            #expect(reader.isFinished && reader.byteCount == bytes.count)
            return reader
        }
    }

    @Test func valuesAreTakenFromBeforeAndBehindTheArray() throws {
        let text = """
            {"next":"a\\u0062c","data":{"total":12345678901,"items":[{"next":"inside"},{}],"more":{"deep":[1,{"x":null}]}},
             "meta":{"rate":1.50,"other":{"next":"no"}},"flag":true}
            """
        let expected: [String: JSONValue] = [
            "next": .string("abc"), "data.total": .integer(12_345_678_901), "flag": .bool(true),
            "data.more.deep": .array([.integer(1), .object(["x": .null])]), "meta.rate": .decimal("1.50"),
        ]
        let found = try captured(
            text, at: "data.items", Array(expected.keys) + ["gone", "meta.gone", "data.items.next"])
        #expect(found.allSatisfy { $0 == expected })
    }

    @Test func namesAreComparedWithoutCaseUnderscoresAndHyphens() throws {
        let text = """
            {"Has\\u004dore":true,"data":{"total-count":12,"items":[{"has_more":"inside"}],"Total_Count":8},
             "_meta":{"NEXT":{"href":"/a"},"other":{"next":1}},"hasmores":1,"next":{"meta":2}}
            """
        let layout = JSONReader.Layout.array(at: "data.items").capturing(["data.total-count", "_meta"])
            .capturing(named: ["has_more", "data.total_count", "meta.next", "meta.next.href", "gone"])
        let expected: JSONNameProbe.Values = [
            "hasmore": ["HasMore": .bool(true)],
            "data.totalcount": ["data.total-count": .integer(12), "data.Total_Count": .integer(8)],
            "meta.next": ["_meta.NEXT": .object(["href": .string("/a")])],
            "meta.next.href": ["_meta.NEXT.href": .string("/a")],
        ]
        for reader in try readers(of: text, layout) {
            #expect(reader.namedValues == expected)
            #expect(reader.captured.count == 2 && reader.captured["data.total-count"] == .integer(12))
        }
    }

    @Test func overlappingPathsAreAllCaptured() throws {
        let found = try captured(#"{"a":{"b":{"c":1}},"items":[]}"#, at: "items", ["a", "a.b.c", "a.b"])
        #expect(found.allSatisfy { $0["a.b.c"] == .integer(1) && $0["a.b"] != nil && $0["a"] != nil })
    }

    @Test func theLastOfEqualKeysCounts() throws {
        let found = try captured(#"{"n":1,"items":[],"n":{"n":2}}"#, at: "items", ["n"])
        #expect(found.allSatisfy { $0 == ["n": .object(["n": .integer(2)])] })
    }

    @Test func aMalformedValueIsAnErrorAsEver() {
        #expect(throws: JSONError.self) { try captured(#"{"n":[1,],"items":[]}"#, at: "items", ["n"]) }
    }

    @Test func aDocumentThatIsTheArrayHasNothingBeside() throws {
        #expect(try captured("[1,2]", at: "", ["n"]).allSatisfy(\.isEmpty))
    }
}
