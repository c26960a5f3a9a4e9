public import SyncModel

extension RecordMapper {
    /// A compiled export of a model's objects as JSON, the counterpart of ``RecordMapper``.
    ///
    ///     let exporter = try RecordMapper.Exporter(model)
    ///     try exporter.bytes(ofRecord: user)    // {"id":1,"first_name":"Ada"}
    ///
    /// An object has the keys of its attributes, followed by those of its relationships, each in
    /// the order of the model. Key paths are written as nested objects; paths with a common
    /// beginning share them. If two properties have the same key, or the key of one is the
    /// beginning of the other's path, attributes win over relationships and earlier properties over
    /// later ones. The other property is omitted.
    ///
    /// Properties annotated as non-exportable are omitted. In the Sync dialect, so are
    /// transformable attributes; in the Groot dialect, so are properties without a key path. An
    /// attribute without a value is null. Binary data that is a JSON value is written unchanged,
    /// because mapping stores arrays and objects that way. Other binary data is written as a Base64
    /// string.
    ///
    /// **Related objects** of a store's objects are written in full, without the relationship that
    /// leads back to the previous object. An empty to-many relationship is an empty array or
    /// object. An empty to-one relationship is omitted or, in the Groot dialect, null. If
    /// relationships form a cycle, each object on the cycle is written in full once below the
    /// exported object. Any further occurrence has only its attributes. Every export therefore
    /// ends, and takes time proportional to the number of objects and links that it visits.
    public struct Exporter: Sendable {
        private let plans: [ExportPlan]
        private let options: RecordMapper.Exporter.Options
        private let hasCycles: Bool

        /// Creates an exporter.
        ///
        /// - Parameters:
        ///   - model: The model of the objects.
        ///   - dialect: The rules for keys; ``JSONDialect/sync`` by default.
        ///   - transformers: The transformers that attributes name. Values are converted by their
        ///     reverse closures. A one-way transformer is ignored.
        ///   - options: The options of the export.
        /// - Throws: ``MappingError/unknownTransformer(entity:attribute:name:)`` if an attribute
        ///   names a transformer that is not registered.
        public init(
            _ model: DataModel, dialect: JSONDialect = .sync,
            transformers: RecordMapper.Transformers = RecordMapper.Transformers(),
            options: RecordMapper.Exporter.Options = RecordMapper.Exporter.Options()
        ) throws(MappingError) {
            let keys = model.layouts.map { EntityKeys($0, in: model, dialect: dialect) }
            let cycles = ExportCycles(in: model) { relationship in
                options.relationships != .none
                    && keys[relationship.source].relationships[relationship.index].isExportable
            }
            let transformers = transformers.adding(declaredBy: model)
            var plans: [ExportPlan] = []
            for keys in keys {
                plans.append(try ExportPlan(keys, options: options, transformers: transformers, cycles: cycles))
            }
            self.plans = plans
            hasCycles = !cycles.isEmpty
            self.options = options
        }

        /// Returns an object as JSON.
        ///
        /// - Throws: ``MappingError`` if the object or a related one is not of an entity of the
        ///   model, if objects are nested deeper than the options allow, if a transformer fails, or
        ///   if JSON cannot express a value; or an error of the object's source.
        package func bytes(of object: some ExportableObject) throws -> [UInt8] {
            var writer = JSONWriter(style: options.style)
            try write(object, to: &writer)
            return writer.bytes
        }

        /// Writes an object as the next value of a document.
        ///
        /// - Throws: The errors of `bytes(of:)`. The document is then unusable.
        package func write(_ object: some ExportableObject, to writer: inout JSONWriter) throws {
            var walk = self.walk
            try walk.write(object, to: &writer)
        }

        /// Returns objects as a JSON array, held in memory as a whole.
        ///
        /// - Throws: The errors of `bytes(of:)`.
        package func bytes<Objects: Sequence>(ofAll objects: Objects) throws -> [UInt8]
        where Objects.Element: ExportableObject {
            var bytes: [UInt8] = []
            try write(objects) { bytes.append(contentsOf: $0) }
            return bytes
        }

        /// Writes objects as a JSON array in pieces of about 64 KiB. Memory use does not depend on
        /// the number of objects.
        ///
        /// - Parameters:
        ///   - objects: The objects, of any entities of the model, in order.
        ///   - sink: Receives the next piece, which is valid only during the call. After an error,
        ///     the pieces so far are incomplete JSON.
        /// - Throws: The errors of `bytes(of:)` and of the sink.
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

        private static let pieceByteCount = 64 << 10

        private var walk: ExportWalk {
            ExportWalk(plans: plans, options: options, hasCycles: hasCycles)
        }
    }
}

extension RecordMapper.Exporter {
    /// Returns a record as JSON, without its relationships, because a record does not hold related
    /// objects.
    ///
    /// - Throws: ``MappingError`` if the record is not of an entity of the model, if a transformer
    ///   fails, or if JSON cannot express a value.
    public func bytes(ofRecord record: Record) throws -> [UInt8] {
        try bytes(of: record)
    }

    /// Returns records as a JSON array, held in memory as a whole.
    ///
    /// - Throws: The errors of ``bytes(ofRecord:)``.
    public func bytes(ofRecords records: some Sequence<Record>) throws -> [UInt8] {
        try bytes(ofAll: records)
    }

    /// Writes records as a JSON array in pieces of about 64 KiB. Memory use does not depend on the
    /// number of records.
    ///
    /// - Parameters:
    ///   - records: The records, of any entities of the model, in order.
    ///   - sink: Receives the next piece, which is valid only during the call. After an error, the
    ///     pieces so far are incomplete JSON.
    /// - Throws: The errors of ``bytes(ofRecord:)`` and of the sink.
    public func write(
        records: some Sequence<Record>, to sink: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        try write(records, to: sink)
    }
}
