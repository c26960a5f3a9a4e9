/// What is wrong with a piece of JSON, and where in the bytes at hand; small enough to be thrown without cost.
///
/// A ``JSONCursor`` throws it. A ``JSONReader`` turns it into a ``JSONError``, which knows the line, the column and the key
/// path within the whole input.
public struct JSONFault: Error, Equatable, Sendable {
    /// What is wrong.
    public enum Reason: UInt8, CaseIterable, Sendable {
        /// The input ends inside a value, or holds none.
        case unexpectedEnd
        /// A byte that cannot stand here.
        case unexpectedByte
        /// Something follows the end of the document.
        case trailingContent
        /// A word other than `true`, `false` and `null`.
        case invalidLiteral
        /// A number that RFC 8259, section 6, does not allow, such as `01`, `1.` or `+1`.
        case invalidNumber
        /// A byte below U+0020 inside a string.
        case controlCharacter
        /// A backslash followed by something RFC 8259, section 7, does not list.
        case invalidEscape
        /// An escaped surrogate without its partner.
        case loneSurrogate
        /// Bytes that are not UTF-8: overlong, cut, above U+10FFFF, an encoded surrogate.
        case invalidUTF8
        /// A key occurs twice in an object, and the options call that an error.
        case duplicateKey
        /// A number beyond what the asked type holds exactly, or beyond any finite double.
        case numberOutOfRange
        /// An object was asked for and another value is here.
        case notAnObject
        /// An array was asked for and another value is here.
        case notAnArray
        /// A string was asked for and another value is here.
        case notAString
        /// A number was asked for and another value is here.
        case notANumber
        /// True or false was asked for and another value is here.
        case notABoolean
        /// Null was asked for and another value is here.
        case notNull
        /// The document has no value at the key path.
        case keyPathNotFound
        /// Arrays and objects are nested deeper than the options allow.
        case depthLimit
        /// One element is larger than the options allow.
        case elementSizeLimit
        /// The input is larger than the options allow.
        case totalSizeLimit
    }

    /// What is wrong.
    public let reason: Reason
    /// Bytes between the start of the cursor's input and the byte in question.
    public let byteOffset: Int

    /// Makes a fault at an offset in bytes.
    public init(_ reason: Reason, byteOffset: Int) {
        self.reason = reason
        self.byteOffset = byteOffset
    }
}
