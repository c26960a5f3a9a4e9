import SyncModel

/// Maps JSON objects one by one and collects the records in batches.
///
/// ``RecordReader`` is built on it, and nested objects are mapped with it:
///
///     var notes = try RecordCollector(mapper, entity: "Note")
///     for entry in group.relationships.entries where entry.relationship == notesIndex {
///         try group.relationships.read(entry) { cursor in
///             try notes.addAll(&cursor, index: entry.row)
///         }
///     }
///     let batch = notes.takeBatch()       // elementIndices are the rows of the users
///
/// Null in place of an object is skipped.
package struct RecordCollector {
    /// The outcome for an element.
    package enum Added: Hashable, Sendable {
        /// The element was mapped. Its record is the last row in the group of its entity.
        case record
        /// The element was null and was skipped.
        case nothing
        /// The contract rejected the element.
        case rejected
    }

    enum Outcome { case mapped(Int), skipped, stopped(ElementMapper.Stop) }

    /// The mapping of elements, unless an entity mapper returns a sub-entity.
    package let mapping: EntityMapping

    private let mapper: RecordMapper
    private let options: RecordReader.Options
    private let jsonOptions: JSONOptions
    private let acceptsIdentifiers: Bool
    private let usesEntityMapper: Bool
    /// Whether no object transformer or entity mapper inspects elements.
    private let isPlain: Bool
    /// One mapper for each entity found so far. The first one is for the entity of `mapping`.
    private var elements: [ElementMapper]
    private var rejected: [MappingProblem] = []

    /// Creates an empty collector.
    ///
    /// - Parameters:
    ///   - mapper: The mapper to use.
    ///   - entity: The entity of the objects.
    ///   - options: Batch sizes and contents.
    /// - Throws: ``MappingError/unknownEntity(_:)`` if the model lacks the entity.
    package init(_ mapper: RecordMapper, entity: String, options: RecordReader.Options = RecordReader.Options())
        throws(MappingError)
    {
        try self.init(mapper, entity: entity, options: options, jsonOptions: JSONOptions(), usesEntityMapper: true)
    }

    init(
        _ mapper: RecordMapper, entity: String, options: RecordReader.Options, jsonOptions: JSONOptions,
        usesEntityMapper: Bool
    ) throws(MappingError) {
        self.mapper = mapper
        self.options = options
        self.jsonOptions = jsonOptions
        self.usesEntityMapper = usesEntityMapper
        acceptsIdentifiers = options.acceptsIdentifiers ?? mapper.dialect.acceptsIdentifiers
        mapping = try mapper.mapping(of: entity)
        isPlain = mapping.objectTransformer == nil && (mapping.entityMapper == nil || !usesEntityMapper)
        elements = [ElementMapper(mapping, options)]
    }

    /// Whether the current batch has reached its size limit. Take the batch before adding more
    /// elements.
    package var isFull: Bool {
        var rowCount = rejected.count
        var byteCount = 0
        for index in elements.indices {
            rowCount += elements[index].group.records.count
            byteCount += elements[index].group.records.byteCount + elements[index].group.relationships.bytes.count
        }
        return rowCount >= options.batchRowCount || byteCount >= options.batchByteCount
    }

    /// Maps the next value.
    ///
    /// - Parameters:
    ///   - cursor: A cursor at an object, or at an identifier if those are accepted. The bytes must
    ///     be complete.
    ///   - index: A number that identifies the row in `elementIndices` and in problems.
    /// - Throws: ``JSONFault`` if the input is malformed; ``MappingError/unfit(_:)`` if the
    ///   contract makes a misfit an error.
    package mutating func add(_ cursor: inout JSONCursor, index: Int) throws -> Added {
        let start = cursor
        let outcome = try read(&cursor, index: index)
        if case .stopped = outcome {
            // The problem was found in the middle of the value.
            cursor = start
            try cursor.skipValue()
        }
        return try finish(outcome)
    }

    /// Maps the next value or, if it is an array, each of its elements, all with the same index.
    ///
    /// - Throws: ``JSONFault`` if the input is malformed; ``MappingError/unfit(_:)`` if the
    ///   contract makes a misfit an error.
    package mutating func addAll(_ cursor: inout JSONCursor, index: Int) throws {
        guard try cursor.kind() == .array else {
            _ = try add(&cursor, index: index)
            return
        }
        try cursor.beginArray()
        while try cursor.nextElement() { _ = try add(&cursor, index: index) }
    }

    /// Returns what has been collected and starts a new batch; nil if nothing has been collected.
    package mutating func takeBatch() -> MappedBatch? {
        var groups: [MappedBatch.Group] = []
        var toleratedCount = 0
        var drift = DriftReport()
        for index in elements.indices {
            elements[index].discard()
            toleratedCount += elements[index].toleratedCount
            drift.add(elements[index].takeDrift())
            if !elements[index].group.records.isEmpty { groups.append(elements[index].takeGroup()) }
        }
        guard !groups.isEmpty || !rejected.isEmpty else { return nil }
        defer { rejected = [] }
        return MappedBatch(groups: groups, rejected: rejected, toleratedCount: toleratedCount, drift: drift)
    }

    // MARK: Elements

    /// Maps the next element into an open row, which ``finish(_:)`` then closes.
    ///
    /// If the end of the element has not arrived, the element is read again later.
    @inline(__always)
    mutating func read(_ cursor: inout JSONCursor, index: Int) throws -> Outcome {
        isPlain ? try readPlain(&cursor, index: index, element: 0) : try readTransformed(&cursor, index: index)
    }

    @inline(__always)
    mutating func finish(_ outcome: Outcome) throws(MappingError) -> Added {
        switch outcome {
        case .mapped(let element):
            elements[element].commit()
            return .record
        case .skipped: return .nothing
        case .stopped(let stop):
            if stop.isFatal { throw .unfit(stop.problem) }
            rejected.append(stop.problem)
            return .rejected
        }
    }

    /// Maps the next element with one of the mappers.
    @inline(__always)
    private mutating func readPlain(
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

    private mutating func stopped(_ element: Int) -> Outcome {
        guard let stop = elements[element].stop else { return .skipped }
        elements[element].discard()
        return .stopped(stop)
    }

    /// Maps the next element after the object transformer and the entity mapper have processed it.
    private mutating func readTransformed(_ cursor: inout JSONCursor, index: Int) throws -> Outcome {
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
                element = try answer.map { name throws(MappingError) in try elementMapper(name) } ?? 0
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
            var transformed = JSONCursor(start: start, end: start + buffer.count, options: jsonOptions)
            let outcome = try readPlain(&transformed, index: index, element: element)
            if isUndetermined, case .mapped = outcome { elements[element].keepUndetermined(bytes) }
            return outcome
        }
    }

    /// The index of the mapper for the entity that an entity mapper returned.
    private mutating func elementMapper(_ answer: String) throws(MappingError) -> Int {
        if let known = elements.firstIndex(where: { $0.mapping.layout.name == answer }) { return known }
        let found = try mapper.mapping(of: answer, for: mapping)
        elements.append(ElementMapper(found, options))
        return elements.count - 1
    }
}
