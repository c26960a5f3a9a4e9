import SyncModel

/// Maps elements into a group of records, one at a time.
///
/// Call `begin`, then `map` with a cursor at the element, then `commit` or `discard`. `begin`
/// reverts what an incomplete element has left behind.
struct ElementMapper {
    /// The reason why an element is not mapped.
    struct Stop {
        var problem: MappingProblem
        var isFatal: Bool
    }

    let mapping: EntityMapping
    /// The entries of the mapping's trie, for access without reference counting. `mapping` keeps
    /// them alive.
    let entries: UnsafePointer<KeyTrie.Entry>
    let contract: ValueContract
    let keepsRelationships: Bool
    /// Whether properties that are absent from an object are cleared.
    let clearsAbsent: Bool
    /// The index of a relationship that is not cleared for being absent; nil for none.
    let keptRelationship: Int?
    var group: MappedBatch.Group
    var toleratedCount = 0
    /// Set when `map` returns false.
    var stop: Stop?

    /// For each entry, the entry that followed it last time; then, for each level, its first entry.
    /// -1 if unknown.
    ///
    /// Objects of one source mostly have the same keys in the same order, so the next key is
    /// usually right.
    private var successors: [Int32]
    private var unknownKeys = UnknownKeys()
    /// The drift of the committed elements, and of the open one.
    private var drift = DriftReport()
    private var openDrift: [(kind: DriftReport.Kind, keyPath: String, found: JSONKind?)] = []
    /// The members of the open element that the entity's properties cannot express, as JSON.
    private var otherKeys: [UInt8] = []
    /// The slots of the open row whose values did not fit and are to stay as they are.
    private var ignoredSlots: [Int] = []
    private var contentHash: Int64 = 0
    private var contentHashes = UniqueHashes()
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
        if let slot = mapping.contentHashSlot {
            group.records.setInt(contentHashes.unique(contentHash), at: slot)
        }
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
        if !otherKeys.isEmpty { otherKeys.removeAll(keepingCapacity: true) }
        if !ignoredSlots.isEmpty { ignoredSlots.removeAll(keepingCapacity: true) }
        unknownKeys.discard()
        if !openDrift.isEmpty { openDrift.removeAll(keepingCapacity: true) }
    }

    /// Returns the drift of the committed elements and resets it.
    mutating func takeDrift() -> DriftReport {
        unknownKeys.flush(entity: mapping.layout.name, into: &drift)
        defer { drift = DriftReport() }
        return drift
    }

    /// Returns the committed records and starts a new group. No row may be open.
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
    /// - Returns: Whether the object fits. If false, `stop` has the reason.
    mutating func map(_ cursor: inout JSONCursor) throws(JSONFault) -> Bool {
        if mapping.contentHashSlot != nil {
            var copy = cursor
            contentHash = Int64(bitPattern: try copy.contentHash())
        }
        guard try mapObject(&cursor, level: 0) else { return false }
        if let slot = mapping.otherKeysSlot { setOtherKeys(at: slot) }
        if clearsAbsent { clearAbsent() }
        return checkMandatory()
    }

    /// Maps an identifier that represents its object into the open row.
    ///
    /// - Returns: Whether the identifier fits. If false, `stop` has the reason.
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

    /// Rejects an element that is neither an object nor an accepted identifier. Always returns
    /// false.
    mutating func refuseElement() -> Bool {
        give(up: .notAnObject, action: contract.wrongType == .fail ? .fail : .reject)
    }

    /// Rejects an element because a transformer or entity mapper threw an error. Always returns
    /// false.
    mutating func refuse(by name: String, _ text: String) -> Bool {
        give(up: .refused(by: name, text), action: contract.wrongType == .fail ? .fail : .reject)
    }

    /// Keeps the JSON of the open row, whose entity the entity mapper left open.
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
            keep(try cursor.rawValue(), under: key.bytes)
            return true
        }
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
            let value = try cursor.rawValue()
            if keepsOtherKeys, level == 0 { keep(value, under: key.bytes) }
            return true
        case .reject, .fail:
            let outer = mapping.trie.levels[level].path
            return give(up: .unknownKey, action: contract.unknownKey, path: outer + [key.string])
        }
    }

    // MARK: Other keys

    /// Whether the entity has an attribute for what its other properties cannot express.
    @inline(__always)
    private var keepsOtherKeys: Bool { mapping.otherKeysSlot != nil }

    /// Reads a value, and keeps it as JSON if the property cannot express it.
    @inline(never)
    private mutating func takeKeeping(
        _ cursor: inout JSONCursor, _ found: KeyTrie.Entry, entry: Int
    ) throws(JSONFault) -> Bool {
        let start = cursor
        let tolerated = toleratedCount
        let isTaken =
            found.isPlain
            ? try take(&cursor, mapping.fields[found.firstField], entry: entry)
            : try takeSeveral(&cursor, found, entry: entry)
        guard isTaken, mapping.trie.paths[entry].count == 1 else { return isTaken }
        let isUnfit = toleratedCount > tolerated
        var copy = start
        let first = try copy.significant()
        let isEmpty = first == ASCII.n || first == ASCII.openBracket
        guard isUnfit || isEmpty else { return true }
        let value = try copy.rawValue()
        let slots = (0..<found.fieldCount).map { mapping.fields[found.firstField + $0].slot }
        if isUnfit { for slot in slots { group.records.setNull(at: slot) } }
        let written = mapping.trie.paths[entry][0]
        let isKept =
            isUnfit || (first == ASCII.n && slots.contains { mapping.omitsNull[$0] })
            || (found.relationship >= 0 && isKeptEmpty(value, found.relationship))
        if isKept { keep(value, under: Array(JSONWriter.quotedKey(written).dropFirst().dropLast())) }
        return true
    }

    /// Whether a value of a relationship is empty in another way than an export writes it.
    private func isKeptEmpty(_ value: JSONSlice, _ relationship: Int) -> Bool {
        let style = mapping.emptyStyles[relationship]
        if value.bytes.first == ASCII.n { return style != .null }
        return style != .list && value.bytes.dropFirst().first { !ASCII.isWhitespace($0) } == ASCII.closeBracket
    }

    /// Keeps a value as JSON.
    ///
    /// - Parameter key: The key as written, without its quotes.
    private mutating func keep(_ value: JSONSlice, under key: some Collection<UInt8>) {
        otherKeys.append(otherKeys.isEmpty ? ASCII.openBrace : ASCII.comma)
        otherKeys.append(ASCII.quote)
        otherKeys.append(contentsOf: key)
        otherKeys.append(ASCII.quote)
        otherKeys.append(ASCII.colon)
        otherKeys.append(contentsOf: value.bytes)
    }

    private mutating func setOtherKeys(at slot: Int) {
        guard !otherKeys.isEmpty else { return group.records.setNull(at: slot) }
        otherKeys.append(ASCII.closeBrace)
        let isSet = otherKeys.withUnsafeBufferPointer { group.records.setJSON($0, at: slot) }
        if !isSet { toleratedCount += 1 }
        otherKeys.removeAll(keepingCapacity: true)
    }

    /// Reads a value that has several targets, once for each.
    ///
    /// The targets are a relationship, attributes and the keys of a nested object.
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
                group.records.setNull(at: field.slot)
            } else {
                guard tolerate(.wrongType(field.type), contract.wrongType, field, entry: entry) else { return false }
            }
        }
        return true
    }

    // MARK: Problems

    /// Performs the contract's action for a value that does not fit.
    ///
    /// - Returns: Whether mapping of the element continues.
    @inline(never)
    mutating func tolerate(
        _ reason: MappingProblem.Reason, _ action: ValueContract.Action, _ field: EntityMapping.Field, entry: Int,
        found: JSONKind? = nil
    ) -> Bool {
        let path = entry < 0 ? mapping.keys.attributes[field.slot].path() : mapping.trie.paths[entry]
        switch action {
        case .ignore: if clearsAbsent { ignoredSlots.append(field.slot) }
        case .null: group.records.setNull(at: field.slot)
        case .reject, .fail:
            return give(up: reason, action: action, slot: field.slot, path: path)
        }
        openDrift.append((.unfitValue, path?.joined(separator: ".") ?? "", found))
        toleratedCount += 1
        return true
    }

    /// Reports a whole number that a double cannot represent exactly.
    @inline(never)
    mutating func noteRounding(_ number: JSONNumber, _ value: Double, _ field: EntityMapping.Field, entry: Int) {
        let isExact = !number.isTruncated && UInt64(exactly: value.magnitude) == number.mantissa
        guard !isExact else { return }
        let path = entry < 0 ? mapping.keys.attributes[field.slot].path() : mapping.trie.paths[entry]
        openDrift.append((.rounded, path?.joined(separator: ".") ?? "", .number))
    }

    /// Clears the properties that are absent from the object.
    private mutating func clearAbsent() {
        for slot in mapping.clearableSlots
        where group.records.openKind(at: slot) == .absent && !ignoredSlots.contains(slot) {
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
