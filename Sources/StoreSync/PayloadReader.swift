import JSONMapper

/// Reads a payload for a sync: an actor, so that what comes next is mapped while what came before is merged.
actor PayloadReader {
    private let json: JSONReader
    private let records: RecordReader
    private let batchRowCount: Int
    /// What has not been read of a document that comes in pieces; nil where there is nothing more.
    private var chunks: (any AsyncIteratorProtocol<[UInt8], any Error>)?

    /// Opens a payload.
    ///
    /// - Parameters:
    ///   - source: Where it comes from.
    ///   - keyPath: The keys that lead to the array; empty for the document itself.
    ///   - entity: The entity of its objects.
    /// - Throws: `MappingError.unknownEntity`; `JSONError` for a file that cannot be opened, or a number that JSON has not.
    init(
        _ source: JSONSource, at keyPath: String, mapper: RecordMapper, entity: String, options: RecordReader.Options
    ) throws {
        let layout = JSONLayout.array(at: keyPath, acceptsSingleObject: true)
        switch source {
        case .bytes(let bytes): json = JSONReader(bytes: bytes, layout: layout)
        case .file(let path): json = try JSONReader(file: path, layout: layout)
        case .value(let value):
            var writer = JSONWriter()
            try writer.value(value)
            json = JSONReader(bytes: writer.bytes, layout: layout)
        case .chunks(let source):
            json = JSONReader(layout: layout)
            chunks = source.makeAsyncIterator()
        }
        records = try RecordReader(mapper, entity: entity, reader: json, options: options)
        batchRowCount = options.batchRowCount
    }

    /// The next objects, mapped; nil after the last.
    ///
    /// - Throws: What is wrong with the payload, and what its source throws.
    func nextBatch() async throws -> MappedBatch? {
        while true {
            if let batch = try records.next() { return batch }
            guard try await readOn() else { return nil }
        }
    }

    /// The next objects as they are written, and the place of the first one among all; nil after the last.
    ///
    /// - Throws: What is wrong with the payload, and what its source throws.
    func nextElements() async throws -> (first: Int, elements: [[UInt8]])? {
        while true {
            let first = json.elementCount
            var elements: [[UInt8]] = []
            while elements.count < batchRowCount,
                let element = try json.next({ cursor in try cursor.rawValue().withUTF8 { Array($0) } })
            {
                elements.append(element)
            }
            if !elements.isEmpty { return (first, elements) }
            guard try await readOn() else { return nil }
        }
    }

    /// Waits for the next piece of the document.
    ///
    /// - Returns: Whether there may be more to read.
    private func readOn() async throws -> Bool {
        guard var rest = chunks else { return false }
        chunks = nil
        if let chunk = try await rest.next(isolation: self) {
            chunks = rest
            try json.append(chunk)
        } else {
            json.finish()
        }
        return true
    }
}
