/// The value of a relationship as written, for deciding which of several values counts.
///
/// A value is complete and validated.
struct RelationshipValue {
    let bytes: UnsafeBufferPointer<UInt8>
    /// Whether the value was found under a key for identifiers, such as `company_id`.
    let holdsIdentifiers: Bool

    /// Returns whether the earlier of two values for a relationship of one object takes precedence.
    ///
    /// An object takes precedence over an identifier under another key, and an identifier over null
    /// or an empty array. Otherwise, the later value takes precedence.
    func counts(ratherThan later: RelationshipValue) -> Bool {
        guard holdsIdentifiers != later.holdsIdentifiers else { return false }
        if holdsObjects != later.holdsObjects { return holdsObjects }
        return !isEmpty && later.isEmpty
    }

    /// Whether the value is an object, or an array whose first element is one.
    private var holdsObjects: Bool {
        bytes.first == ASCII.openBrace || (bytes.first == ASCII.openBracket && firstElement == ASCII.openBrace)
    }

    /// Whether the value is null or an empty array.
    var isEmpty: Bool {
        bytes.first == ASCII.n || (bytes.first == ASCII.openBracket && firstElement == ASCII.closeBracket)
    }

    /// The first byte of an array's first element, or the closing bracket.
    private var firstElement: UInt8? {
        bytes.dropFirst().first { !ASCII.isWhitespace($0) }
    }
}
