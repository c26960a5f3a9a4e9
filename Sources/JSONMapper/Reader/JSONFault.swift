/// An error at a byte offset, thrown by ``JSONCursor``.
///
/// It is a small value, which is cheap to throw. ``JSONReader`` converts it into a ``JSONError``
/// with the line, the column and the key path in the whole input.
package struct JSONFault: Error, Equatable, Sendable {
    /// The cause of the fault.
    package let reason: JSONError.Reason
    /// The position of the fault, in bytes from the start of the cursor's input.
    package let byteOffset: Int

    /// Creates a fault.
    package init(_ reason: JSONError.Reason, byteOffset: Int) {
        self.reason = reason
        self.byteOffset = byteOffset
    }
}
