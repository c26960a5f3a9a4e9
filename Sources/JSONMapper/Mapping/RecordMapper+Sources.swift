public import SyncModel

extension RecordMapper {
    /// Returns a reader for objects in memory.
    ///
    /// - Parameters:
    ///   - entity: The entity of the objects.
    ///   - bytes: The document as UTF-8, retained for the lifetime of the reader.
    ///   - keyPath: The keys that lead to the array, separated by dots. Empty, the default, if the
    ///     document is the array. A single object in place of the array counts as an array of one.
    ///   - options: Batch sizes and contents.
    /// - Throws: ``MappingError/unknownEntity(_:)`` if the model lacks the entity.
    public func reader(
        of entity: String, bytes: [UInt8], keyPath: String = "",
        options: RecordMapper.Reader.Options = RecordMapper.Reader.Options()
    ) throws(MappingError) -> RecordMapper.Reader {
        let layout = JSONReader.Layout.array(at: keyPath, acceptsSingleObject: true)
        return try RecordMapper.Reader(
            self, entity: entity, reader: JSONReader(bytes: bytes, layout: layout), options: options)
    }

    /// Returns a reader for objects in a file, which is read 256 KiB at a time.
    ///
    /// - Parameters:
    ///   - entity: The entity of the objects.
    ///   - path: The path of the file, absolute or relative to the current directory of the
    ///     process.
    ///   - layout: The location of the objects; an array that is the whole document by default. By
    ///     default, a single object in place of the array counts as an array of one.
    ///   - options: Batch sizes and contents.
    /// - Throws: ``MappingError/unknownEntity(_:)`` if the model lacks the entity;
    ///   ``JSONError/unreadableFile(path:code:)`` if the file cannot be opened.
    public func reader(
        of entity: String, file path: String, layout: JSONReader.Layout = .array(acceptsSingleObject: true),
        options: RecordMapper.Reader.Options = RecordMapper.Reader.Options()
    ) throws -> RecordMapper.Reader {
        try RecordMapper.Reader(self, entity: entity, reader: JSONReader(file: path, layout: layout), options: options)
    }

    /// Returns a reader for objects that have already been parsed.
    ///
    /// The value is serialized and read again, so that all rules apply. Mapping bytes directly is
    /// many times faster.
    ///
    /// - Parameters:
    ///   - entity: The entity of the objects.
    ///   - json: An array of objects, a single object, or a value that has one at the key path.
    ///   - keyPath: The keys that lead to the array, separated by dots; empty by default.
    ///   - options: Batch sizes and contents.
    /// - Throws: ``MappingError/unknownEntity(_:)`` if the model lacks the entity;
    ///   ``JSONError/nonFiniteNumber`` if `json` has an infinite or NaN number.
    public func reader(
        of entity: String, json: JSONValue, keyPath: String = "",
        options: RecordMapper.Reader.Options = RecordMapper.Reader.Options()
    ) throws -> RecordMapper.Reader {
        var writer = JSONWriter()
        try writer.value(json)
        return try reader(of: entity, bytes: writer.bytes, keyPath: keyPath, options: options)
    }

    /// Maps objects from chunks that arrive over time. Memory use does not depend on their number.
    ///
    /// - Parameters:
    ///   - chunks: The document in chunks of any size, split at any byte.
    ///   - entity: The entity of the objects.
    ///   - layout: The location of the objects; an array that is the whole document by default. By
    ///     default, a single object in place of the array counts as an array of one.
    ///   - options: Batch sizes and contents. A batch also ends at the end of a chunk.
    ///   - isolation: The actor that `body` runs on; the caller's by default.
    ///   - body: Receives the records of a batch in order, and the objects that were rejected.
    /// - Throws: ``MappingError``, ``JSONError``, or an error of the sequence or of `body`.
    public func read<Chunks: AsyncSequence>(
        _ chunks: Chunks, of entity: String, layout: JSONReader.Layout = .array(acceptsSingleObject: true),
        options: RecordMapper.Reader.Options = RecordMapper.Reader.Options(),
        isolation: isolated (any Actor)? = #isolation,
        _ body: (_ records: [Record], _ rejected: [MappingError.Problem]) async throws -> Void
    ) async throws where Chunks.Element: Collection<UInt8> {
        let json = JSONReader(layout: layout)
        let reader = try RecordMapper.Reader(self, entity: entity, reader: json, options: options)
        for try await chunk in chunks {
            try json.append(chunk)
            while let batch = try reader.nextRecords() { try await body(batch.records, batch.rejected) }
        }
        json.finish()
        while let batch = try reader.nextRecords() { try await body(batch.records, batch.rejected) }
    }

    /// Returns all objects of a document as records, with defaults for absent values.
    ///
    /// - Parameters:
    ///   - entity: The entity of the objects.
    ///   - bytes: The document as UTF-8.
    ///   - keyPath: The keys that lead to the array, separated by dots. Empty, the default, if the
    ///     document is the array.
    /// - Throws: ``MappingError/unknownEntity(_:)`` if the model lacks the entity;
    ///   ``MappingError/unfit(_:)`` if the contract rejects an object or makes a misfit an error;
    ///   ``JSONError`` if the document is malformed.
    public func records(of entity: String, bytes: [UInt8], keyPath: String = "") throws -> [Record] {
        let (records, rejected) = try reader(of: entity, bytes: bytes, keyPath: keyPath).readAll()
        if let problem = rejected.first { throw MappingError.unfit(problem) }
        return records
    }
}
