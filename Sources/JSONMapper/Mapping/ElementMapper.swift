import SyncModel

/// Maps one element after the other into a group of records.
///
/// An element goes in three steps: `begin`, `map` with a cursor before it, and `commit` or
/// `discard`. `begin` takes back whatever was left of an element that was cut by the end of the
/// window.
struct ElementMapper {
    /// Why an element is given up.
    struct Stop {
        var problem: MappingProblem
        var isFatal: Bool
    }

    let mapping: EntityMapping
    /// The mapping's own, looked at without going through it; `mapping` keeps them alive.
    let entries: UnsafePointer<KeyTrie.Entry>
    let contract: ValueContract
    let keepsRelationships: Bool
    /// Whether properties that an object does not have are cleared.
    let clearsAbsent: Bool
    /// The index of a relationship that is not cleared; nil if there is none.
    let keptRelationship: Int?
    var group: MappedBatch.Group
    var toleratedCount = 0
    /// Set when `map` returns false.
    var stop: Stop?

    /// The entry that followed each entry the last time, and after those, the first one of each
    /// level; -1 where it is not known.
    private var successors: [Int32]
    private var unknownKeys = UnknownKeys()
    /// What was found of committed elements, and of the open one.
    private var drift = DriftReport()
    private var openDrift: [(kind: DriftReport.Kind, keyPath: String, found: JSONKind?)] = []
    private var elementIndex = 0
    private var openEntryCount = 0
    private var openByteCount = 0
    private var openToleratedCount = 0
    private var isStub = false

    init(_ mapping: EntityMapping, _ options: RecordReader.Options) {
        self.mapping = mapping
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
        group.records.beginRecord()
    }

    mutating func commit() {
        if isStub { group.stubRows.append(group.records.count) }
        group.records.endRecord()
        group.elementIndices.append(elementIndex)
        openEntryCount = group.relationships.entries.count
        openByteCount = group.relationships.bytes.count
        openToleratedCount = toleratedCount
        isStub = false
        unknownKeys.commit()
        guard !openDrift.isEmpty else { return }
        for found in openDrift {
            drift.add(
                found.kind, entity: mapping.layout.name, keyPath: found.keyPath, index: elementIndex,
                found: found.found.map { "\($0)" })
        }
        openDrift.removeAll(keepingCapacity: true)
    }

    mutating func discard() {
        group.records.discardRecord()
        if keepsRelationships { group.relationships.truncate(entryCount: openEntryCount, byteCount: openByteCount) }
        toleratedCount = openToleratedCount
        isStub = false
        stop = nil
        unknownKeys.discard()
        if !openDrift.isEmpty { openDrift.removeAll(keepingCapacity: true) }
    }

    /// Hands out what was found of committed elements, and starts anew.
    mutating func takeDrift() -> DriftReport {
        unknownKeys.flush(entity: mapping.layout.name, into: &drift)
        defer { drift = DriftReport() }
        return drift
    }

    /// Hands out what has been committed, and starts anew; no row may be open.
    mutating func takeGroup() -> MappedBatch.Group {
        var full = MappedBatch.Group(mapping: mapping, records: RecordBatch(of: mapping.layout))
        swap(&full, &group)
        group.records.reserveCapacity(rowCount: full.records.count, byteCount: full.records.byteCount)
        openEntryCount = 0
        openByteCount = 0
        openToleratedCount = 0
        toleratedCount = 0
        return full
    }

    /// Maps an object into the open row.
    ///
    /// - Returns: Whether it fits; otherwise `stop` says why not.
    mutating func map(_ cursor: inout JSONCursor) throws(JSONFault) -> Bool {
        guard try mapObject(&cursor, level: 0) else { return false }
        if clearsAbsent { clearAbsent() }
        return checkMandatory()
    }

    /// Maps an identifier that stands for its object into the open row.
    mutating func mapIdentifier(_ cursor: inout JSONCursor) throws(JSONFault) -> Bool {
        guard mapping.keys.identitySlots.count == 1, let field = mapping.identityField else {
            return give(up: .noIdentity, action: .fail)
        }
        isStub = true
        guard try take(&cursor, field, entry: -1) else { return false }
        let kind = group.records.openKind(at: field.slot)
        guard kind == .absent || kind == .null else { return true }
        return give(up: .wrongType(field.type), action: contract.wrongType == .fail ? .fail : .reject, slot: field.slot)
    }

    /// Says that the element is nothing that can be mapped.
    mutating func refuseElement() -> Bool {
        give(up: .notAnObject, action: contract.wrongType == .fail ? .fail : .reject)
    }

    /// Says that a transformer of the whole element threw.
    mutating func refuse(by name: String, _ text: String) -> Bool {
        give(up: .refused(by: name, text), action: contract.wrongType == .fail ? .fail : .reject)
    }

    /// Keeps the JSON of the open row.
    mutating func keepUndetermined(_ bytes: [UInt8]) {
        group.undetermined[group.records.count] = bytes
    }

    private mutating func checkMandatory() -> Bool {
        guard contract.missingMandatory != .ignore else { return true }
        for slot in mapping.mandatorySlots {
            let kind = group.records.openKind(at: slot)
            guard kind == .absent || kind == .null else { continue }
            guard contract.missingMandatory == .null else {
                return give(
                    up: .missingMandatory, action: contract.missingMandatory, slot: slot,
                    path: mapping.keys.attributes[slot].path())
            }
            group.records.setNull(at: slot)
            toleratedCount += 1
        }
        return true
    }

    // MARK: Objects

    private mutating func mapObject(_ cursor: inout JSONCursor, level: Int) throws(JSONFault) -> Bool {
        try cursor.beginObject()
        var previous = mapping.trie.entryCount + level
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
            if found.pointee.isPlain {
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
        let levelHash = hash ^ (UInt64(truncatingIfNeeded: level) &* 0x9E37_79B9_7F4A_7C15)
        if !unknownKeys.count(levelHash) {
            if level == 0, let field = mapping.looseField(key) {
                return try take(&cursor, mapping.fields[field], entry: -1)
            }
            unknownKeys.add(
                levelHash, path: mapping.trie.levels[level].path + [key.string], found: try cursor.kind(),
                index: elementIndex, entity: mapping.layout.name, evictingInto: &drift)
        }
        switch contract.unknownKey {
        case .ignore, .null:
            try cursor.skipValue()
            return true
        case .reject, .fail:
            let outer = mapping.trie.levels[level].path
            return give(up: .unknownKey, action: contract.unknownKey, path: outer + [key.string])
        }
    }

    /// A value that is a relationship's, or several attributes', or has more keys in it, or all of
    /// these: its bytes are read once for each.
    @inline(never)
    private mutating func takeSeveral(
        _ cursor: inout JSONCursor, _ found: KeyTrie.Entry, entry: Int
    ) throws(JSONFault) -> Bool {
        if found.fieldCount == 0, found.relationship < 0 {
            return try takeLevel(&cursor, found.level, entry: entry)
        }
        let before = cursor
        let value = try cursor.rawValue()
        if found.relationship >= 0, keepsRelationships {
            group.relationships.append(
                value, row: group.records.count, relationship: found.relationship,
                holdsIdentifiers: found.holdsIdentifiers)
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

    /// The object whose keys are the rest of a path. Null in its place is null at the end of every
    /// path through it, and anything else is of wrong type there.
    private mutating func takeLevel(_ cursor: inout JSONCursor, _ level: Int, entry: Int) throws(JSONFault) -> Bool {
        if try cursor.significant() == ASCII.openBrace { return try mapObject(&cursor, level: level) }
        let isNull = try cursor.takeNull()
        if !isNull { try cursor.skipValue() }
        for field in mapping.trie.levels[level].fields.map({ mapping.fields[$0] }) where field.converter != .none {
            if isNull {
                group.records.setNull(at: field.slot)
            } else {
                guard tolerate(.wrongType(field.type), contract.wrongType, field, entry: entry) else { return false }
            }
        }
        return true
    }

    // MARK: Problems

    /// Deals with a value that does not fit.
    ///
    /// - Returns: Whether the element can go on.
    @inline(never)
    mutating func tolerate(
        _ reason: MappingProblem.Reason, _ action: ValueContract.Action, _ field: EntityMapping.Field, entry: Int,
        found: JSONKind? = nil
    ) -> Bool {
        let path = entry < 0 ? mapping.keys.attributes[field.slot].path() : mapping.trie.paths[entry]
        switch action {
        case .ignore: break
        case .null: group.records.setNull(at: field.slot)
        case .reject, .fail:
            return give(up: reason, action: action, slot: field.slot, path: path)
        }
        openDrift.append((.unfitValue, path?.joined(separator: ".") ?? "", found))
        toleratedCount += 1
        return true
    }

    /// Reports a whole number that a double does not hold exactly.
    @inline(never)
    mutating func noteRounding(_ number: JSONNumber, _ value: Double, _ field: EntityMapping.Field, entry: Int) {
        let isExact = !number.isTruncated && UInt64(exactly: value.magnitude) == number.mantissa
        guard !isExact else { return }
        let path = entry < 0 ? mapping.keys.attributes[field.slot].path() : mapping.trie.paths[entry]
        openDrift.append((.rounded, path?.joined(separator: ".") ?? "", .number))
    }

    /// Clears the properties that the object does not have.
    private mutating func clearAbsent() {
        for slot in mapping.clearableSlots where group.records.openKind(at: slot) == .absent {
            group.records.setValue(mapping.layout.attributes[slot].defaultValue, at: slot)
        }
        guard keepsRelationships else { return }
        let stated = Set(group.relationships.entries[openEntryCount...].map(\.relationship))
        for keys in mapping.keys.relationships where !keys.spellings.isEmpty {
            let index = keys.relationship.index
            guard index != keptRelationship, !stated.contains(index) else { continue }
            group.relationships.appendNull(row: group.records.count, relationship: index)
        }
    }

    private mutating func give(
        up reason: MappingProblem.Reason, action: ValueContract.Action, slot: Int? = nil, path: [String]? = nil
    ) -> Bool {
        let problem = MappingProblem(
            entity: mapping.layout.name, attribute: slot.map { mapping.layout.attributes[$0].name },
            keyPath: path?.joined(separator: ".") ?? "", index: elementIndex, reason: reason)
        stop = Stop(problem: problem, isFatal: action == .fail)
        return false
    }
}
