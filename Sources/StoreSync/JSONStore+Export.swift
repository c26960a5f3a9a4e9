public import JSONMapper
public import SyncModel
public import SyncStore

extension JSONStore {
    /// Writes the objects of a query, with what they are related to, as an array of JSON; a piece of some 64 KiB at a time.
    ///
    /// `RecordExporter` says what the JSON looks like. Objects are read from one state of the store, some hundred at a time with all that
    /// they lead to: memory does not grow with the number of objects, but with what hangs together.
    ///
    /// - Parameters:
    ///   - query: Which objects, in what order.
    ///   - options: How they are written.
    ///   - sink: Takes the next piece. After an error the pieces so far are no whole JSON.
    /// - Throws: `MappingError`, `JSONError`, `RecordPredicateError`, `CancellationError`, what the sink and the store throw.
    public func export(
        _ query: StoreQuery, options: ExportOptions = ExportOptions(), to sink: @Sendable ([UInt8]) async throws -> Void
    ) async throws {
        let exporter = try RecordExporter(
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

    /// The objects of a query, with what they are related to, as an array of JSON; all of it in memory at once.
    ///
    /// - Throws: As ``export(_:options:to:)``.
    public func export(_ query: StoreQuery, options: ExportOptions = ExportOptions()) async throws -> [UInt8] {
        let exporter = try RecordExporter(
            mapper.model, dialect: mapper.dialect, transformers: mapper.transformers, options: options)
        return try await store.read { reader in
            let graph = ExportGraph(reader, mapper: mapper, follows: options.relationships != .none)
            return try exporter.bytes(ofAll: try await graph.load(try await reader.records(query)))
        }
    }

    /// One object as JSON; nil if there is none of that key.
    ///
    /// - Throws: As ``export(_:options:to:)``.
    public func export(
        _ entity: String, key: RecordKey, options: ExportOptions = ExportOptions()
    ) async throws -> [UInt8]? {
        let exporter = try RecordExporter(
            mapper.model, dialect: mapper.dialect, transformers: mapper.transformers, options: options)
        return try await store.read { reader in
            guard let stored = try await reader.record(entity, key: key) else { return nil }
            let graph = ExportGraph(reader, mapper: mapper, follows: options.relationships != .none)
            return try await graph.load([stored]).first.map { try exporter.bytes(of: $0) }
        }
    }
}

extension JSONWriter {
    /// What has been written since the last time, which empties the buffer.
    fileprivate mutating func takeBytes() -> [UInt8] {
        let taken = bytes
        flush { _ in }
        return taken
    }
}
