import SyncModel

/// The members of an object that its entity's properties cannot express, as text of a JSON object.
struct OtherKeys {
    /// The text without the closing brace; empty if there are no members.
    private var text: [UInt8] = []

    /// Adds a member.
    ///
    /// - Parameter key: The key as written, without its quotes.
    mutating func add(_ value: JSONSlice, under key: some Collection<UInt8>) {
        text.append(text.isEmpty ? ASCII.openBrace : ASCII.comma)
        text.append(ASCII.quote)
        text.append(contentsOf: key)
        text.append(ASCII.quote)
        text.append(ASCII.colon)
        text.append(contentsOf: value.bytes)
    }

    mutating func removeAll() {
        if !text.isEmpty { text.removeAll(keepingCapacity: true) }
    }

    /// Moves the members into a cell of the open record; null if there are none.
    ///
    /// - Returns: How the text was read. If that failed, the cell is unchanged.
    mutating func move(into records: inout RecordBatch, at column: Int) -> CanonicalJSONWriter.Reading {
        guard !text.isEmpty else {
            records.setNull(at: column)
            return .complete
        }
        text.append(ASCII.closeBrace)
        defer { removeAll() }
        return text.withUnsafeBufferPointer { records.setJSON(reading: $0, at: column) }
    }
}
