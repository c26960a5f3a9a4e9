public import SyncModel

extension RecordMapper {
    /// A reader that maps JSON to batches of records. Memory use does not depend on the size of the
    /// input.
    ///
    /// Null in place of an object is skipped, but counts as an element. A reader is not
    /// thread-safe: only one task may use it at a time.
    public final class Reader {
        /// Batch sizes and contents.
        public struct Options: Sendable {
            /// The maximum number of objects in a batch, apart from objects nested in them; 1,000
            /// by default. A number below 1 counts as 1.
            public var batchRowCount: Int {
                get { rowCount }
                set { rowCount = max(newValue, 1) }
            }
            /// The size of the values of all objects, in bytes, at which a batch ends; 1 MiB by
            /// default. A size below 1 counts as 1.
            public var batchByteCount: Int {
                get { byteCount }
                set { byteCount = max(newValue, 1) }
            }
            /// Whether batches include the values of relationships, with the objects nested in
            /// them; false by default.
            package var keepsRelationships = false
            /// Whether batches include the JSON of nested objects; false by default.
            package var keepsJSON = false
            /// Whether properties that are absent from an object are cleared; false by default.
            package var clearsAbsent = false
            /// The index of a relationship that is not cleared when it is absent; nil, the default,
            /// for none.
            ///
            /// It is the relationship that leads back to the object around the elements.
            package var keptRelationship: Int?
            /// The field that the reader of members adds to each element; nil, the default, if the
            /// elements are as the source has them. It does not show that an element is an object
            /// of the entity.
            package var addedKey: String?
            /// Whether an element may be only the identifier of an object, a string or a number.
            ///
            /// Nil, the default, uses ``JSONDialect/acceptsIdentifiers``.
            public var acceptsIdentifiers: Bool?

            private var rowCount: Int
            private var byteCount: Int

            /// Creates options. Sizes below 1 are raised to 1.
            public init(
                batchRowCount: Int = 1000, batchByteCount: Int = 1 << 20, acceptsIdentifiers: Bool? = nil
            ) {
                rowCount = max(batchRowCount, 1)
                byteCount = max(batchByteCount, 1)
                self.acceptsIdentifiers = acceptsIdentifiers
            }

            /// Creates options that determine whether batches include the values of relationships.
            package init(
                batchRowCount: Int = 1000, batchByteCount: Int = 1 << 20, keepsRelationships: Bool,
                acceptsIdentifiers: Bool? = nil
            ) {
                self.init(
                    batchRowCount: batchRowCount, batchByteCount: batchByteCount, acceptsIdentifiers: acceptsIdentifiers
                )
                self.keepsRelationships = keepsRelationships
            }
        }

        private let reader: JSONReader
        private var collector: RecordCollector

        /// Creates a reader for the elements of a ``JSONReader``.
        ///
        /// Nothing else may read elements from that reader. Input may still be appended to it.
        ///
        /// - Throws: ``MappingError/unknownEntity(_:)`` if the model lacks the entity.
        public convenience init(
            _ mapper: RecordMapper, entity: String, reader: JSONReader,
            options: Options = Options()
        ) throws(MappingError) {
            try self.init(mapper, entity: entity, reader: reader, options: options, usesEntityMapper: true)
        }

        init(
            _ mapper: RecordMapper, entity: String, reader: JSONReader, options: Options,
            usesEntityMapper: Bool
        ) throws(MappingError) {
            self.reader = reader
            var options = options
            options.addedKey = reader.addedKey
            collector = try RecordCollector(
                mapper, entity: entity, options: options, jsonOptions: reader.options,
                usesEntityMapper: usesEntityMapper)
        }

        /// Reads the next batch.
        ///
        /// - Returns: The batch, or nil at the end. If input is appended to the JSON reader, the
        ///   batch may be incomplete, and nil means that more input is needed.
        /// - Throws: ``JSONError`` if the input is malformed; ``MappingError/unfit(_:)`` if the
        ///   contract makes a misfit an error; or an error of the source. After
        ///   ``MappingError/unfit(_:)``, the next call continues after the element and also returns
        ///   the objects mapped before it.
        package func next() throws -> MappedBatch? {
            while !collector.isFull() {
                let index = reader.elementCount
                guard let outcome = try reader.next({ cursor in try collector.read(&cursor, index: index) }) else {
                    break
                }
                _ = try collector.finish(outcome)
            }
            return try collector.takeBatch()
        }

        /// Reads the next batch as records, with defaults for absent values.
        ///
        /// - Returns: The records and the rejected objects, at least one of either; nil at the end.
        ///   A reader whose input is appended also returns nil until more input is appended.
        /// - Throws: ``JSONError`` if the input is malformed; ``MappingError/unfit(_:)`` if the
        ///   contract makes a misfit an error; or an error of the source.
        public func nextRecords() throws -> (records: [Record], rejected: [MappingError.Problem])? {
            guard let batch = try next() else { return nil }
            return (batch.groups.flatMap { $0.makeRecords() }, batch.rejected)
        }

        /// Reads all remaining records, with defaults for absent values, and the rejected objects.
        ///
        /// - Throws: The errors of ``nextRecords()``.
        public func readAll() throws -> (records: [Record], rejected: [MappingError.Problem]) {
            var records: [Record] = []
            var rejected: [MappingError.Problem] = []
            while let batch = try next() {
                for group in batch.groups { records += group.makeRecords() }
                rejected += batch.rejected
            }
            return (records, rejected)
        }
    }
}
