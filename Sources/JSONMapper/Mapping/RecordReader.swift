public import SyncModel

/// Reads JSON as batches of records, in memory that does not grow with the input.
///
/// Null in place of an object counts for nothing, except in the count of elements. A reader is used by one task at a time.
public final class RecordReader {
    /// How batches are cut, and what else they hold.
    public struct Options: Sendable {
        /// How many objects a batch is made of, at most; 1,000 by default, at least 1.
        public var batchRowCount: Int
        /// How many bytes of values and relationships a batch may hold before it is handed out; 1 MiB by default.
        public var batchByteCount: Int
        /// Whether the JSON of relationships is kept with each batch; false by default.
        public var keepsRelationships: Bool
        /// Whether an element may be the identifier of its object alone, as a string or number; nil, the default, leaves it to the
        /// dialect: Groot's does, Sync's does not.
        public var acceptsIdentifiers: Bool?

        /// Makes options; what is left out keeps its default.
        public init(
            batchRowCount: Int = 1000, batchByteCount: Int = 1 << 20, keepsRelationships: Bool = false,
            acceptsIdentifiers: Bool? = nil
        ) {
            self.batchRowCount = max(batchRowCount, 1)
            self.batchByteCount = batchByteCount
            self.keepsRelationships = keepsRelationships
            self.acceptsIdentifiers = acceptsIdentifiers
        }
    }

    /// How the elements are mapped, unless an entity mapper says otherwise.
    public let mapping: EntityMapping

    private enum Outcome { case mapped(Int), skipped, stopped(ElementMapper.Stop) }

    private let mapper: RecordMapper
    private let reader: JSONReader
    private let options: Options
    private let acceptsIdentifiers: Bool
    private let usesEntityMapper: Bool
    /// One for each entity met so far; the first is that of `mapping`.
    private var elements: [ElementMapper]
    private var rejected: [MappingProblem] = []

    /// Makes a reader of elements that a `JSONReader` finds; used by nobody else from then on.
    ///
    /// - Throws: `MappingError.unknownEntity`.
    public convenience init(
        _ mapper: RecordMapper, entity: String, reader: JSONReader, options: Options = Options()
    ) throws(MappingError) {
        try self.init(mapper, entity: entity, reader: reader, options: options, usesEntityMapper: true)
    }

    init(
        _ mapper: RecordMapper, entity: String, reader: JSONReader, options: Options, usesEntityMapper: Bool
    ) throws(MappingError) {
        self.mapper = mapper
        self.reader = reader
        self.options = options
        self.usesEntityMapper = usesEntityMapper
        acceptsIdentifiers = options.acceptsIdentifiers ?? (mapper.dialect == .groot)
        mapping = try mapper.mapping(of: entity)
        elements = [ElementMapper(mapping, keepsRelationships: options.keepsRelationships)]
    }

    /// The next records.
    ///
    /// - Returns: Nil at the end, or, where the input is appended piece by piece, until there is more; what has been read of an
    ///   unfinished batch is then handed out first.
    /// - Throws: `JSONError` for malformed input, `MappingError.unfit` where the contract fails, and what the source throws. After
    ///   `MappingError.unfit` reading can go on behind the element; what was mapped before it comes with the next batch.
    public func next() throws -> MappedBatch? {
        while !isFull {
            guard try step() else { break }
        }
        var groups: [MappedBatch.Group] = []
        var toleratedCount = 0
        for index in elements.indices {
            toleratedCount += elements[index].toleratedCount
            if !elements[index].group.records.isEmpty { groups.append(elements[index].takeGroup()) }
        }
        guard !groups.isEmpty || !rejected.isEmpty else { return nil }
        defer { rejected = [] }
        return MappedBatch(groups: groups, rejected: rejected, toleratedCount: toleratedCount)
    }

    /// All that is left, as records with defaults in place of what is absent, and what was left out.
    ///
    /// - Throws: As ``next()``.
    public func readAll() throws -> (records: [Record], rejected: [MappingProblem]) {
        var records: [Record] = []
        var rejected: [MappingProblem] = []
        while let batch = try next() {
            for group in batch.groups { records += group.makeRecords() }
            rejected += batch.rejected
        }
        return (records, rejected)
    }

    private var isFull: Bool {
        var rowCount = rejected.count
        var byteCount = 0
        for index in elements.indices {
            rowCount += elements[index].group.records.count
            byteCount += elements[index].group.records.byteCount + elements[index].group.relationships.bytes.count
        }
        return rowCount >= options.batchRowCount || byteCount >= options.batchByteCount
    }

    // MARK: Elements

    /// Takes one element.
    ///
    /// - Returns: false if there is none.
    private func step() throws -> Bool {
        let index = reader.elementCount
        let isPlain = mapping.objectTransformer == nil && (mapping.entityMapper == nil || !usesEntityMapper)
        let outcome = try reader.next { cursor in
            isPlain
                ? try readPlain(&cursor, index: index, element: 0)
                : try readTransformed(&cursor, index: index)
        }
        switch outcome {
        case nil: return false
        case .mapped(let element): elements[element].commit()
        case .skipped: elements[0].discard()
        case .stopped(let stop):
            if stop.isFatal { throw MappingError.unfit(stop.problem) }
            rejected.append(stop.problem)
        }
        return true
    }

    /// Maps the element that comes next with one of the mappers.
    @inline(__always)
    private func readPlain(
        _ cursor: inout JSONCursor, index: Int, element: Int
    ) throws(JSONFault) -> Outcome {
        elements[element].begin(index: index)
        let isMapped: Bool
        switch try cursor.kind() {
        case .object: isMapped = try elements[element].map(&cursor)
        case .null:
            try cursor.readNull()
            return .skipped
        case .string, .number:
            isMapped =
                acceptsIdentifiers ? try elements[element].mapIdentifier(&cursor) : elements[element].refuseElement()
        case .array, .boolean: isMapped = elements[element].refuseElement()
        }
        return isMapped ? .mapped(element) : stopped(element)
    }

    private func stopped(_ element: Int) -> Outcome {
        guard let stop = elements[element].stop else { return .skipped }
        elements[element].discard()
        return .stopped(stop)
    }

    /// Lets the object transformer and the entity mapper see the element first.
    private func readTransformed(_ cursor: inout JSONCursor, index: Int) throws -> Outcome {
        guard try cursor.kind() == .object else { return try readPlain(&cursor, index: index, element: 0) }
        let original = cursor
        guard case .object(var object) = try JSONValue(&cursor, exactDecimals: true) else { return .skipped }
        var element = 0
        var isUndetermined = false
        var name = mapping.keys.objectTransformerName ?? ""
        do {
            if let transformer = mapping.objectTransformer { object = try transformer(object) }
            name = mapping.keys.entityMapperName ?? ""
            if usesEntityMapper, let entityMapper = mapping.entityMapper {
                let answer = try entityMapper(object)
                element = try answer.map(elementMapper) ?? 0
                isUndetermined = answer == nil
            }
        } catch let error as MappingError {
            throw error
        } catch {
            elements[0].begin(index: index)
            _ = elements[0].refuse(by: name, "\(error)")
            return stopped(0)
        }
        guard mapping.objectTransformer != nil || isUndetermined else {
            var again = original
            return try readPlain(&again, index: index, element: element)
        }
        var writer = JSONWriter()
        try writer.value(.object(object))
        let bytes = writer.bytes
        return try bytes.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return .skipped }
            var transformed = JSONCursor(start: start, end: start + buffer.count, options: reader.options)
            let outcome = try readPlain(&transformed, index: index, element: element)
            if isUndetermined, case .mapped = outcome { elements[element].keepUndetermined(bytes) }
            return outcome
        }
    }

    /// The place of the mapper for the entity that an entity mapper named.
    private func elementMapper(_ answer: String) throws(MappingError) -> Int {
        if let known = elements.firstIndex(where: { $0.mapping.layout.name == answer }) { return known }
        let found = try mapper.mapping(of: answer, for: mapping)
        elements.append(ElementMapper(found, keepsRelationships: options.keepsRelationships))
        return elements.count - 1
    }
}
