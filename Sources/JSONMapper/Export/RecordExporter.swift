public import SyncModel

/// Writes records of a model as JSON bytes, with the keys that the same dialect reads.
///
///     let exporter = try RecordExporter(model)
///     try exporter.bytes(ofRecord: user)    // {"id":1,"first_name":"Ada"}
///
/// An object has the keys of its attributes and then those of its relationships, in the model's order.
/// Key paths become nested objects, which paths with a common beginning share. If two properties have
/// one key, or if one key is the beginning of another's path, attributes go before relationships and
/// earlier properties before later ones; the other property is left out. Properties that are annotated
/// as non-exportable are left out, as are transformable attributes of the Sync dialect and, in the Groot
/// dialect, properties without a key path. An attribute without a value is null. Bytes that are JSON are
/// written as JSON, other bytes as base64.
///
/// **Related objects** are written in full, without the inverse of the relationship that led to them. A
/// to-many relationship without objects is an empty array or object. A to-one relationship without an
/// object is left out; the Groot dialect writes null. Where relationships form a cycle, each object on
/// it is written in full once below the exported object, and without relationships wherever it occurs
/// again. Every export therefore ends, in time proportional to the objects and links.
public struct RecordExporter: Sendable {
    private let plans: [ExportPlan]
    private let options: ExportOptions
    private let hasCycles: Bool

    /// Works out how the objects of each entity of a model are written.
    ///
    /// - Parameters:
    ///   - model: The model of the objects.
    ///   - dialect: Whose annotations and conventions give the keys; Sync's by default.
    ///   - transformers: The transformers that attributes name; values go through their reverse. A
    ///     one-way transformer is passed over.
    ///   - options: How objects are written.
    /// - Throws: `MappingError` where an attribute names a transformer that is not registered.
    public init(
        _ model: DataModel, dialect: JSONDialect = .sync, transformers: JSONTransformers = JSONTransformers(),
        options: ExportOptions = ExportOptions()
    ) throws(MappingError) {
        let keys = model.layouts.map { EntityKeys($0, in: model, dialect: dialect) }
        let cycles = ExportCycles(in: model) { relationship in
            options.relationships != .none && keys[relationship.source].relationships[relationship.index].isExportable
        }
        var plans: [ExportPlan] = []
        for keys in keys {
            plans.append(try ExportPlan(keys, options: options, transformers: transformers, cycles: cycles))
        }
        self.plans = plans
        hasCycles = !cycles.isEmpty
        self.options = options
    }

    /// One object as JSON.
    ///
    /// - Throws: `MappingError` where the object, or one that it is related to, is of no entity of
    ///   the model, where objects are nested deeper than the options allow, or where a transformer
    ///   fails; `JSONError.nonFiniteNumber`; and what the source of the objects throws.
    package func bytes(of object: some ExportableObject) throws -> [UInt8] {
        var writer = JSONWriter(style: options.style)
        try write(object, to: &writer)
        return writer.bytes
    }

    /// Writes one object as the next value of a document that the caller writes.
    ///
    /// - Throws: What `bytes(of:)` throws; the document is of no use then.
    package func write(_ object: some ExportableObject, to writer: inout JSONWriter) throws {
        var walk = self.walk
        try walk.write(object, to: &writer)
    }

    /// Objects as an array of JSON; all of it is in memory at once.
    ///
    /// - Throws: What `bytes(of:)` throws.
    package func bytes<Objects: Sequence>(ofAll objects: Objects) throws -> [UInt8]
    where Objects.Element: ExportableObject {
        var bytes: [UInt8] = []
        try write(objects) { bytes.append(contentsOf: $0) }
        return bytes
    }

    /// Writes objects as an array of JSON, a piece of some 64 KiB at a time: memory does not grow
    /// with their number.
    ///
    /// - Parameters:
    ///   - objects: The objects, of any entities of the model; taken one after another.
    ///   - sink: Takes the next piece, which is valid only during the call. After an error the
    ///     pieces so far are no whole JSON.
    /// - Throws: What `bytes(of:)` throws, and what the sink throws.
    package func write<Objects: Sequence>(
        _ objects: Objects, to sink: (UnsafeRawBufferPointer) throws -> Void
    ) throws where Objects.Element: ExportableObject {
        var writer = JSONWriter(style: options.style)
        var walk = self.walk
        writer.beginArray()
        for object in objects {
            try walk.write(object, to: &writer)
            try writer.flush(minimumByteCount: Self.pieceByteCount, to: sink)
        }
        writer.endArray()
        try writer.flush(to: sink)
    }

    /// Writes objects that arrive over time as an array of JSON, a piece of some 64 KiB at a time:
    /// memory does not grow with their number.
    ///
    /// - Parameters:
    ///   - objects: The objects, of any entities of the model; taken one after another. Where their
    ///     task is cancelled, what happens is theirs to say.
    ///   - sink: Takes the next piece. After an error the pieces so far are no whole JSON.
    /// - Throws: What `bytes(of:)` throws, and what the sequence and the sink throw.
    package func write<Objects: AsyncSequence>(
        _ objects: Objects, isolation: isolated (any Actor)? = #isolation, to sink: ([UInt8]) async throws -> Void
    ) async throws where Objects.Element: ExportableObject {
        var writer = JSONWriter(style: options.style)
        var walk = self.walk
        writer.beginArray()
        for try await object in objects {
            try walk.write(object, to: &writer)
            guard writer.byteCount >= Self.pieceByteCount else { continue }
            try await sink(writer.takeBytes())
        }
        writer.endArray()
        try await sink(writer.takeBytes())
    }

    private static let pieceByteCount = 64 << 10

    private var walk: ExportWalk {
        ExportWalk(plans: plans, options: options, hasCycles: hasCycles)
    }
}

extension JSONWriter {
    /// What has been written since the last flush, which empties the buffer.
    fileprivate mutating func takeBytes() -> [UInt8] {
        let taken = bytes
        flush { _ in }
        return taken
    }
}

extension RecordExporter {
    /// Returns one record as JSON, without related objects, which a record does not hold.
    ///
    /// - Throws: `MappingError` if the record is of no entity of the model or a transformer fails;
    ///   `JSONError.nonFiniteNumber`.
    public func bytes(ofRecord record: Record) throws -> [UInt8] {
        try bytes(of: record)
    }

    /// Returns records as a JSON array, all of it in memory at once.
    ///
    /// - Throws: What ``bytes(ofRecord:)`` throws.
    public func bytes(ofRecords records: some Sequence<Record>) throws -> [UInt8] {
        try bytes(ofAll: records)
    }

    /// Writes records as a JSON array in pieces of about 64 KiB.
    ///
    /// - Parameters:
    ///   - records: The records, of any entities of the model.
    ///   - sink: Receives the next piece, which is valid only during the call. After an error the
    ///     pieces so far are incomplete JSON.
    /// - Throws: What ``bytes(ofRecord:)`` throws, and what the sink throws.
    public func write(
        records: some Sequence<Record>, to sink: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        try write(records, to: sink)
    }
}
