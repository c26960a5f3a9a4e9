public import Foundation

extension JSONError {
    /// Where in its input something was found.
    public struct Location: Equatable, Sendable, CustomStringConvertible {
        /// Bytes before it, a byte order mark included.
        public var byteOffset: Int
        /// Its line, from 1; lines end with a line feed.
        public var line: Int
        /// Its column, from 1, counted in bytes of the line.
        public var column: Int
        /// The way to the innermost value around it, such as `data.items[3].address`; empty for the
        /// whole document.
        public var keyPath: String

        /// Creates a location.
        public init(byteOffset: Int, line: Int, column: Int, keyPath: String = "") {
            self.byteOffset = byteOffset
            self.line = line
            self.column = column
            self.keyPath = keyPath
        }

        /// Line, column, byte offset and, where there is one, the key path.
        public var description: String {
            let place = "line \(line), column \(column) (byte \(byteOffset))"
            return keyPath.isEmpty ? place : "\(place) at \(keyPath)"
        }
    }
}

/// Why JSON could not be read or written.
public enum JSONError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The input is not JSON as RFC 8259 and the options define it.
    case malformed(JSONError.Reason, JSONError.Location)
    /// The input is JSON, but not of the kind that was asked for.
    case mismatched(JSONError.Reason, JSONError.Location)
    /// The input goes beyond a limit of the options.
    case exceeded(JSONError.Reason, JSONError.Location)
    /// A file cannot be opened or read; the code is the system's `errno`.
    case unreadableFile(path: String, code: Int32)
    /// A number that JSON cannot express, infinite or not a number, was to be written.
    case nonFiniteNumber

    init(_ reason: JSONError.Reason, _ location: JSONError.Location) {
        switch reason {
        case .depthLimit, .elementSizeLimit, .totalSizeLimit:
            self = .exceeded(reason, location)
        case .numberOutOfRange, .notAnObject, .notAnArray, .notAString, .notANumber, .notABoolean, .notNull,
            .keyPathNotFound:
            self = .mismatched(reason, location)
        case .unexpectedEnd, .unexpectedByte, .trailingContent, .invalidLiteral, .invalidNumber, .controlCharacter,
            .invalidEscape, .loneSurrogate, .invalidUTF8, .duplicateKey:
            self = .malformed(reason, location)
        }
    }

    /// Where it happened; nil for an unreadable file and for writing.
    public var location: JSONError.Location? {
        switch self {
        case .malformed(_, let location), .mismatched(_, let location), .exceeded(_, let location): location
        case .unreadableFile, .nonFiniteNumber: nil
        }
    }

    /// What is wrong with the input; nil for an unreadable file and for writing.
    public var reason: JSONError.Reason? {
        switch self {
        case .malformed(let reason, _), .mismatched(let reason, _), .exceeded(let reason, _): reason
        case .unreadableFile, .nonFiniteNumber: nil
        }
    }

    /// The reason and the place, without any value of the input.
    public var description: String {
        switch self {
        case .malformed(let reason, let location): "malformed JSON: \(reason) at \(location)"
        case .mismatched(let reason, let location): "unexpected JSON: \(reason) at \(location)"
        case .exceeded(let reason, let location): "JSON beyond a limit: \(reason) at \(location)"
        case .unreadableFile(let path, let code): "cannot read \(path): error \(code)"
        case .nonFiniteNumber: "JSON has no infinity and no NaN"
        }
    }
}

extension JSONError {
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
}

extension JSONError: LocalizedError {
    /// The error as a readable sentence, the same as `description`.
    public var errorDescription: String? {
        description
    }
}
