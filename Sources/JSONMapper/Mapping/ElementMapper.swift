import SyncModel

/// Maps elements into a group of records, one at a time.
///
/// Call `begin`, then `map` with a cursor at the element, then `commit` or `discard`. `begin`
/// reverts the results of an incomplete element. Nested objects are mapped where they occur, into
/// their own records.
struct ElementMapper {
    /// The reason why an element is not mapped.
    enum Stop {
        /// The element is rejected.
        case rejected(MappingError.Problem)
        /// An error ends mapping.
        case failed(any Error)
    }

    let mapping: EntityMapping
    /// The entries of the mapping's trie, for access without reference counting. `mapping` keeps
    /// them alive.
    let entries: UnsafePointer<KeyTrie.Entry>
    let contract: ValueContract
    let keepsRelationships: Bool
    /// Whether properties that are absent from an object are cleared.
    let clearsAbsent: Bool
    /// The index of a relationship that is not cleared when it is absent; nil for none.
    let keptRelationship: Int?
    var group: MappedBatch.Group
    /// Set when `map` returns false.
    var stop: Stop?
    /// The size of a batch up to which the next one gets as much memory at once.
    private static let reservedByteCount = 8 << 20

    /// For each entry, the entry that followed it last time; then, for each level, its first entry.
    /// -1 if unknown.
    ///
    /// Objects of one source mostly have the same keys in the same order, so the next key is
    /// usually right.
    private var successors: [Int32]
    var drift: ElementDrift
    /// The members of the open element that the entity's properties cannot express.
    var otherKeys = OtherKeys()
    /// The columns of the open row whose values did not fit.
    var unfitColumns: [Int] = []
    /// The values of the open element whose keys match a property only loosely.
    var looseValues: [LooseValue] = []
    private var contentHash: Int64 = 0
    private var contentHashes = UniqueHashes()
    var elementIndex = 0
    private var isOpen = false
    private var isStub = false
    /// Whether the open element has no key of its entity, apart from an added one. False where the
    /// key of the identity shows that it is an object.
    private var isForeign = false
    private let options: RecordMapper.Reader.Options
    private let walk: MappingWalk
    /// Whether the elements are the walk's own, not objects nested in them.
    let isRoot: Bool
    /// Whether only its keys show that an element is an object of the entity.
    private let needsKnownKey: Bool
    /// The field that was added to each element; nil for none.
    private let addedKey: [UInt8]?
    /// The values of relationships, by relationship; nil for relationships without a value so far.
    private var nests: [NestedCollector?]

    init(_ mapping: EntityMapping, _ options: RecordMapper.Reader.Options, _ walk: MappingWalk, isRoot: Bool) {
        self.mapping = mapping
        self.options = options
        self.walk = walk
        self.isRoot = isRoot
        addedKey = options.addedKey.map { Array($0.utf8) }
        needsKnownKey =
            isRoot
            && (!mapping.identifiesByKey
                || options.addedKey.map { !mapping.keys.knownKeys(without: $0).isEmpty } ?? false)
        drift = ElementDrift(of: mapping.layout, walk)
        nests =
            options.keepsRelationships ? Array(repeating: nil, count: mapping.layout.relationships.count) : []
        keepsRelationships = options.keepsRelationships
        clearsAbsent = options.clearsAbsent
        keptRelationship = options.keptRelationship
        entries = mapping.trie.entries
        contract = mapping.contract
        successors = Array(repeating: -1, count: mapping.trie.entryCount + mapping.trie.levels.count)
        group = MappedBatch.Group(mapping: mapping, records: RecordBatch(of: mapping.layout))
    }

    // MARK: Elements

    mutating func begin(index: Int) {
        discard()
        elementIndex = index
        isOpen = true
        isForeign = false
        otherKeys.removeAll()
        if !unfitColumns.isEmpty { unfitColumns.removeAll(keepingCapacity: true) }
        if !looseValues.isEmpty { looseValues.removeAll(keepingCapacity: true) }
        if isRoot { walk.element &+= 1 }
        group.records.beginRecord()
    }

    mutating func commit() {
        if let column = mapping.contentHashColumn {
            group.records.setInt(contentHashes.unique(contentHash), at: column)
        }
        if isStub { group.stubRows.append(group.records.count) }
        if isForeign { group.keylessRows.append(group.records.count) }
        group.records.endRecord()
        group.elementIndices.append(elementIndex)
        isOpen = false
        isStub = false
        guard isRoot else { return }
        drift.commit()
    }

    mutating func discard() {
        guard isOpen else { return }
        isOpen = false
        isStub = false
        stop = nil
        group.records.discardRecord()
        drift.revert(from: elementIndex)
        truncateNests()
    }

    /// Removes elements from an index on.
    mutating func truncate(from index: Int) {
        discard()
        drift.revert(from: index)
        var count = group.records.count
        while count > 0, group.elementIndices[count - 1] >= index { count -= 1 }
        guard count < group.records.count else { return }
        group.records.truncate(to: count)
        contentHashes.truncate(to: count)
        group.elementIndices.removeLast(group.elementIndices.count - count)
        while let last = group.stubRows.last, last >= count { group.stubRows.removeLast() }
        while let last = group.keylessRows.last, last >= count { group.keylessRows.removeLast() }
        if !group.undetermined.isEmpty { group.undetermined = group.undetermined.filter { $0.key < count } }
        truncateNests()
    }

    private mutating func truncateNests() {
        for index in nests.indices { nests[index]?.truncate(toRow: group.records.count) }
    }

    /// Adds the numbers of rows and bytes of the entity and of all objects nested in its objects.
    func addSize(to size: inout (rowCount: Int, byteCount: Int)) {
        size.rowCount += group.records.count
        size.byteCount += group.records.byteCount
        for index in nests.indices { nests[index]?.addSize(to: &size) }
    }

    /// Whether a hash of an object, here or nested in one, depends on the objects before it.
    var hasHashes: Bool {
        !contentHashes.isEmpty || nests.contains { $0?.hasHashes == true }
    }

    /// Whether objects are nothing but their records.
    var hasOnlyRecords: Bool {
        group.undetermined.isEmpty && mapping.contentHashColumn == nil && nests.allSatisfy { $0 == nil }
    }

    /// Returns the committed records, which have nothing nested, and starts a new group. No row may
    /// be open. The drift stays.
    mutating func takeRecords() -> MappedBatch.Group {
        var full = MappedBatch.Group(mapping: mapping, records: RecordBatch(of: mapping.layout))
        swap(&full, &group)
        return full
    }

    /// Returns the committed records and starts a new group. No row may be open.
    mutating func takeGroup() throws -> MappedBatch.Group {
        var full = MappedBatch.Group(mapping: mapping, records: RecordBatch(of: mapping.layout))
        swap(&full, &group)
        contentHashes.settle()
        // A single element can have made the batch much larger than the next one.
        if full.records.byteCount < Self.reservedByteCount {
            group.records.reserveCapacity(rowCount: full.records.count, byteCount: full.records.byteCount)
        }
        for index in nests.indices {
            let elements = try nests[index]?.take()
            // Empty collectors are dropped, so that memory does not grow with the variety of
            // objects; not if equal objects are told apart by those before them.
            if elements == nil, nests[index]?.hasHashes != true { nests[index] = nil }
            full.nested.append(elements)
        }
        return full
    }

    /// Maps an object into the open row.
    ///
    /// - Returns: Whether the object fits. If false, `stop` has the reason.
    mutating func map(_ cursor: inout JSONCursor) throws(JSONFault) -> Bool {
        if mapping.contentHashColumn != nil {
            var copy = cursor
            contentHash = Int64(bitPattern: try copy.contentHash())
        }
        if needsKnownKey {
            var copy = cursor
            isForeign = try !hasKnownKey(&copy)
        }
        guard try mapObject(&cursor, level: 0) else { return false }
        if !looseValues.isEmpty { guard try takeLoose() else { return false } }
        if let column = mapping.otherKeysColumn { setOtherKeys(at: column) }
        complete()
        return true
    }

    /// Maps an object that is no JSON into the open row.
    ///
    /// - Returns: Whether the object fits. If false, `stop` has the reason.
    mutating func map(_ row: RecordMapper.Row) -> Bool {
        // The content of an object is that of its JSON.
        guard mapping.contentHashColumn == nil else { return refuse(.noIdentity, action: .fail) }
        for (column, value) in row.values {
            let type = mapping.layout.attributes[column].type
            guard !value.isNull else {
                clear(column)
                continue
            }
            let fitted = type.fitted(value)
            let problem = fitted == nil ? .wrongType(type) : refusal(of: fitted, at: column)
            if let fitted, problem == nil {
                group.records.setValue(fitted, at: column)
            } else if let problem {
                let path = mapping.keys.attributes[column].path() ?? [mapping.layout.attributes[column].name]
                guard tolerate(problem, contract.wrongType, column: column, path: path) else { return false }
            }
        }
        for (relationship, identities) in row.targets {
            if keepsRelationships {
                prepareNest(relationship)
                nests[relationship]?.add(identities, row: group.records.count)
            } else if !identities.isEmpty {
                drift.countExcluded()
            }
        }
        complete()
        return true
    }

    /// Maps an identity that represents its object into the open row.
    ///
    /// - Returns: Whether the identity fits.
    mutating func map(identity: AttributeValue) -> Bool {
        guard let field = mapping.identityField, let fitted = field.type.fitted(identity), !fitted.isNull,
            refusal(of: fitted, at: field.column) == nil
        else { return false }
        isStub = true
        group.records.setValue(fitted, at: field.column)
        return true
    }

    /// Whether an object has a key of the entity. Expected other keys count as such.
    private func hasKnownKey(_ cursor: inout JSONCursor) throws(JSONFault) -> Bool {
        guard !mapping.expectsOtherKeys else { return true }
        try cursor.beginObject()
        while let key = try cursor.nextKey() {
            if mapping.trie.find(key, hash: KeyTrie.hash(key), level: 0) >= 0 || mapping.looseField(key) != nil,
                addedKey.map({ key.equals($0) }) != true
            {
                return true
            }
            try cursor.skipValue()
        }
        return false
    }

    /// Maps an identifier that represents its object into the open row.
    ///
    /// - Returns: Whether the identifier fits. If false, `stop` has the reason.
    mutating func mapIdentifier(_ cursor: inout JSONCursor) throws(JSONFault) -> Bool {
        guard mapping.keys.identityColumns.count == 1, let field = mapping.identityField else {
            return refuse(.noIdentity, action: .fail)
        }
        isStub = true
        guard try take(&cursor, field, entry: -1) else { return false }
        let kind = group.records.openKind(at: field.column)
        guard kind == .absent || kind == .null else { return true }
        return refuse(
            .wrongType(field.type), action: contract.wrongType == .fail ? .fail : .reject, column: field.column)
    }

    /// Rejects an element that is neither an object nor an accepted identifier. Always returns
    /// false.
    mutating func refuseElement() -> Bool {
        refuse(.notAnObject, action: contract.wrongType == .fail ? .fail : .reject)
    }

    /// Rejects an element because a transformer or entity mapper threw an error. Always returns
    /// false.
    mutating func refuse(by name: String, _ text: String) -> Bool {
        refuse(.refused(by: name, text), action: contract.wrongType == .fail ? .fail : .reject)
    }

    /// Keeps the JSON of the open row, for which the entity mapper returned nil.
    mutating func keepUndetermined(_ bytes: [UInt8]) {
        group.undetermined[group.records.count] = bytes
    }

    // MARK: Objects

    private mutating func mapObject(_ cursor: inout JSONCursor, level: Int) throws(JSONFault) -> Bool {
        try cursor.beginObject()
        var previous = mapping.trie.entryCount + level
        // The marks of the properties whose keys were met.
        var met: UInt64 = 0
        while true {
            let expected = Int(successors[previous])
            let entry: Int
            if expected >= 0, cursor.takeKey(entries[expected].quoted) {
                entry = expected
            } else {
                guard let key = try cursor.nextKey() else { return true }
                if expected >= 0, key.equals(entries[expected].bytes) {
                    entry = expected
                } else {
                    let hash = KeyTrie.hash(key)
                    entry = mapping.trie.find(key, hash: hash, level: level)
                    guard entry >= 0 else {
                        guard try takeUnknown(key, hash: hash, &cursor, level: level) else { return false }
                        continue
                    }
                    successors[previous] = Int32(truncatingIfNeeded: entry)
                }
            }
            previous = entry
            let found = entries + entry
            let marks = found.pointee.marks
            if met & marks != 0 { noteRepeated(found.pointee, entry: entry, met: met) }
            met |= marks
            if keepsOtherKeys {
                guard try takeKeeping(&cursor, found.pointee, entry: entry) else { return false }
            } else if found.pointee.isPlain {
                guard try take(&cursor, mapping.fields[found.pointee.firstField], entry: entry) else { return false }
            } else {
                guard try takeSeveral(&cursor, found.pointee, entry: entry) else { return false }
            }
        }
    }

    @inline(never)
    private mutating func takeUnknown(
        _ key: JSONSlice, hash: UInt64, _ cursor: inout JSONCursor, level: Int
    ) throws(JSONFault) -> Bool {
        if keepsOtherKeys, mapping.expectsOtherKeys, level == 0 {
            otherKeys.add(try cursor.rawValue(), under: key.bytes)
            return true
        }
        let levelHash = hash ^ (UInt64(truncatingIfNeeded: level) &* 0x9E37_79B9_7F4A_7C15)
        if !drift.countUnknown(levelHash, index: elementIndex) {
            if level == 0, let field = mapping.looseField(key) {
                return try deferLoose(key, hash: hash, field: field, &cursor)
            }
            drift.addUnknown(
                levelHash, path: mapping.trie.levels[level].path + [key.string], found: try cursor.kind(),
                index: elementIndex)
        }
        switch contract.unknownKey {
        case .ignore, .null:
            let value = try cursor.rawValue()
            if keepsOtherKeys, level == 0 { otherKeys.add(value, under: key.bytes) }
            return true
        case .reject, .fail:
            let outer = mapping.trie.levels[level].path
            return refuse(.unknownKey, action: contract.unknownKey, path: outer + [key.string])
        }
    }

    // MARK: Values with several targets

    /// Reads a value that has several targets, once for each.
    ///
    /// The targets are a relationship, attributes and the keys of a nested object.
    @inline(never)
    mutating func takeSeveral(
        _ cursor: inout JSONCursor, _ found: KeyTrie.Entry, entry: Int
    ) throws(JSONFault) -> Bool {
        if found.fieldCount == 0, found.relationship < 0 {
            return try takeLevel(&cursor, found.level, entry: entry)
        }
        let before = cursor
        if found.relationship >= 0, keepsRelationships {
            guard try takeNested(&cursor, found) else { return false }
            if let column = mapping.relationshipKeyColumns[found.relationship] {
                group.records.setString(found.bytes, at: column)
            }
        } else {
            let value = RelationshipValue(bytes: try cursor.rawValue().bytes, holdsIdentifiers: false)
            if found.relationship >= 0, !value.isEmpty { drift.countExcluded() }
        }
        for field in found.firstField..<(found.firstField + found.fieldCount) {
            var again = before
            guard try take(&again, mapping.fields[field], entry: entry) else { return false }
        }
        if found.level >= 0 {
            var again = before
            guard try takeLevel(&again, found.level, entry: entry) else { return false }
        }
        return true
    }

    /// Reads the value of a relationship into records of its destination.
    private mutating func takeNested(
        _ cursor: inout JSONCursor, _ found: KeyTrie.Entry
    ) throws(JSONFault) -> Bool {
        prepareNest(found.relationship)
        let error = try nests[found.relationship]?.add(
            &cursor, row: group.records.count, index: elementIndex, holdsIdentifiers: found.holdsIdentifiers)
        guard let error else { return true }
        stop = .failed(error)
        return false
    }

    /// Gives the relationship of the open object the value null.
    mutating func clear(relationship: Int) {
        prepareNest(relationship)
        nests[relationship]?.addNull(row: group.records.count)
    }

    private mutating func prepareNest(_ relationship: Int) {
        guard nests[relationship] == nil else { return }
        nests[relationship] = NestedCollector(mapping.layout.relationships[relationship], options, walk)
    }

    /// Reads the object whose keys continue a key path.
    ///
    /// Null in its place sets every attribute below it to null. A value of another kind counts as
    /// the wrong type for each of them.
    private mutating func takeLevel(_ cursor: inout JSONCursor, _ level: Int, entry: Int) throws(JSONFault) -> Bool {
        if try cursor.significant() == ASCII.openBrace { return try mapObject(&cursor, level: level) }
        let isNull = try cursor.takeNull()
        if !isNull { try cursor.skipValue() }
        for field in mapping.trie.levels[level].fields.map({ mapping.fields[$0] }) where field.converter != .none {
            if isNull {
                clear(field.column)
            } else {
                guard tolerate(.wrongType(field.type), contract.wrongType, field, entry: entry) else { return false }
            }
        }
        return true
    }
}
