import JSONMapper
import OneWayTestSupport

/// What came out of reading an input: the elements before its end, or before its error.
struct Reading: Equatable {
    var elements: [JSONValue] = []
    var error: JSONError?

    /// Reads bytes in memory.
    init(_ bytes: [UInt8], layout: JSONReader.Layout = .document, options: JSONReader.Options = JSONReader.Options()) {
        drain(JSONReader(bytes: bytes, layout: layout, options: options))
    }

    /// Reads pieces that are appended one after the other.
    init(pieces: [[UInt8]], layout: JSONReader.Layout = .document, options: JSONReader.Options = JSONReader.Options()) {
        let reader = JSONReader(layout: layout, options: options)
        for piece in pieces {
            do {
                try reader.append(piece)
            } catch {
                self.error = error as? JSONError
            }
            drain(reader)
            if error != nil { return }
        }
        reader.finish()
        drain(reader)
    }

    /// Reads from a source that gives at most so many bytes at a time, through a window of 16 bytes
    /// that has to grow.
    init(
        _ bytes: [UInt8], stride: Int, layout: JSONReader.Layout = .document,
        options: JSONReader.Options = JSONReader.Options()
    ) {
        let source = Arrival.source(of: bytes, stride: stride)
        drain(JSONReader(layout: layout, options: options, windowByteCount: 16, source: source))
    }

    /// The lists that an error names depend on how much of the document had arrived.
    static func == (one: Reading, other: Reading) -> Bool {
        one.elements == other.elements && one.error?.withoutLists == other.error?.withoutLists
    }

    private mutating func drain(_ reader: JSONReader) {
        do {
            while let value = try reader.next({ try JSONValue(&$0) }) { elements.append(value) }
        } catch {
            self.error = error as? JSONError
        }
    }
}

extension JSONError {
    fileprivate var withoutLists: JSONError {
        guard case .mismatched(let reason, var location) = self else { return self }
        location.lists = []
        return .mismatched(reason, location)
    }
}

/// Documents of every shape, small enough to be damaged at every bit.
enum Documents {
    static let legal: [String] = [
        "{}", "[]", "null", " true ", "-0", "1.5e-3", #""a""#, #""\ud83d\ude00 \u00e9\n\"""#, "\u{FEFF}[1]",
        #"[1,-2.5e10,"xÿ水😀",true,false,null,[],{},[[{"a":[0]}]]]"#,
        #"{"data":{"skip":[1,{"items":[9]}],"items":[{"id":1,"name":"Ann \"A\"\\"},{"id":2,"tags":["a","b"]}],"next":null},"n":1}"#,
        " { \"a\" : 1 , \n \"data\" : { \"x\" : \"y\" , \"items\" : [ 1 , { } ] , \"z\" : 0 } , \"b\" : [ ] } ",
        "[\r\n\t{\"id\": 18446744073709551615 , \"text\" : \"a long enough text without any escape in it\"}\n , 12 ]\n",
    ]
    static let illegal: [String] = [
        "", "[", "[1,]", "{\"a\"}", "[1 2]", "[01]", "\"\t\"", "[\"\\ud800\"]", "[\"\\x\"]", "tru", "[1]x",
        "{\"a\":1,}",
        "[-]", "[1.]", "[1e]", "nul", "[\"abc", "{\"a\":{\"b\":[1,{\"c\":+1}]}}", "\n\n [\n1,\n\n  @]",
    ]
}
