import JSONMapper
import OneWayTestLimits
import Testing

@Suite(.endsInTime) struct ShapeSamplerTests {
    private func sample(_ json: String, key: [String] = []) throws -> ShapeSampler {
        var sampler = ShapeSampler(entity: "Thing", key: key)
        let reader = JSONReader(bytes: Array(json.utf8), layout: .array())
        while try reader.next({ cursor in try sampler.add(&cursor) }) != nil {}
        return sampler
    }

    @Test func everyPlaceOfTheSampleIsANode() throws {
        let sampler = try sample(
            #"[{"id":1,"tags":[{"name":"a"},{"name":"b"}],"owner":{"id":5}},{"id":2,"tags":[],"owner":null,"more":[1]}]"#
        )
        let root = sampler.root
        #expect(sampler.elementCount == 2 && root.objectCount == 2 && root.memberCount == 7)
        #expect(root.all.map(\.name) == ["id", "tags", "owner", "more"])
        #expect(root.all.map(\.count) == [2, 2, 2, 1])
        #expect(root.all.map(\.nullCount) == [0, 0, 1, 0])
        #expect(root.all.map(\.kinds) == [.integer, [.objects, .emptyArray], .object, .otherArray])
        let tag = try #require(root.property("tags")?.element)
        #expect(tag.name == "tag" && tag.objectCount == 2 && tag.property("name")?.count == 2)
        let owner = try #require(root.property("owner")?.object)
        #expect(owner.name == "owner" && owner.objectCount == 1 && owner.property("id")?.minimum == 5)
    }

    /// At the limits of ``ShapeSampler`` and one beyond them.
    @Test func placesBeyondTheLimitsAreNotExamined() throws {
        func nested(_ depth: Int, _ open: String, _ close: String) throws -> ShapeSampler {
            try sample(
                "[" + String(repeating: open, count: depth) + #"{"x":1}"# + String(repeating: close, count: depth) + "]"
            )
        }
        for (open, close) in [(#"{"a":"#, "}"), (#"{"a":["#, "]}")] {
            for (depth, isExamined) in [(48, true), (49, false)] {
                let sampler = try nested(depth, open, close)
                var node = sampler.root
                for _ in 0..<48 {
                    let property = try #require(node.property("a"))
                    node = try #require(property.object ?? property.element)
                }
                #expect((node.property("x") != nil) == isExamined)
                #expect((node.property("a")?.kinds.contains(.unexamined) == true) != isExamined)
            }
        }
        for (count, hasMore) in [(1_024, false), (1_025, true)] {
            let members = (0..<count).map { #""k\#($0)":1"# }.joined(separator: ",")
            let sampler = try sample("[{\(members)}]")
            #expect(sampler.root.propertyCount == min(count, 1_024) && sampler.root.hasMoreKeys == hasMore)
            #expect(sampler.root.memberCount == count)
        }
    }

    /// 4,096 places with the elements themselves.
    @Test func theNumberOfPlacesIsLimited() throws {
        let inner = (0..<1_022).map { #""k\#($0)":{"x":1}"# }.joined(separator: ",")
        let outer = (0..<4).map { #""g\#($0)":{\#(inner)}"# }.joined(separator: ",")
        let sampler = try sample(#"[{\#(outer),"a":{"x":1},"b":[{"x":1}],"c":{"x":1},"d":{"x":1},"e":[{"x":1}]}]"#)
        let root = sampler.root
        for name in ["g3", "a", "c"] { #expect(root.property(name)?.kinds == .object, "\(name)") }
        #expect(root.property("b")?.kinds == .objects)
        for name in ["d", "e"] { #expect(root.property(name)?.kinds.contains(.unexamined) == true, "\(name)") }
        #expect(root.property("d")?.object == nil && root.property("e")?.element == nil)
    }

    @Test(arguments: [
        ("E621E1F8-C36C-495A-93FC-0C247A3E6E5F", ShapeKinds.uppercaseUUID),
        ("e621e1f8-c36c-495a-93fc-0c247a3e6e5f", .lowercaseUUID),
        ("00000000-0000-0000-0000-000000000000", .lowercaseUUID),
        ("e621e1f8-c36c-495a-93fc-0c247a3e6e5F", .text), ("e621e1f8-c36c-495a-93fc-0c247a3e6e5g", .text),
        ("e621e1f8c36c-495a-93fc-0c247a3e6e5f0", .text), ("e621e1f8-c36c-495a-93fc-0c247a3e6e5", .text),
        ("e621e1f8-c36c-495a-93fc-0c247a3e6e5f0", .text), ("-621e1f8-c36c-495a-93fc-0c247a3e6e5f", .text),
        ("e621e1f8-c36c-495a-93fc40c247a3e6e5f", .text), ("e621e1f8-c36c-495a993fc-0c247a3e6e5f", .text),
        ("e621e1f8-c36ca495a-93fc-0c247a3e6e5f", .text), ("2015-06-23", .date), ("2015-06-2", .text),
        ("Tue, 23 Jun 2015 12:40:08.123456 +02:00", .date), ("", .text),
    ])
    func textsAreUUIDsOrDatesOrOtherTexts(text: String, kind: ShapeKinds) throws {
        let sampler = try sample(#"[{"x":"\#(text)"}]"#)
        #expect(sampler.root.property("x")?.kinds == kind)
    }

    @Test(arguments: [
        ("1", ShapeKinds.integer), ("-0", .wholeFraction), ("1.0", .wholeFraction), ("1e2", .wholeFraction),
        ("9223372036854775807", .integer), ("9223372036854775808", .largeInteger), ("0.5", .fraction),
        ("-0.0", .wholeFraction), ("99999999999999999999999999999999999999", .largeInteger),
        ("100000000000000000000000000000000000000000000000001", .endlessNumber),
        ("3.141592653589793238462643", .longNumber), ("1e300", .extremeNumber), ("1e400", .endlessNumber),
        ("123456789012345.5", .fraction), ("0.30000000000000004", .fraction), ("0.300000000000000041", .longNumber),
    ])
    func numbersAreOfTheSmallestKind(text: String, kind: ShapeKinds) throws {
        let sampler = try sample(#"[{"x":\#(text)}]"#)
        #expect(sampler.root.property("x")?.kinds == kind, "\(sampler.root.property("x")?.kinds.rawValue ?? 0)")
    }

    @Test func integersHaveARange() throws {
        let sampler = try sample(#"[{"x":5},{"x":-9223372036854775808},{"x":9223372036854775807}]"#)
        #expect(sampler.root.property("x")?.minimum == .min)
        #expect(sampler.root.property("x")?.maximum == .max)
    }

    // MARK: Identities

    /// Elements, and whether each key repeats.
    @Test(arguments: [
        (#"[{"id":1},{"id":2}]"#, false), (#"[{"id":1},{"id":1}]"#, true), (#"[{"id":null},{"id":null}]"#, false),
        (#"[{"id":"1"},{"id":1}]"#, false), (#"[{"id":1},{"x":1},{"id":1}]"#, true), (#"[{"x":1},{"id":1}]"#, false),
    ])
    func repeatedIdentitiesAreNoticed(json: String, repeats: Bool) throws {
        #expect(try sample(json).root.property("id")?.identity?.repeats == repeats)
    }

    @Test func equalIdentitiesOfDifferentObjectsConflict() throws {
        let sampler = try sample(
            #"""
            [{"owner":{"id":1,"a":1},"other":{"id":1,"a":1},"list":[{"id":1},{"id":1}]},
             {"owner":{"id":1,"a":1},"other":{"id":1,"a":2},"list":[{"id":2}]}]
            """#
        )
        let root = sampler.root
        let (owner, other) = (root.property("owner")?.object, root.property("other")?.object)
        #expect(owner?.property("id")?.identity?.repeats == true)
        #expect(owner?.property("id")?.identity?.conflicts == false)
        #expect(other?.property("id")?.identity?.conflicts == true)
        #expect(other?.property("id")?.identity?.repeatsInArray == false)
        let list = root.property("list")?.element
        #expect(list?.property("id")?.identity?.conflicts == false)
        #expect(list?.property("id")?.identity?.repeatsInArray == true)
    }

    /// Pairs of keys, and whether they repeat; nil if they are in no element together.
    @Test(arguments: [
        (#"[{"code":"a","year":1},{"code":"a","year":2},{"code":"b","year":1}]"#, 3, false),
        (#"[{"code":"a","year":1},{"code":"b","year":1},{"code":"a","year":1}]"#, 3, true),
        (#"[{"code":"a","year":1},{"code":"a","year":null},{"code":"a","year":null}]"#, 1, false),
        (#"[{"code":"a","year":1},{"code":"a"},{"code":"a"}]"#, 1, false),
    ])
    func pairsOfKeysAreExaminedTogether(json: String, count: Int, repeats: Bool) throws {
        for key in [[], ["code", "year"]] {
            let sampler = try sample(json, key: key)
            let pair = try #require(sampler.combinations.first)
            #expect(pair.keys == ["code", "year"] && pair.count == count && pair.identity.repeats == repeats, "\(key)")
        }
    }

    @Test func onlyPairsWithAnIdentifyingKeyAreExamined() throws {
        #expect(try sample(#"[{"year":1,"month":2,"name":"a"}]"#).combinations.map(\.keys) == [])
        #expect(
            try sample(#"[{"year":1,"code":"a","month":2}]"#).combinations.map(\.keys) == [
                ["year", "code"], ["code", "month"],
            ])
        #expect(try sample(#"[{"code":"a"},{"code":"b","year":1}]"#).combinations.map(\.keys) == [])
        // At most twelve pairs.
        let keys = (0..<6).map { #""k\#($0)_id":1"# }.joined(separator: ",")
        #expect(try sample("[{\(keys)}]").combinations.count == 12)
    }

    /// The nodes of folded objects lead to each other.
    @Test(arguments: [
        #"{"id": 1, "replies": [{"id": 2, "replies": [{"id": 3, "replies": []}]}]}"#,
        #"{"id": 1, "replies": {"id": 2, "replies": {"id": 3, "replies": null}}}"#,
    ])
    func nodesOfRecursiveObjectsAreReleased(json: String) throws {
        weak var node: ShapeNode?
        do {
            let sampler = try sample("[\(json)]")
            node = sampler.root.property("replies")?.element ?? sampler.root.property("replies")?.object
            sampler.root.fold()
            #expect(node?.isRecursive == true)
        }
        #expect(node == nil)
    }
}
