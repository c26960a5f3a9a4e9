public import SyncModel

/// Reads JSON as batches of records, in memory that does not grow with the input.
///
/// Null in place of an object is skipped but counts as an element. One task at a time uses a reader.
public final class RecordReader {
    /// The size and content of batches.
    public struct Options: Sendable {
        /// The maximum number of objects in a batch; 1,000 by default, at least 1.
        public var batchRowCount: Int
        /// The number of bytes after which a batch is complete; 1 MiB by default.
        public var batchByteCount: Int
        /// Whether the JSON of relationships is kept with each batch; false by default.
        package var keepsRelationships = false
        /// Whether properties that an object does not have are cleared; false by default.
        package var clearsAbsent = false
        /// The index of a relationship that is not cleared for being absent: the one that leads
        /// back to the object that contains the elements.
        package var keptRelationship: Int?
        /// Whether an element may be the identifier of its object, a string or a number.
        ///
        /// Nil, the default, means that the dialect decides.
        public var acceptsIdentifiers: Bool?

        /// Creates options; what is left out keeps its default.
        public init(
            batchRowCount: Int = 1000, batchByteCount: Int = 1 << 20, acceptsIdentifiers: Bool? = nil
        ) {
            self.batchRowCount = max(batchRowCount, 1)
            self.batchByteCount = batchByteCount
            self.acceptsIdentifiers = acceptsIdentifiers
        }

        /// Creates options that may keep the JSON of relationships.
        package init(
            batchRowCount: Int = 1000, batchByteCount: Int = 1 << 20, keepsRelationships: Bool,
            acceptsIdentifiers: Bool? = nil
        ) {
            self.init(
                batchRowCount: batchRowCount, batchByteCount: batchByteCount, acceptsIdentifiers: acceptsIdentifiers)
            self.keepsRelationships = keepsRelationships
        }
    }

    private let reader: JSONReader
    private var collector: RecordCollector

    /// Creates a reader of the elements that a `JSONReader` finds.
    ///
    /// Nothing else may read from that reader. Input may still be appended to it.
    ///
    /// - Throws: `MappingError.unknownEntity`.
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
        collector = try RecordCollector(
            mapper, entity: entity, options: options, jsonOptions: reader.options, usesEntityMapper: usesEntityMapper)
    }

    /// The next records.
    ///
    /// - Returns: Nil at the end, or, where the input is appended piece by piece, until there is
    ///   more; what has been read of an unfinished batch is then handed out first.
    /// - Throws: `JSONError` for malformed input, `MappingError.unfit` where the contract fails,
    ///   and what the source throws. After `MappingError.unfit` reading can go on behind the
    ///   element; what was mapped before it comes with the next batch.
    package func next() throws -> MappedBatch? {
        while !collector.isFull {
            let index = reader.elementCount
            guard let outcome = try reader.next({ cursor in try collector.read(&cursor, index: index) }) else { break }
            _ = try collector.finish(outcome)
        }
        return collector.takeBatch()
    }

    /// Reads the next batch of records, with defaults for absent values, and what was left out.
    ///
    /// - Returns: At least one record or problem, or nil at the end. A reader whose input is
    ///   appended piece by piece also returns nil until there is more.
    /// - Throws: `JSONError` for malformed input, `MappingError.unfit` where the contract fails,
    ///   and what the source throws.
    public func nextRecords() throws -> (records: [Record], rejected: [MappingProblem])? {
        guard let batch = try next() else { return nil }
        return (batch.groups.flatMap { $0.makeRecords() }, batch.rejected)
    }

    /// Reads the remaining records, with defaults for absent values, and the objects that were left out.
    ///
    /// - Throws: The errors of ``nextRecords()``.
    public func readAll() throws -> (records: [Record], rejected: [MappingProblem]) {
        var records: [Record] = []
        var rejected: [MappingProblem] = []
        while let batch = try next() {
            for group in batch.groups { records += group.makeRecords() }
            rejected += batch.rejected
        }
        return (records, rejected)
    }
}
