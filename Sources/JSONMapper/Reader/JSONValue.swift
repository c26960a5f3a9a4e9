/// A JSON value as a tree.
///
/// Use it for small documents and for values that already exist as trees. Mapping JSON into a store
/// does not need it.
public enum JSONValue: Sendable, Equatable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A whole number that fits in an `Int64`.
    case integer(Int64)
    /// A whole number above `Int64.max` that fits in a `UInt64`.
    case unsigned(UInt64)
    /// Any other number as the nearest double; also `-0`.
    case double(Double)
    /// The text of a number.
    ///
    /// Used for a number that no other case can hold and, if exact decimals are requested, for
    /// every number with a fraction or an exponent.
    case decimal(String)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object, with its keys in the order of the input.
    case object(JSONValue.Object)

    /// Creates a value by parsing a document.
    ///
    /// - Parameters:
    ///   - bytes: The document as UTF-8.
    ///   - options: Parsing choices and limits. For a repeated key, the last value wins and the
    ///     first position is kept.
    ///   - exactDecimals: Whether a number with a fraction or an exponent is kept as
    ///     ``decimal(_:)``; false by default.
    /// - Throws: ``JSONError`` if the document is malformed or exceeds a limit.
    public init(
        parsing bytes: [UInt8], options: JSONReader.Options = JSONReader.Options(), exactDecimals: Bool = false
    ) throws {
        let reader = JSONReader(bytes: bytes, layout: .document, options: options)
        var value: JSONValue?
        while let next = try reader.next({ cursor in try JSONValue(&cursor, exactDecimals: exactDecimals) }) {
            value = next
        }
        guard let value else {
            throw JSONError(
                .unexpectedEnd, JSONError.Location(byteOffset: bytes.count, line: 1, column: bytes.count + 1))
        }
        self = value
    }

    /// Creates a value by parsing a document.
    ///
    /// - Parameters:
    ///   - text: The document.
    ///   - options: Parsing choices and limits. For a repeated key, the last value wins and the
    ///     first position is kept.
    ///   - exactDecimals: Whether a number with a fraction or an exponent is kept as
    ///     ``decimal(_:)``; false by default.
    /// - Throws: ``JSONError`` if the document is malformed or exceeds a limit.
    public init(parsing text: String, options: JSONReader.Options = JSONReader.Options(), exactDecimals: Bool = false)
        throws
    {
        try self.init(parsing: Array(text.utf8), options: options, exactDecimals: exactDecimals)
    }

    /// Creates a value by reading the next one of a cursor.
    ///
    /// Recursive; the depth is at most ``JSONReader/Options/maximumDepth``.
    ///
    /// - Parameters:
    ///   - cursor: The cursor, which advances past the value.
    ///   - exactDecimals: Whether a number with a fraction or an exponent is kept as
    ///     ``decimal(_:)``; false by default.
    /// - Throws: ``JSONFault`` if the value is malformed.
    package init(_ cursor: inout JSONCursor, exactDecimals: Bool = false) throws(JSONFault) {
        switch try cursor.kind() {
        case .null:
            try cursor.readNull()
            self = .null
        case .boolean: self = .bool(try cursor.readBool())
        case .string: self = .string(try cursor.readString().string)
        case .number: self.init(try cursor.readNumber(), exactDecimals: exactDecimals)
        case .array:
            var elements: [JSONValue] = []
            try cursor.beginArray()
            while try cursor.nextElement() {
                elements.append(try JSONValue(&cursor, exactDecimals: exactDecimals))
            }
            self = .array(elements)
        case .object:
            var object = JSONValue.Object()
            try cursor.beginObject()
            while let key = try cursor.nextKey() {
                let name = key.string
                object[name] = try JSONValue(&cursor, exactDecimals: exactDecimals)
            }
            self = .object(object)
        }
    }

    /// Creates a value from a number, with the most exact case that can hold it.
    package init(_ number: JSONNumber, exactDecimals: Bool = false) {
        if number.isInteger, !(number.isNegative && number.mantissa == 0) {
            if let value = number.int64 {
                self = .integer(value)
            } else if let value = number.uint64 {
                self = .unsigned(value)
            } else {
                self = .decimal(number.text.string)
            }
        } else if !exactDecimals || number.isInteger, let value = number.double {
            self = .double(value)
        } else {
            self = .decimal(number.text.string)
        }
    }

    /// The value of a key; nil if this is not an object or does not have the key.
    public subscript(key: String) -> JSONValue? {
        if case .object(let object) = self { object[key] } else { nil }
    }

    /// The element at an index; nil if this is not an array or the index is out of range.
    public subscript(index: Int) -> JSONValue? {
        if case .array(let elements) = self, elements.indices.contains(index) { elements[index] } else { nil }
    }
}
