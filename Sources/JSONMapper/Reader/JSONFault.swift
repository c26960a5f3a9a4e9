/// What is wrong with a piece of JSON, and where in the bytes at hand; small enough to be thrown
/// without cost.
///
/// A ``JSONCursor`` throws it. A ``JSONReader`` turns it into a ``JSONError``, which knows the
/// line, the column and the key path within the whole input.
package struct JSONFault: Error, Equatable, Sendable {
    /// What is wrong.
    package let reason: JSONError.Reason
    /// Bytes between the start of the cursor's input and the byte in question.
    package let byteOffset: Int

    /// Creates a fault at an offset in bytes.
    package init(_ reason: JSONError.Reason, byteOffset: Int) {
        self.reason = reason
        self.byteOffset = byteOffset
    }
}
