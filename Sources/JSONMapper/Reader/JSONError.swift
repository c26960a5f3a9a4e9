public import Foundation
package import SyncBase

extension JSONError {
    /// A position in the input.
    public struct Location: Equatable, Sendable, CustomStringConvertible {
        /// The number of bytes before the position, including a byte order mark.
        public var byteOffset: Int
        /// The line number, starting at 1. Lines end with a line feed.
        public var line: Int
        /// The column number, starting at 1, in bytes.
        public var column: Int
        /// The key path of the innermost value around the position, such as
        /// `data.items[3].address`. Empty for the whole document.
        public var keyPath: String
        /// What a key path asked for, if there is nothing at it; nil for other errors.
        public var missing: JSONError.Missing?
        /// The first lists of the document, at most 8, as far as it was read; empty unless there
        /// is no list at the key path.
        public var lists: [JSONError.List]

        /// Creates a location.
        public init(
            byteOffset: Int, line: Int, column: Int, keyPath: String = "", missing: JSONError.Missing? = nil,
            lists: [JSONError.List] = []
        ) {
            self.byteOffset = byteOffset
            self.line = line
            self.column = column
            self.keyPath = keyPath
            self.missing = missing
            self.lists = lists
        }

        /// What a key path did not find, and the keys that are there, such as
        /// `there is nothing at data.list; data has items, total`; nil for other errors.
        package var missingText: String? {
            guard let missing else { return nil }
            let text = "there is nothing at \(missing.keyPath)"
            guard !missing.presentKeys.isEmpty else { return text }
            let keys = missing.presentKeys.joined(separator: ", ")
            return "\(text); \(keyPath.isEmpty ? "the JSON" : keyPath) has \(keys)"
        }

        /// The line, the column, the byte offset and, if there is one, the key path.
        public var description: String {
            let place = "line \(line), column \(column) (byte \(byteOffset))"
            return keyPath.isEmpty ? place : "\(place) at \(keyPath)"
        }
    }
}

extension JSONError {
    /// A key path at which there is nothing.
    public struct Missing: Equatable, Sendable {
        /// The key path that was asked for.
        public var keyPath: String
        /// The first keys, at most 8, of the object that lacks the next key of the path. Long keys
        /// are omitted.
        public var presentKeys: [String]

        /// Creates a description of a key path at which there is nothing.
        public init(keyPath: String, presentKeys: [String] = []) {
            self.keyPath = keyPath
            self.presentKeys = presentKeys
        }

        /// The maximum number of keys.
        static let keyCount = 8
        /// The maximum number of bytes of a key.
        private static let keyByteCount = 40

        /// The text of a key; nil if it is long or has control characters.
        static func name(_ key: JSONSlice) -> String? {
            guard key.bytes.count <= keyByteCount else { return nil }
            let name = key.string
            return name.unicodeScalars.contains { $0.properties.generalCategory == .control } ? nil : name
        }
    }
}

/// An error in reading or writing JSON.
public enum JSONError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The input is not valid JSON by RFC 8259 and the options.
    case malformed(JSONError.Reason, JSONError.Location)
    /// The input is valid JSON, but not of the requested kind.
    case mismatched(JSONError.Reason, JSONError.Location)
    /// The input exceeds a limit of the options.
    case exceeded(JSONError.Reason, JSONError.Location)
    /// A file cannot be opened or read. The code is the system's `errno`.
    case unreadableFile(path: String, code: Int32)
    /// The number to write is infinite or NaN, which JSON cannot express.
    case nonFiniteNumber

    init(_ reason: JSONError.Reason, _ location: JSONError.Location) {
        switch reason {
        case .depthLimit, .elementSizeLimit, .totalSizeLimit:
            self = .exceeded(reason, location)
        case .notAnObject, .notAnArray, .notAString, .notANumber, .notABoolean, .notNull,
            .keyPathNotFound:
            self = .mismatched(reason, location)
        case .unexpectedEnd, .unexpectedByte, .trailingContent, .invalidLiteral, .invalidNumber, .controlCharacter,
            .invalidEscape, .loneSurrogate, .invalidUTF8, .duplicateKey:
            self = .malformed(reason, location)
        }
    }

    /// The position of the error; nil for an unreadable file and for writing.
    public var location: JSONError.Location? {
        switch self {
        case .malformed(_, let location), .mismatched(_, let location), .exceeded(_, let location): location
        case .unreadableFile, .nonFiniteNumber: nil
        }
    }

    /// The cause of the error; nil for an unreadable file and for writing.
    public var reason: JSONError.Reason? {
        switch self {
        case .malformed(let reason, _), .mismatched(let reason, _), .exceeded(let reason, _): reason
        case .unreadableFile, .nonFiniteNumber: nil
        }
    }

    /// The reason and the position, without any value from the input but its keys.
    public var description: String {
        switch self {
        case .malformed(let reason, let location): "malformed JSON: \(reason) at \(location)"
        case .mismatched(let reason, let location):
            "unexpected JSON: \(location.missingText ?? "\(reason)") at \(location)"
                + (JSONError.List.text(location.lists).map { "; \($0)" } ?? "")
        case .exceeded(let reason, let location): "JSON beyond a limit: \(reason) at \(location)"
        case .unreadableFile(let path, let code): "cannot read \(path): \(String(cString: strerror(code)))"
        case .nonFiniteNumber: "JSON has no infinity and no NaN"
        }
    }
}

extension JSONError {
    /// The cause of an error in the input.
    public enum Reason: UInt8, CaseIterable, Sendable {
        /// The input ends inside a value, or has no value.
        case unexpectedEnd
        /// A byte is not allowed at this position.
        case unexpectedByte
        /// Content follows the end of the document.
        case trailingContent
        /// A literal is not `true`, `false` or `null`.
        case invalidLiteral
        /// A number violates RFC 8259, section 6, such as `01`, `1.` or `+1`.
        case invalidNumber
        /// A string has an unescaped byte below U+0020.
        case controlCharacter
        /// A backslash is not followed by an escape of RFC 8259, section 7.
        case invalidEscape
        /// An escaped surrogate lacks its counterpart.
        case loneSurrogate
        /// Bytes are not UTF-8: overlong, truncated, above U+10FFFF or an encoded surrogate.
        case invalidUTF8
        /// A key occurs twice in an object, and the options reject that.
        case duplicateKey
        /// An object was expected, but the value is of another kind.
        case notAnObject
        /// An array was expected, but the value is of another kind.
        case notAnArray
        /// A string was expected, but the value is of another kind.
        case notAString
        /// A number was expected, but the value is of another kind.
        case notANumber
        /// A boolean was expected, but the value is of another kind.
        case notABoolean
        /// Null was expected, but the value is of another kind.
        case notNull
        /// The document has no value at the key path.
        case keyPathNotFound
        /// Arrays and objects are nested deeper than ``JSONReader/Options/maximumDepth``.
        case depthLimit
        /// An element is larger than ``JSONReader/Options/maximumElementByteCount``.
        case elementSizeLimit
        /// The input is larger than ``JSONReader/Options/maximumTotalByteCount``.
        case totalSizeLimit
    }
}

extension JSONError.Reason: CustomStringConvertible {
    /// The cause in words, such as `no array`.
    public var description: String {
        switch self {
        case .unexpectedEnd: "the text ends too early"
        case .unexpectedByte: "unexpected character"
        case .trailingContent: "content after the end"
        case .invalidLiteral: "neither true, false nor null"
        case .invalidNumber: "invalid number"
        case .controlCharacter: "control character in a string"
        case .invalidEscape: "invalid escape"
        case .loneSurrogate: "half of a surrogate pair"
        case .invalidUTF8: "bytes that are not UTF-8"
        case .duplicateKey: "repeated key"
        case .notAnObject: "not an object"
        case .notAnArray: "not an array"
        case .notAString: "not a string"
        case .notANumber: "not a number"
        case .notABoolean: "neither true nor false"
        case .notNull: "not null"
        case .keyPathNotFound: "nothing at the key path"
        case .depthLimit: "too many levels"
        case .elementSizeLimit:
            "an element is larger than the option maximumElementByteCount, 64 MiB by default"
        case .totalSizeLimit: "the input is larger than JSONReader.Options.maximumTotalByteCount"
        }
    }
}

extension JSONError: LocalizedError {
    /// The description of the error, the same as `description`.
    public var errorDescription: String? { description }
}

extension JSONError: AreaError {
    package var errorArea: ErrorArea { .data }
}
