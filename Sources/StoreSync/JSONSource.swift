public import JSONMapper

/// Where JSON comes from: an array of objects, or one object.
public enum JSONSource: Sendable {
    /// A document in memory, as UTF-8.
    case bytes([UInt8])
    /// A file, read a piece at a time.
    case file(String)
    /// A document that has been parsed already; mapped several times slower than bytes.
    case value(JSONValue)
    /// A document in pieces of any size, cut anywhere, as they arrive.
    case chunks(any AsyncSequence<[UInt8], any Error> & Sendable)

    /// Reads the document to its end.
    ///
    /// - Parameters:
    ///   - keyPath: The keys that lead to the array; empty for the document itself.
    ///   - captures: Key paths beside the array, of which the `JSONReader` keeps the values.
    ///   - acceptsSingleObject: Whether an object in the array's place counts as an array of it.
    ///   - make: Makes what reads the elements that a `JSONReader` finds.
    ///   - body: Called with that as often as there may be more to read.
    func read<Reader>(
        at keyPath: String, capturing captures: [String] = [], acceptsSingleObject: Bool = true,
        with make: (JSONReader) throws -> Reader, _ body: (Reader) async throws -> Void
    ) async throws {
        let layout = JSONLayout.array(at: keyPath, acceptsSingleObject: acceptsSingleObject).capturing(captures)
        switch self {
        case .bytes(let bytes):
            try await body(try make(JSONReader(bytes: bytes, layout: layout)))
        case .file(let path):
            try await body(try make(JSONReader(file: path, layout: layout)))
        case .value(let value):
            var writer = JSONWriter()
            try writer.value(value)
            try await body(try make(JSONReader(bytes: writer.bytes, layout: layout)))
        case .chunks(let chunks):
            let json = JSONReader(layout: layout)
            let reader = try make(json)
            for try await chunk in chunks {
                try json.append(chunk)
                try await body(reader)
            }
            json.finish()
            try await body(reader)
        }
    }
}
