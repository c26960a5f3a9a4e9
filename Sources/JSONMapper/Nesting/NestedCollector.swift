import SyncModel

/// Maps the values of one relationship as they occur inside the objects of a group.
///
/// The values of an object are added while its row is open. If the row is discarded, `truncate`
/// removes its values at every level below.
struct NestedCollector {
    /// The latest value, while its bytes are in memory.
    private struct Latest {
        let row: Int
        let value: RelationshipValue
    }

    /// The size of the records of identifiers, in bytes, that are mapped before they are packed.
    private static let identifierByteCount = 16 << 10

    private let relationship: EntityLayout.Relationship
    private let options: RecordMapper.Reader.Options
    private let walk: MappingWalk
    private let takesIdentifiers: Bool
    /// Whether a single value in place of an array does not fit.
    private let demandsArrays: Bool
    private var objects: RecordCollector
    /// Maps identifiers, whose values then move to `elements`; nil until an identifier occurs.
    private var identifiers: RecordCollector?
    private var elements = NestedElements()
    /// Values that another value of the same object supersedes.
    private var outdone: [(row: Int, index: Int, bytes: [UInt8])] = []
    private var latest: Latest?

    /// Creates an empty collector.
    ///
    /// - Parameters:
    ///   - relationship: The relationship that leads to the objects.
    ///   - options: The options of the objects around them.
    ///   - walk: The walk of the objects around them.
    init(_ relationship: EntityLayout.Relationship, _ options: RecordMapper.Reader.Options, _ walk: MappingWalk) {
        self.relationship = relationship
        self.options = options
        self.walk = walk
        let mapping = walk.mapper.mapping(at: relationship.destination)
        takesIdentifiers = mapping.layout.identityColumns.count == 1
        demandsArrays = relationship.isToMany && walk.mapper.dialect.demandsArrays
        objects = RecordCollector(mapping, options.nested(by: relationship), walk)
    }

    // MARK: Values

    /// Maps a value of the relationship.
    ///
    /// - Parameters:
    ///   - cursor: A cursor at the value, which it leaves after the value.
    ///   - row: The row of the object that has the value.
    ///   - index: The element index of that object.
    ///   - holdsIdentifiers: Whether the key holds only identifiers.
    /// - Returns: The error that ends mapping; nil for none.
    /// - Throws: ``JSONFault`` if the value is malformed.
    mutating func add(
        _ cursor: inout JSONCursor, row: Int, index: Int, holdsIdentifiers: Bool
    ) throws(JSONFault) -> (any Error)? {
        let byte = try cursor.significant()
        let start = cursor.position
        if let latest, latest.row == row {
            let before = cursor
            let value = RelationshipValue(
                bytes: try cursor.rawValue().bytes, holdsIdentifiers: holdsIdentifiers)
            if latest.value.counts(ratherThan: value) {
                outdone.append((row, index, Array(value.bytes)))
                return nil
            }
            outdone.append((row, index, Array(latest.value.bytes)))
            removeElements(fromRow: row)
            cursor = before
        }
        let error = try read(&cursor, startingWith: byte, row: row, holdsIdentifiers: holdsIdentifiers)
        latest = Latest(
            row: row,
            value: RelationshipValue(
                bytes: UnsafeBufferPointer(start: start, count: cursor.position - start),
                holdsIdentifiers: holdsIdentifiers))
        guard case .unfit(let problem)? = error as? MappingError else { return error }
        return MappingError.unfit(problem.moved(to: index))
    }

    /// Adds the identities of the objects that an object is to be related to.
    mutating func add(_ identities: [AttributeValue], row: Int) {
        let first = elements.owners.count
        var source = NestedElements.Source(row: row, ordinals: first..<first)
        for identity in identities {
            let ordinal = elements.owners.count
            elements.owners.append(Int32(row))
            if options.keepsJSON { elements.json.append([]) }
            prepareIdentifiers()
            if identifiers?.insert(identity: identity, index: ordinal) != true {
                source.isIncomplete = true
                elements.misfits.append(NestedElements.Misfit(row: row, kind: .unfitIdentifier))
            }
        }
        source.ordinals = first..<elements.owners.count
        elements.sources.append(source)
        let value = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
        latest = Latest(row: row, value: RelationshipValue(bytes: value, holdsIdentifiers: true))
    }

    /// Adds null for an object that has no value, unless it has one.
    mutating func addNull(row: Int) {
        if let latest, latest.row == row { return }
        let end = elements.owners.count
        elements.sources.append(NestedElements.Source(row: row, ordinals: end..<end))
    }

    private mutating func read(
        _ cursor: inout JSONCursor, startingWith byte: UInt8, row: Int, holdsIdentifiers: Bool
    ) throws(JSONFault) -> (any Error)? {
        let first = elements.owners.count
        var source = NestedElements.Source(row: row, ordinals: first..<first)
        switch byte {
        case ASCII.openBracket where relationship.isToMany:
            source.holdsObjects = !holdsIdentifiers
            try cursor.beginArray()
            while try cursor.nextElement() {
                if let error = try addElement(&cursor, to: &source) { return error }
            }
        case ASCII.n: try cursor.readNull()
        default:
            let kind = try cursor.kind()
            let isElement =
                switch kind {
                case .object: true
                case .string, .number: takesIdentifiers
                case .null, .boolean, .array: false
                }
            guard isElement, !demandsArrays else {
                try cursor.skipValue()
                elements.misfits.append(NestedElements.Misfit(row: row, kind: .changedShape, found: kind))
                return nil
            }
            if let error = try addElement(&cursor, to: &source) { return error }
            if relationship.isToMany, objects.mapping.reportsConversions {
                elements.misfits.append(NestedElements.Misfit(row: row, kind: .converted, found: kind))
            }
            source.holdsObjects = false
        }
        source.ordinals = first..<elements.owners.count
        elements.sources.append(source)
        return nil
    }

    @inline(__always)
    private mutating func addElement(
        _ cursor: inout JSONCursor, to source: inout NestedElements.Source
    ) throws(JSONFault) -> (any Error)? {
        if try cursor.significant() == ASCII.openBrace { return try addObject(&cursor, to: &source) }
        return try addOther(&cursor, to: &source)
    }

    private mutating func addObject(
        _ cursor: inout JSONCursor, to source: inout NestedElements.Source
    ) throws(JSONFault) -> (any Error)? {
        packObjects()
        let start = cursor.position
        let ordinal = elements.owners.count
        elements.owners.append(Int32(source.row))
        switch try objects.insert(&cursor, index: ordinal) {
        case .failed(let error): return error
        case .added(.rejected):
            source.isIncomplete = true
            if options.keepsJSON { elements.json.append([]) }
        case .added:
            if options.keepsJSON {
                elements.json.append(Array(UnsafeBufferPointer(start: start, count: cursor.position - start)))
            }
        }
        return nil
    }

    @inline(never)
    private mutating func addOther(
        _ cursor: inout JSONCursor, to source: inout NestedElements.Source
    ) throws(JSONFault) -> (any Error)? {
        source.holdsObjects = false
        let kind = try cursor.kind()
        let isIdentifier =
            switch kind {
            case .string, .number: takesIdentifiers
            case .null, .boolean, .array, .object: false
            }
        guard isIdentifier else {
            try cursor.skipValue()
            // Null may stand for any object, too.
            source.isIncomplete = true
            elements.misfits.append(NestedElements.Misfit(row: source.row, kind: .unfitIdentifier, found: kind))
            return nil
        }
        prepareIdentifiers()
        let ordinal = elements.owners.count
        elements.owners.append(Int32(source.row))
        if options.keepsJSON { elements.json.append([]) }
        switch try identifiers?.insert(&cursor, index: ordinal) {
        case .failed(let error): return error
        case .added(.rejected):
            source.isIncomplete = true
            elements.misfits.append(NestedElements.Misfit(row: source.row, kind: .unfitIdentifier, found: kind))
        case .added, nil: break
        }
        return nil
    }

    private mutating func prepareIdentifiers() {
        if identifiers == nil {
            identifiers = RecordCollector(objects.mapping, RecordMapper.Reader.Options(acceptsIdentifiers: true), walk)
        }
        if elements.identifiers == nil {
            elements.identifiers = NestedRecords(objects.mapping, areIdentifiers: true)
        }
        if let group = identifiers?.takeRecords(ifAtLeast: Self.identifierByteCount) {
            elements.identifiers?.append(group)
        }
    }

    /// Packs the objects if they take twice the size of a batch, which only a single element can.
    /// Those of a hook stay together, because it changes some of them.
    private mutating func packObjects() {
        let byteCount = min(options.batchByteCount, 1 << 30) << 1
        guard !options.keepsJSON, let group = objects.takeRecords(ifAtLeast: byteCount) else { return }
        if elements.packedObjects == nil {
            elements.packedObjects = NestedRecords(objects.mapping, areIdentifiers: false)
        }
        elements.packedObjects?.append(group)
    }

    // MARK: Removing

    /// Removes the values of all rows from a row on.
    mutating func truncate(toRow row: Int) {
        removeElements(fromRow: row)
        while let last = outdone.last, last.row >= row { outdone.removeLast() }
    }

    private mutating func removeElements(fromRow row: Int) {
        if let latest, latest.row >= row { self.latest = nil }
        while let last = elements.sources.last, last.row >= row { elements.sources.removeLast() }
        while let last = elements.misfits.last, last.row >= row { elements.misfits.removeLast() }
        var count = elements.owners.count
        while count > 0, Int(elements.owners[count - 1]) >= row { count -= 1 }
        guard count < elements.owners.count else { return }
        elements.owners.removeLast(elements.owners.count - count)
        if options.keepsJSON { elements.json.removeLast(max(0, elements.json.count - count)) }
        objects.truncate(from: count)
        elements.packedObjects?.truncate(from: count)
        identifiers?.truncate(from: count)
        elements.identifiers?.truncate(from: count)
    }

    // MARK: Taking

    /// Whether a hash of an object depends on the objects before it.
    var hasHashes: Bool { objects.hasHashes }

    /// Adds the numbers of rows and bytes at this level and below.
    func addSize(to size: inout (rowCount: Int, byteCount: Int)) {
        size.byteCount +=
            elements.sources.count * MemoryLayout<NestedElements.Source>.stride
            + elements.owners.count * MemoryLayout<Int32>.stride
        if options.keepsJSON { size.byteCount += elements.json.reduce(0) { $0 + $1.count } }
        if !outdone.isEmpty { size.byteCount += outdone.reduce(0) { $0 + $1.bytes.count } }
        objects.addSize(to: &size)
        identifiers?.addSize(to: &size)
        for records in [elements.packedObjects, elements.identifiers] {
            size.rowCount += records?.count ?? 0
            size.byteCount += records?.byteCount ?? 0
        }
    }

    /// Returns the collected values and starts again; nil if nothing has been collected.
    mutating func take() throws -> NestedElements? {
        latest = nil
        guard !elements.isEmpty || !outdone.isEmpty else { return nil }
        var taken = NestedElements()
        swap(&taken, &elements)
        elements.sources.reserveCapacity(taken.sources.count)
        elements.owners.reserveCapacity(taken.owners.count)
        taken.take(try objects.takeBatch())
        if var rest = try identifiers?.takeBatch() {
            for group in rest.groups { taken.identifiers?.append(group) }
            rest.groups = []
            taken.identifiers?.findings = rest
        } else if taken.identifiers?.count == 0 {
            taken.identifiers = nil
        }
        if !outdone.isEmpty {
            taken.noteContradictions(try outdoneElements(), column: objects.mapping.layout.identityColumns.first)
            outdone = []
        }
        return taken
    }

    /// Maps the superseded values.
    private func outdoneElements() throws -> NestedElements {
        var other = NestedCollector(relationship, RecordMapper.Reader.Options(keepsRelationships: true), walk)
        for (row, index, bytes) in outdone {
            try bytes.withUnsafeBufferPointer { buffer in
                guard let start = buffer.baseAddress else { return }
                var cursor = JSONCursor(start: start, end: start + buffer.count, options: walk.jsonOptions)
                // Without this, the values of one object would supersede each other.
                other.latest = nil
                let error = try other.add(&cursor, row: row, index: index, holdsIdentifiers: false)
                if let error { throw error }
            }
        }
        return try other.take() ?? NestedElements()
    }
}

extension RecordMapper.Reader.Options {
    /// The options for objects that a relationship leads to.
    func nested(by relationship: EntityLayout.Relationship) -> RecordMapper.Reader.Options {
        var options = RecordMapper.Reader.Options(keepsRelationships: true)
        options.clearsAbsent = clearsAbsent
        options.keepsJSON = keepsJSON
        options.batchByteCount = batchByteCount
        options.keptRelationship = relationship.inverse
        return options
    }
}

extension NestedElements {
    /// Records the sources whose superseded values lead to other objects than the values that
    /// count.
    ///
    /// - Parameters:
    ///   - other: The superseded values, possibly several of one source.
    ///   - column: The column of the identity; nil if objects cannot be compared.
    fileprivate mutating func noteContradictions(_ other: NestedElements, column: Int?) {
        guard let column else { return }
        var counting: [Int: Source] = [:]
        let rows = Set(other.sources.map(\.row))
        for source in sources where rows.contains(source.row) { counting[source.row] = source }
        let others = other.identities(column) { _ in true }
        let own = identities(column) { rows.contains(Int(owners[$0])) }
        var found: [Misfit] = []
        // Null and an empty list name no object, as if the object were not loaded.
        for source in other.sources where !source.ordinals.isEmpty {
            let named = Set(source.ordinals.compactMap { others[$0] })
            let expected = Set((counting[source.row]?.ordinals).map { $0.compactMap { own[$0] } } ?? [])
            if named != expected { found.append(Misfit(row: source.row, kind: .contradiction)) }
        }
        misfits += found
    }

    /// The values of an identity attribute by ordinal.
    private func identities(_ column: Int, _ isWanted: (Int) -> Bool) -> [Int: AttributeValue] {
        var identities: [Int: AttributeValue] = [:]
        for (ordinal, value) in identifiers?.values(in: 0..<owners.count) ?? [] where isWanted(ordinal) {
            identities[ordinal] = value
        }
        for group in objectGroups(of: owners.count) {
            group.records.withReader { reader in
                for (row, ordinal) in group.elementIndices.enumerated() where isWanted(ordinal) {
                    identities[ordinal] = reader.value(row: row, column: column)
                }
            }
        }
        return identities
    }
}
