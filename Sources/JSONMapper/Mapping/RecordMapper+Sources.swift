public import SyncModel

extension RecordMapper {
    /// A reader of objects in memory.
    ///
    /// - Parameters:
    ///   - entity: The entity of the objects.
    ///   - bytes: The document as UTF-8; kept until the reader is gone.
    ///   - keyPath: The keys that lead to the array, dots between them; empty, the default, if it
    ///     is the document. An object in the array's place counts as an array of it.
    ///   - options: How batches are cut, and what else they hold.
    /// - Throws: `MappingError.unknownEntity`.
    public func reader(
        of entity: String, bytes: [UInt8], keyPath: String = "",
        options: RecordReader.Options = RecordReader.Options()
    ) throws(MappingError) -> RecordReader {
        let layout = JSONLayout.array(at: keyPath, acceptsSingleObject: true)
        return try RecordReader(
            self, entity: entity, reader: JSONReader(bytes: bytes, layout: layout), options: options)
    }

    /// A reader of objects in a file, of which at most some 256 KiB are in memory at a time.
    ///
    /// - Parameters:
    ///   - entity: The entity of the objects.
    ///   - path: The file.
    ///   - layout: Where the objects are in it; the array that is the document by default.
    ///   - options: How batches are cut, and what else they hold.
    /// - Throws: `MappingError.unknownEntity`; `JSONError.unreadableFile` if it cannot be opened.
    public func reader(
        of entity: String, file path: String, layout: JSONLayout = .array(acceptsSingleObject: true),
        options: RecordReader.Options = RecordReader.Options()
    ) throws -> RecordReader {
        try RecordReader(self, entity: entity, reader: JSONReader(file: path, layout: layout), options: options)
    }

    /// A reader of objects that have been parsed already: an array of them, or one.
    ///
    /// The value is written out as bytes and read from those, so that every rule holds as it does
    /// there; objects that come as bytes are mapped many times faster.
    ///
    /// - Throws: `MappingError.unknownEntity`; `JSONError.nonFiniteNumber` for such a number in
    ///   `json`.
    public func reader(
        of entity: String, json: JSONValue, keyPath: String = "",
        options: RecordReader.Options = RecordReader.Options()
    ) throws -> RecordReader {
        var writer = JSONWriter()
        try writer.value(json)
        return try reader(of: entity, bytes: writer.bytes, keyPath: keyPath, options: options)
    }

    /// Maps objects from chunks that arrive over time, in memory that does not grow with their
    /// number.
    ///
    /// - Parameters:
    ///   - chunks: The document in pieces of any size, cut anywhere.
    ///   - entity: The entity of the objects.
    ///   - layout: Where the objects are in it; the array that is the document by default.
    ///   - options: How batches are cut, and what else they hold; a batch is also cut where a chunk
    ///     ends.
    ///   - body: Receives the records in order, and the objects that were left out.
    /// - Throws: `MappingError`, `JSONError`, and what the sequence or the function throws.
    public func read<Chunks: AsyncSequence>(
        _ chunks: Chunks, of entity: String, layout: JSONLayout = .array(acceptsSingleObject: true),
        options: RecordReader.Options = RecordReader.Options(), isolation: isolated (any Actor)? = #isolation,
        _ body: (_ records: [Record], _ rejected: [MappingProblem]) async throws -> Void
    ) async throws where Chunks.Element: Collection<UInt8> {
        let json = JSONReader(layout: layout)
        let reader = try RecordReader(self, entity: entity, reader: json, options: options)
        for try await chunk in chunks {
            try json.append(chunk)
            while let batch = try reader.nextRecords() { try await body(batch.records, batch.rejected) }
        }
        json.finish()
        while let batch = try reader.nextRecords() { try await body(batch.records, batch.rejected) }
    }

    /// All objects of a document as records, defaults in place of what is absent.
    ///
    /// - Parameters:
    ///   - entity: The entity of the objects.
    ///   - bytes: The document as UTF-8.
    ///   - keyPath: The keys that lead to the array, dots between them; empty, the default, if it
    ///     is the document.
    /// - Throws: `MappingError.unfit` also for an object that the contract rejects;
    ///   `MappingError.unknownEntity`; `JSONError`.
    public func records(of entity: String, bytes: [UInt8], keyPath: String = "") throws -> [Record] {
        let (records, rejected) = try reader(of: entity, bytes: bytes, keyPath: keyPath).readAll()
        if let problem = rejected.first { throw MappingError.unfit(problem) }
        return records
    }
}
