import SyncModel

// What an entity keeps of an object beyond the values that its other properties can express.
extension ElementMapper {
    /// Whether the entity has an attribute for values that no other property can express.
    @inline(__always)
    var keepsOtherKeys: Bool { mapping.otherKeysColumn != nil }

    /// Reads a value, and keeps it as JSON if the property cannot express it.
    @inline(never)
    mutating func takeKeeping(
        _ cursor: inout JSONCursor, _ found: KeyTrie.Entry, entry: Int
    ) throws(JSONFault) -> Bool {
        let start = cursor
        let unfitCount = unfitColumns.count
        let isTaken =
            found.isPlain
            ? try take(&cursor, mapping.fields[found.firstField], entry: entry)
            : try takeSeveral(&cursor, found, entry: entry)
        guard isTaken, mapping.trie.paths[entry].count == 1 else { return isTaken }
        let isUnfit = unfitColumns.count > unfitCount
        var copy = start
        let first = try copy.significant()
        let isEmpty = first == ASCII.n || first == ASCII.openBracket
        guard isUnfit || isEmpty else { return true }
        let value = try copy.rawValue()
        let columns = (0..<found.fieldCount).map { mapping.fields[found.firstField + $0].column }
        if isUnfit { for column in columns { group.records.setNull(at: column) } }
        let written = mapping.trie.paths[entry][0]
        let isKept =
            isUnfit || (first == ASCII.n && columns.contains { mapping.omitsNull[$0] })
            || (found.relationship >= 0 && isKeptEmpty(value, found.relationship))
        if isKept { otherKeys.add(value, under: Array(JSONWriter.quotedKey(written).dropFirst().dropLast())) }
        return true
    }

    /// Whether an empty value of a relationship differs from the form that an export writes.
    private func isKeptEmpty(_ value: JSONSlice, _ relationship: Int) -> Bool {
        let style = mapping.emptyStyles[relationship]
        if value.bytes.first == ASCII.n { return style != .null }
        return style != .list && value.bytes.dropFirst().first { !ASCII.isWhitespace($0) } == ASCII.closeBracket
    }

    /// Sets the attribute for other keys of the open row.
    mutating func setOtherKeys(at column: Int) {
        switch otherKeys.move(into: &group.records, at: column) {
        case .failed: note(.unfitValue, path: nil, isTolerated: true)
        case .withoutRepeatedKeys: note(.repeatedKey, path: nil, isTolerated: false)
        case .complete: break
        }
    }
}
