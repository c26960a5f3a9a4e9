import JSONMapper
import OneWayTestLimits
import OneWayTestSupport
import Testing

/// The members of an object as elements of a list, however its bytes arrive.
@Suite(.endsInTime) struct MemberTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let keyPath: String
        let json: String
        /// Nil for an error.
        let expected: String?

        init(_ keyPath: String, _ json: String, _ expected: String?) {
            (self.keyPath, self.json, self.expected) = (keyPath, json, expected)
        }

        var testDescription: String { "\(keyPath) of \(json)" }
    }

    private static let cases = [
        Case("{k}", #"{"a":{"b":1},"c":{}}"#, #"[{"k":"a","b":1},{"k":"c"}]"#),
        // One value of each kind, and each kind after and inside each other.
        Case(
            "{k:value}",
            #"{"a":1,"b":"x","c":[1,[2]],"d":{"e":1},"f":{},"g":null,"h":[],"i":"}],","j":true,"l":-1.5e3}"#,
            #"[{"k":"a","value":1},{"k":"b","value":"x"},{"k":"c","value":[1,[2]]},{"k":"d","e":1},{"k":"f"},{"k":"g","value":null},{"k":"h","value":[]},{"k":"i","value":"}],"},{"k":"j","value":true},{"k":"l","value":-1.5e3}]"#
        ),
        Case("{k:v}", #"{"a":[{"b":"]"}]}"#, #"[{"k":"a","v":[{"b":"]"}]}]"#),
        Case("{k}", #"{"a":{"b":[1,{"c":"}"}],"d":"\""}}"#, #"[{"k":"a","b":[1,{"c":"}"}],"d":"\""}]"#),
        // Values other than objects stay as they are without a field for them.
        Case("{k}", #"{"a":1,"b":{},"c":"x"}"#, #"[1,{"k":"b"},"x"]"#),
        // A member of the same name.
        Case(
            "{k}", #" { "a\"b" : { "x":1 , "k" : 2 } , "c" : { "k" : "c" }, "3":{"k":3,"y":[]} } "#,
            #"[{"k":"a\"b","x":1,"own_k":2},{"k":"c"},{"k":3,"y":[]}]"#),
        Case("{k}", #"{"a":{"\u006b":{"k":1}}}"#, #"[{"k":"a","own_\u006b":{"k":1}}]"#),
        Case("{a\"b}", #"{"x":{}}"#, #"[{"a\"b":"x"}]"#),
        // Within a document.
        Case("data.users{id}", #"{"data":{"x":1,"users":{"a":{}},"y":2},"z":3}"#, #"[{"id":"a"}]"#),
        Case("data.users{id}", #"{"data":{"users":null}}"#, nil), Case("data.users{id}", #"{"data":{}}"#, nil),
        Case(#"a\{b}"#, #"{"a{b}":[1]}"#, "[1]"), Case("{}", #"{"{}":[1]}"#, "[1]"),
        // An array, whose keys are indices.
        Case("{k:value}", #"[{"a":1},null,5]"#, #"[{"k":"0","a":1},{"k":"2","value":5}]"#),
        Case("{k:value}", #"[[1],"x",null]"#, #"[{"k":"0","value":[1]},{"k":"1","value":"x"}]"#),
        Case("u{k}", #"{"u":[null,{}, null ],"v":[]}"#, #"[{"k":"1"}]"#),
        // Nothing.
        Case("{k}", "{}", "[]"), Case("{k}", " null ", "[]"), Case("{k}", " [ ] ", "[]"), Case("{k}", "[null]", "[]"),
        // Other values, and malformed ones.
        Case("{k}", "nulls", nil), Case("{k}", "nul", nil), Case("{k}", "true", nil), Case("{k}", "", nil),
        Case("{k}", #"{"a":{}"#, nil), Case("{k}", #"{"a""#, nil), Case("{k}", #"{"a" {}}"#, nil),
        Case("{k}", #"{"a":{},}"#, nil), Case("{k}", #"{,"a":{}}"#, nil), Case("{k}", #"{"a":{}"b":{}}"#, nil),
        Case("{k}", #"{"a":{"b":}}"#, nil), Case("{k}", #"{a:{}}"#, nil), Case("{k}", "[{},]", nil),
        Case("{k}", "[nullx]", nil), Case("{k}", #"{"a":{}} x"#, nil), Case("{k}", #"{"a":{"k":tru}}"#, nil),
    ]

    private static func elements(_ reader: JSONReader) throws -> [JSONValue] {
        var elements: [JSONValue] = []
        while let element = try reader.nextValue(exactDecimals: true) { elements.append(element) }
        return elements
    }

    private static func elements(_ bytes: [UInt8], at keyPath: String, arriving arrival: Arrival) throws -> [JSONValue]
    {
        let layout = JSONReader.Layout.array(at: keyPath, acceptsSingleObject: true)
        if case .window(let size, let stride) = arrival {
            let source = Arrival.source(of: bytes, stride: stride)
            return try elements(JSONReader(layout: layout, windowByteCount: size, source: source))
        }
        let reader = JSONReader(layout: layout)
        var found: [JSONValue] = []
        for piece in arrival.pieces(of: bytes) {
            try reader.append(piece)
            found += try elements(reader)
        }
        reader.finish()
        found += try elements(reader)
        #expect(reader.elementCount == found.count)
        return found
    }

    @Test(arguments: cases) func everyMemberIsAnElement(example: Case) throws {
        let bytes = Array(example.json.utf8)
        for arrival in Axes.arrivals(of: bytes.count) {
            guard let json = example.expected else {
                #expect(throws: JSONError.self, "\(arrival)") {
                    try Self.elements(bytes, at: example.keyPath, arriving: arrival)
                }
                continue
            }
            guard case .array(let expected) = try JSONValue(parsing: Array(json.utf8), exactDecimals: true) else {
                Issue.record("\(json) is no array")
                return
            }
            #expect(
                try Self.elements(bytes, at: example.keyPath, arriving: arrival) == expected, "\(arrival)")
        }
    }

    /// An error has the place in the document, with the key of the member.
    @Test(arguments: [
        (#"{"u":{"a":{"n":1}, "b":{"n":[}}}"#, "u.b.n[0]", 29), (#"{"u":{"a":{"n":"\ud800"}}}"#, "u.a.n", 16),
    ])
    func anErrorNamesTheMember(json: String, keyPath: String, offset: Int) throws {
        let reader = JSONReader(bytes: Array(json.utf8), layout: .array(at: "u{id}"))
        do {
            _ = try Self.elements(reader)
            Issue.record("no error")
        } catch let error as JSONError {
            #expect(error.location?.keyPath == keyPath, "\(error)")
            #expect(error.location?.byteOffset == offset, "\(error)")
        }
    }

    @Test func aKeyLongerThanAnElementIsRefused() throws {
        var options = JSONReader.Options()
        options.maximumElementByteCount = 1000
        let key = String(repeating: "x", count: 5000)
        for json in [#"{"\#(key)":{}}"#, #"{"a":{"id":"\#(key)"}}"#] {
            #expect(throws: JSONError.self) {
                try Self.elements(
                    JSONReader(bytes: Array(json.utf8), layout: .array(at: "{id}"), options: options))
            }
        }
    }
}
