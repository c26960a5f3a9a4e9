public import JSONMapper
public import SyncModel
public import SyncStore

extension JSONStore {
    /// Writes the objects of a query and their related objects as a JSON array, in pieces of about
    /// 64 KiB.
    ///
    /// `RecordMapper.Exporter` documents the JSON. All objects come from one snapshot of the store.
    /// They are read in groups of 200, with everything that they lead to. Memory depends on the
    /// size of connected objects, not on the number of objects.
    ///
    /// - Parameters:
    ///   - query: The objects and their order.
    ///   - options: The format of the JSON.
    ///   - sink: Receives the next piece. After an error, the pieces so far are not valid JSON.
    /// - Throws: `MappingError`, `JSONError`, `RecordPredicateError`, `CancellationError`, and
    ///   errors of the sink and the store.
    package func export(
        _ query: StoreQuery, options: RecordMapper.Exporter.Options = RecordMapper.Exporter.Options(),
        to sink: @Sendable ([UInt8]) async throws -> Void
    ) async throws {
        let exporter = try RecordMapper.Exporter(
            mapper.model, dialect: mapper.dialect, transformers: mapper.transformers, options: options)
        try await store.read { reader in
            var writer = JSONWriter(style: options.style)
            writer.beginArray()
            try await reader.fetch(query, batchRowCount: 200) { records in
                try Task.checkCancellation()
                let graph = ExportGraph(reader, mapper: mapper, follows: options.relationships != .none)
                for object in try await graph.load(records) { try exporter.write(object, to: &writer) }
                guard writer.byteCount >= 64 << 10 else { return }
                try await sink(writer.takeBytes())
            }
            writer.endArray()
            try await sink(writer.takeBytes())
        }
    }

    /// Returns the objects of a query and their related objects as a JSON array in memory.
    ///
    /// - Throws: The errors of `export(_:options:to:)`.
    package func export(_ query: StoreQuery, options: RecordMapper.Exporter.Options = RecordMapper.Exporter.Options())
        async throws
        -> [UInt8]
    {
        let exporter = try RecordMapper.Exporter(
            mapper.model, dialect: mapper.dialect, transformers: mapper.transformers, options: options)
        return try await store.read { reader in
            let graph = ExportGraph(reader, mapper: mapper, follows: options.relationships != .none)
            return try exporter.bytes(ofAll: try await graph.load(try await reader.records(query)))
        }
    }

    /// Returns one object as JSON; nil if no object has the key.
    ///
    /// - Throws: The errors of `export(_:options:to:)`.
    package func export(
        _ entity: String, key: Record.Key, options: RecordMapper.Exporter.Options = RecordMapper.Exporter.Options()
    ) async throws -> [UInt8]? {
        let exporter = try RecordMapper.Exporter(
            mapper.model, dialect: mapper.dialect, transformers: mapper.transformers, options: options)
        return try await store.read { reader in
            guard let stored = try await reader.record(entity, key: key) else { return nil }
            let graph = ExportGraph(reader, mapper: mapper, follows: options.relationships != .none)
            return try await graph.load([stored]).first.map { try exporter.bytes(of: $0) }
        }
    }
}

extension Store {
    /// Returns the objects of a query and their related objects as a JSON array in memory.
    ///
    /// `RecordMapper.Exporter` documents the JSON. All objects come from one snapshot of the store.
    ///
    /// - Parameters:
    ///   - query: The objects and their order.
    ///   - options: The format of the JSON.
    /// - Throws: `MappingError`, `JSONError`, `RecordPredicateError`, `CancellationError`, and
    ///   errors of the store.
    public func export(
        _ query: StoreQuery, options: RecordMapper.Exporter.Options = RecordMapper.Exporter.Options()
    ) async throws -> [UInt8] {
        try await syncing.export(query, options: options)
    }

    /// Returns the objects of a type that satisfy a condition, with their related objects, as a
    /// JSON array in memory.
    ///
    ///     let json = try await store.export(User.self, where: \.age > 30, orderedBy: \.name)
    ///
    /// - Parameters:
    ///   - type: The type of the objects.
    ///   - predicate: The condition for each object; nil, the default, for none.
    ///   - ordering: The order, such as `\.name` or `\.age.descending`.
    ///   - options: The format of the JSON, and the related objects.
    /// - Throws: The errors of `export(_:options:)`; `SyncDeclarationError` for a key path that
    ///   leads to no coded property.
    public func export<Object: SyncObject, each Order: ObjectParts.Criterion>(
        _ type: Object.Type, where predicate: ObjectPredicate<Object>? = nil,
        orderedBy ordering: repeat KeyPath<ObjectParts.Fields<Object>, each Order>,
        options: RecordMapper.Exporter.Options = RecordMapper.Exporter.Options()
    ) async throws -> [UInt8] {
        let query = ObjectQuery(type, where: predicate, orderedBy: repeat each ordering)
        return try await syncing.export(query.storeQuery(), options: options)
    }

    /// Returns one object as JSON; nil if no object has the key.
    ///
    /// - Throws: The errors of `export(_:options:)`.
    public func export(
        _ entity: String, key: Record.Key, options: RecordMapper.Exporter.Options = RecordMapper.Exporter.Options()
    ) async throws -> [UInt8]? {
        try await syncing.export(entity, key: key, options: options)
    }

    /// Returns the objects of a query and their related objects as a JSON array, in chunks of about
    /// 64 KiB.
    ///
    /// All objects come from one snapshot of the store. They are read in groups of 200, with
    /// everything that they lead to. Memory depends on the size of connected objects, not on the
    /// number of objects.
    ///
    /// - Parameters:
    ///   - query: The objects and their order.
    ///   - options: The format of the JSON.
    public func exportChunks(
        _ query: StoreQuery, options: RecordMapper.Exporter.Options = RecordMapper.Exporter.Options()
    ) -> ExportedJSON {
        ExportedJSON { sink in try await syncing.export(query, options: options, to: sink) }
    }

    /// Returns the objects of a typed query and their related objects as a JSON array, in chunks.
    ///
    /// The options choose the related objects. The query's own included relationships are ignored.
    public func exportChunks(
        _ query: ObjectQuery<some SyncObject>, options: RecordMapper.Exporter.Options = RecordMapper.Exporter.Options()
    ) -> ExportedJSON {
        ExportedJSON { sink in try await syncing.export(try query.storeQuery(), options: options, to: sink) }
    }
}

extension JSONWriter {
    /// Returns the bytes written since the last call, and empties the buffer.
    fileprivate mutating func takeBytes() -> [UInt8] {
        let taken = bytes
        flush { _ in }
        return taken
    }
}
