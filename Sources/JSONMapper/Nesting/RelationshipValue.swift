/// The JSON of relationships, extracted from the objects of a batch for linking records.
///
/// Each entry has a whole value as written: an object, an array of objects or identifiers, an
/// identifier, or null. An absent key has no entry. A repeated key has an entry for each
/// occurrence, and the last one wins. The bytes have been validated, so a cursor over them fails
/// only if a value is of another kind than requested.
package struct RelationshipSlices: Sendable {
    /// The value of one relationship of one record.
    package struct Entry: Hashable, Sendable {
        /// The row of the record in its batch.
        package let row: Int
        /// The index of the relationship in the entity's layout.
        package let relationship: Int
        /// Whether the value was found under a key for identifiers, such as `company_id`.
        package let holdsIdentifiers: Bool
        /// The kind of the value.
        package let kind: JSONKind
        /// Whether the value is an object, or an array whose first element is one.
        package let holdsObjects: Bool
        /// The position of the value in ``RelationshipSlices/bytes``.
        package let range: Range<Int>
        /// Whether the value is null or an empty array.
        let isEmpty: Bool
    }

    /// The entries, ordered by row. Entries of one row keep the order of the input.
    package private(set) var entries: [Entry] = []
    /// The concatenated bytes of all values.
    package private(set) var bytes: [UInt8] = []

    mutating func append(_ value: JSONSlice, row: Int, relationship: Int, holdsIdentifiers: Bool) {
        let start = bytes.count
        bytes.append(contentsOf: value.bytes)
        let kind = value.bytes.first.flatMap(JSONCursor.kind(startingWith:)) ?? .null
        entries.append(
            Entry(
                row: row, relationship: relationship, holdsIdentifiers: holdsIdentifiers, kind: kind,
                holdsObjects: kind == .object || (kind == .array && Self.firstElement(value.bytes) == ASCII.openBrace),
                range: start..<bytes.count,
                isEmpty: kind == .null || (kind == .array && Self.firstElement(value.bytes) == ASCII.closeBracket)))
    }

    /// The first byte of an array's first element, or the closing bracket.
    private static func firstElement(_ array: UnsafeBufferPointer<UInt8>) -> UInt8? {
        array.dropFirst().first { !ASCII.isWhitespace($0) }
    }

    /// Appends null for a relationship that is absent from an object.
    mutating func appendNull(row: Int, relationship: Int) {
        let start = bytes.count
        bytes.append(contentsOf: "null".utf8)
        entries.append(
            Entry(
                row: row, relationship: relationship, holdsIdentifiers: false, kind: .null, holdsObjects: false,
                range: start..<bytes.count, isEmpty: true))
    }

    /// Returns whether the earlier of two values for a relationship of one record takes precedence.
    ///
    /// An object takes precedence over an identifier under another key, and an identifier over null
    /// or an empty array. Otherwise, the later value takes precedence.
    package static func counts(_ earlier: Entry, ratherThan later: Entry) -> Bool {
        guard earlier.holdsIdentifiers != later.holdsIdentifiers else { return false }
        if earlier.holdsObjects != later.holdsObjects { return earlier.holdsObjects }
        return !earlier.isEmpty && later.isEmpty
    }

    /// Removes what was appended beyond these counts.
    mutating func truncate(entryCount: Int, byteCount: Int) {
        entries.removeLast(entries.count - entryCount)
        bytes.removeLast(bytes.count - byteCount)
    }

    /// Reads the value of an entry.
    ///
    /// - Parameters:
    ///   - entry: One of ``entries``.
    ///   - options: The parsing options that the batch was read with.
    ///   - body: Receives a cursor at the value, which is valid only during the call.
    /// - Throws: The errors of `body`.
    package func read<Result, Failure: Error>(
        _ entry: Entry, options: JSONOptions = JSONOptions(), _ body: (inout JSONCursor) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let result: Swift.Result<Result, Failure> = bytes.withUnsafeBufferPointer { all in
            let value = UnsafeBufferPointer(rebasing: all[entry.range])
            // A value is never empty, so its buffer has an address.
            guard let start = value.baseAddress else { preconditionFailure("an entry of another batch") }
            var cursor = JSONCursor(start: start, end: start + value.count, options: options)
            do throws(Failure) { return .success(try body(&cursor)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}
