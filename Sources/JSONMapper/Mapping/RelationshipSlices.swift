/// The JSON of relationships, taken out of the objects of a batch while they were mapped, for
/// whoever relates records.
///
/// Each entry holds the whole value as it is written: an object, an array of objects or
/// identifiers, an identifier, null. A key that is absent has no entry; of a key that occurs twice
/// both are here, and the later one counts. The bytes have been checked, so a cursor over them
/// fails only where it is asked for a value of another kind.
package struct RelationshipSlices: Sendable {
    /// One relationship of one record.
    package struct Entry: Hashable, Sendable {
        /// The record's row in its batch.
        package let row: Int
        /// The relationship's index in the entity's layout.
        package let relationship: Int
        /// Whether it was found under a key for identifiers, such as `company_id`, rather than
        /// under the relationship's own.
        package let holdsIdentifiers: Bool
        /// What kind of value it is.
        package let kind: JSONKind
        /// Whether it is an object, or an array that begins with one.
        package let holdsObjects: Bool
        /// Its range in `bytes`.
        package let range: Range<Int>
        /// Whether it is null or an array without elements.
        let isEmpty: Bool
    }

    /// The entries in the order of their rows, and within a row as they were written.
    package private(set) var entries: [Entry] = []
    /// The values, one after another.
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

    /// Returns the first byte of an array's first element, or the closing bracket.
    private static func firstElement(_ array: UnsafeBufferPointer<UInt8>) -> UInt8? {
        array.dropFirst().first { !ASCII.isWhitespace($0) }
    }

    /// Appends null for a relationship that an object does not have.
    mutating func appendNull(row: Int, relationship: Int) {
        let start = bytes.count
        bytes.append(contentsOf: "null".utf8)
        entries.append(
            Entry(
                row: row, relationship: relationship, holdsIdentifiers: false, kind: .null, holdsObjects: false,
                range: start..<bytes.count, isEmpty: true))
    }

    /// Whether one value of a relationship counts rather than another of the same record.
    ///
    /// An object counts rather than an identifier under another key, and an identifier rather than
    /// null or an empty array. Otherwise the later value counts.
    package static func counts(_ earlier: Entry, ratherThan later: Entry) -> Bool {
        guard earlier.holdsIdentifiers != later.holdsIdentifiers else { return false }
        if earlier.holdsObjects != later.holdsObjects { return earlier.holdsObjects }
        return !earlier.isEmpty && later.isEmpty
    }

    /// Takes back what was appended after a state.
    mutating func truncate(entryCount: Int, byteCount: Int) {
        entries.removeLast(entries.count - entryCount)
        bytes.removeLast(bytes.count - byteCount)
    }

    /// Reads an entry's value.
    ///
    /// - Parameters:
    ///   - entry: One of ``entries``.
    ///   - options: What was accepted when the batch was read.
    ///   - body: Gets a cursor before the value, valid until it returns.
    /// - Throws: What the function throws.
    package func read<Result, Failure: Error>(
        _ entry: Entry, options: JSONOptions = JSONOptions(), _ body: (inout JSONCursor) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let result: Swift.Result<Result, Failure> = bytes.withUnsafeBufferPointer { all in
            let value = UnsafeBufferPointer(rebasing: all[entry.range])
            // A value is never empty, and so has an address.
            guard let start = value.baseAddress else { preconditionFailure("an entry of another batch") }
            var cursor = JSONCursor(start: start, end: start + value.count, options: options)
            do throws(Failure) { return .success(try body(&cursor)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}
