/// A JSON value as a tree, for small things and for whoever already has one; a store is fed without
/// it.
public enum JSONValue: Sendable, Equatable {
    /// `null`
    case null
    /// `true` or `false`
    case bool(Bool)
    /// A whole number that fits an `Int64`.
    case integer(Int64)
    /// A whole number above `Int64.max` that fits a `UInt64`.
    case unsigned(UInt64)
    /// Any other number, as the nearest double; also `-0`.
    case double(Double)
    /// A number kept as it is written: one too large for the others, and, if exact decimals were
    /// asked for, every one with a fraction or an exponent.
    case decimal(String)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object, its keys in the order they were written.
    case object(JSONObject)

    /// Parses one document.
    ///
    /// - Parameters:
    ///   - bytes: the document as UTF-8.
    ///   - options: what is accepted, and how much; of two equal keys the last one's value stays,
    ///     in the first one's place.
    ///   - exactDecimals: whether a number with a fraction or an exponent is kept as
    ///     ``decimal(_:)``; false by default.
    /// - Throws: ``JSONError``.
    public init(
        parsing bytes: [UInt8], options: JSONOptions = JSONOptions(), exactDecimals: Bool = false
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

    /// Parses one document.
    ///
    /// - Throws: ``JSONError``.
    public init(parsing text: String, options: JSONOptions = JSONOptions(), exactDecimals: Bool = false) throws {
        try self.init(parsing: Array(text.utf8), options: options, exactDecimals: exactDecimals)
    }

    /// Reads the value that comes next. Recursive as deep as ``JSONOptions/maximumDepth``, which is
    /// bounded.
    ///
    /// - Parameters:
    ///   - cursor: stands before the value, and after it when this returns.
    ///   - exactDecimals: as in ``init(parsing:options:exactDecimals:)``.
    /// - Throws: ``JSONFault`` if the value is not a legal one.
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
            var object = JSONObject()
            try cursor.beginObject()
            while let key = try cursor.nextKey() {
                let name = key.string
                object[name] = try JSONValue(&cursor, exactDecimals: exactDecimals)
            }
            self = .object(object)
        }
    }

    /// The number as the most exact of the cases that hold it.
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

    /// The value of a key, if this is an object that has it.
    public subscript(key: String) -> JSONValue? {
        if case .object(let object) = self { object[key] } else { nil }
    }

    /// The element at an index, if this is an array that has it.
    public subscript(index: Int) -> JSONValue? {
        if case .array(let elements) = self, elements.indices.contains(index) { elements[index] } else { nil }
    }
}
