import SyncBase
import SyncModel

/// Maps JSON objects one by one and collects the records in batches.
///
/// ``RecordMapper/Reader`` is built on it, and ``NestedCollector`` maps nested objects with it.
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

    /// The outcome for a nested element.
    enum Insertion {
        case added(Added)
        /// An error ends mapping.
        case failed(any Error)
    }

    /// The factor by which a batch's rows of all entities may exceed its maximum number of
    /// elements.
    private static let nestedRowFactor = 16

    /// The mapping of elements, unless an entity mapper returns a sub-entity.
    package let mapping: EntityMapping

    private let options: RecordMapper.Reader.Options
    private let walk: MappingWalk
    private let acceptsIdentifiers: Bool
    private let usesEntityMapper: Bool
    /// Whether the objects are the walk's own elements, not objects nested in them.
    private let isRoot: Bool
    /// Whether no object transformer or entity mapper inspects elements.
    private let isPlain: Bool
    /// One mapper for each entity found so far. The first one is for the entity of `mapping`.
    private var elements: [ElementMapper]
    private var rejected: [MappingError.Problem] = []
    /// The amount of JSON, in bytes, to read between two measurements of the batch.
    private let measuredByteCount: Int
    /// The amount of JSON read since the last measurement, in bytes.
    private var unmeasuredByteCount = 0
    /// The size of the current element's JSON so far, in bytes.
    private var elementByteCount = 0

    /// Creates an empty collector.
    ///
    /// - Parameters:
    ///   - mapper: The mapper to use.
    ///   - entity: The entity of the objects.
    ///   - options: Batch sizes and contents.
    /// - Throws: ``MappingError/unknownEntity(_:)`` if the model lacks the entity.
    package init(
        _ mapper: RecordMapper, entity: String, options: RecordMapper.Reader.Options = RecordMapper.Reader.Options()
    )
        throws(MappingError)
    {
        try self.init(
            mapper, entity: entity, options: options, jsonOptions: JSONReader.Options(), usesEntityMapper: true)
    }

    init(
        _ mapper: RecordMapper, entity: String, options: RecordMapper.Reader.Options, jsonOptions: JSONReader.Options,
        usesEntityMapper: Bool
    ) throws(MappingError) {
        let walk = MappingWalk(mapper, jsonOptions: jsonOptions)
        self.init(
            try mapper.mapping(of: entity), options, walk, isRoot: true, usesEntityMapper: usesEntityMapper)
    }

    /// Creates an empty collector for objects that are nested in the elements of a walk.
    init(_ mapping: EntityMapping, _ options: RecordMapper.Reader.Options, _ walk: MappingWalk) {
        self.init(mapping, options, walk, isRoot: false, usesEntityMapper: true)
    }

    private init(
        _ mapping: EntityMapping, _ options: RecordMapper.Reader.Options, _ walk: MappingWalk, isRoot: Bool,
        usesEntityMapper: Bool
    ) {
        self.mapping = mapping
        self.options = options
        self.walk = walk
        self.isRoot = isRoot
        measuredByteCount = min(4096, options.batchByteCount >> 8)
        self.usesEntityMapper = usesEntityMapper
        acceptsIdentifiers = options.acceptsIdentifiers ?? walk.mapper.dialect.acceptsIdentifiers
        isPlain = mapping.objectTransformer == nil && (mapping.entityMapper == nil || !usesEntityMapper)
        elements = [ElementMapper(mapping, options, walk, isRoot: isRoot)]
    }

    /// Whether the current batch has reached its size limit. Take the batch before adding more
    /// elements.
    package mutating func isFull() -> Bool {
        var ownRowCount = rejected.count
        for index in elements.indices { ownRowCount += elements[index].group.records.count }
        if ownRowCount >= options.batchRowCount { return true }
        guard unmeasuredByteCount >= measuredByteCount else { return false }
        unmeasuredByteCount = 0
        var size = (rowCount: 0, byteCount: 0)
        addSize(to: &size)
        return size.byteCount >= options.batchByteCount
            || size.rowCount / Self.nestedRowFactor >= options.batchRowCount
    }

    /// Whether a hash of an object depends on the objects before it.
    var hasHashes: Bool { elements.contains { $0.hasHashes } }

    /// Adds the numbers of rows and bytes of all entities.
    func addSize(to size: inout (rowCount: Int, byteCount: Int)) {
        size.rowCount += rejected.count
        for index in elements.indices { elements[index].addSize(to: &size) }
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
            // The problem was found inside the value.
            cursor = start
            try cursor.skipValue()
        }
        return try finish(outcome)
    }

    /// Maps one object given as UTF-8.
    ///
    /// - Throws: ``JSONError`` if the bytes are not exactly one document, and as ``add(_:index:)``.
    package mutating func add(_ bytes: [UInt8], index: Int) throws {
        let reader = JSONReader(bytes: bytes, layout: .document)
        // The reader may read the object twice: before and after it finds the end of the input.
        guard let outcome = try reader.next({ cursor in try read(&cursor, index: index) }) else { return }
        _ = try finish(outcome)
    }

    /// Maps an object that is no JSON.
    ///
    /// - Parameters:
    ///   - index: As in ``add(_:index:)``.
    ///   - fill: Sets the properties of the object.
    /// - Throws: The errors of `fill`; ``MappingError/unfit(_:)`` if the contract makes a misfit an
    ///   error.
    package mutating func addRow(index: Int, _ fill: (inout RecordMapper.Row) throws -> Void) throws -> Added {
        var row = RecordMapper.Row(of: mapping.layout)
        try fill(&row)
        elements[0].begin(index: index)
        elementByteCount = row.byteCount
        return try finish(elements[0].map(row) ? .mapped(0) : stopped(0))
    }

    /// Adds the identity of an object that is nested in an object without JSON.
    ///
    /// - Returns: Whether the identity fits.
    mutating func insert(identity: AttributeValue, index: Int) -> Bool {
        elements[0].begin(index: index)
        guard elements[0].map(identity: identity) else {
            elements[0].discard()
            return false
        }
        elements[0].commit()
        return true
    }

    /// Maps the next value, which is nested in the element of the walk.
    ///
    /// - Parameter index: A number higher than all previous ones.
    mutating func insert(_ cursor: inout JSONCursor, index: Int) throws(JSONFault) -> Insertion {
        let start = cursor
        let outcome: Outcome
        if isPlain {
            outcome = try readPlain(&cursor, index: index, element: 0)
        } else {
            do {
                outcome = try readTransformed(&cursor, index: index)
            } catch let fault as JSONFault {
                throw fault
            } catch {
                return .failed(error)
            }
        }
        switch outcome {
        case .mapped(let element):
            elements[element].commit()
            return .added(.record)
        case .skipped: return .added(.nothing)
        case .stopped(let stop):
            cursor = start
            try cursor.skipValue()
            switch stop {
            case .failed(let error): return .failed(error)
            case .rejected(let problem):
                rejected.append(problem)
                return .added(.rejected)
            }
        }
    }

    /// Removes elements from an index on.
    mutating func truncate(from index: Int) {
        while let last = rejected.last, last.index >= index { rejected.removeLast() }
        for element in elements.indices { elements[element].truncate(from: index) }
    }

    /// Returns what has been collected and starts a new batch; nil if nothing has been collected.
    ///
    /// - Throws: The errors of ``add(_:index:)`` for a relationship's value that another value
    ///   supersedes.
    package mutating func takeBatch() throws -> MappedBatch? {
        var batch = MappedBatch(groups: [], rejected: rejected, toleratedCount: 0)
        for index in elements.indices {
            elements[index].discard()
            let found = elements[index].drift.take()
            batch.drift.add(found.drift)
            batch.toleratedCount += found.toleratedCount
            batch.excludedRelationshipCount += found.excludedCount
            guard !elements[index].group.records.isEmpty else { continue }
            var group = try elements[index].takeGroup()
            batch.takeNestedDrift(of: &group)
            batch.groups.append(group)
        }
        let isDifferent = !isRoot && (!batch.drift.isEmpty || batch.toleratedCount > 0)
        guard !batch.groups.isEmpty || !rejected.isEmpty || isDifferent else { return nil }
        rejected = []
        return batch
    }

    /// Takes the records before the batch is taken.
    ///
    /// - Returns: Nil if they take fewer bytes than `byteCount`, or are not all that was mapped.
    mutating func takeRecords(ifAtLeast byteCount: Int) -> MappedBatch.Group? {
        guard elements[0].group.records.byteCount >= byteCount, elements.count == 1, elements[0].hasOnlyRecords
        else { return nil }
        return elements[0].takeRecords()
    }

    // MARK: Elements

    /// Maps the next element into an open row, which ``finish(_:)`` then closes.
    ///
    /// If the end of the element has not arrived, the element is read again later.
    @inline(__always)
    mutating func read(_ cursor: inout JSONCursor, index: Int) throws -> Outcome {
        let outcome =
            isPlain ? try readPlain(&cursor, index: index, element: 0) : try readTransformed(&cursor, index: index)
        elementByteCount = cursor.byteOffset
        return outcome
    }

    @inline(__always)
    mutating func finish(_ outcome: Outcome) throws -> Added {
        unmeasuredByteCount += elementByteCount
        switch outcome {
        case .mapped(let element):
            elements[element].commit()
            return .record
        case .skipped: return .nothing
        case .stopped(.failed(let error)): throw error
        case .stopped(.rejected(let problem)):
            rejected.append(problem)
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
            _ = elements[0].refuse(by: name, ErrorText.describing(error))
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
            var transformed = JSONCursor(start: start, end: start + buffer.count, options: walk.jsonOptions)
            let outcome = try readPlain(&transformed, index: index, element: element)
            if isUndetermined, case .mapped = outcome { elements[element].keepUndetermined(bytes) }
            return outcome
        }
    }

    /// The index of the mapper for the entity that an entity mapper returned.
    private mutating func elementMapper(_ answer: String) throws(MappingError) -> Int {
        if let known = elements.firstIndex(where: { $0.mapping.layout.name == answer }) { return known }
        let found = try walk.mapper.mapping(of: answer, for: mapping)
        elements.append(ElementMapper(found, options, walk, isRoot: isRoot))
        return elements.count - 1
    }
}
