import Foundation
import SyncBase
import SyncModel

// Conversions by the attribute's type. Any other value is of the wrong type. Null stays null.
//
//                  string                        number                         true, false
//   int…           a number's text               exact and in range             1, 0
//   double, float  a number's text               nearest                        1, 0
//   decimal        a number's text               exact                          1, 0
//   string         unchanged                     its text ("1" for 1.0)         "true", "false"
//   bool           "true", "false", a number's   not 0                          unchanged
//   date           ISO 8601, a Unix timestamp    a Unix timestamp
//   uuid           its 36 characters
//   uri            unchanged
//   binary         any value, arrays and objects too, as its JSON text
//   json           any value, arrays and objects too
extension ElementMapper {
    /// Reads the next value into an attribute. Handles the common cases inline.
    ///
    /// - Returns: Whether mapping of the element continues.
    @inline(__always)
    mutating func take(
        _ cursor: inout JSONCursor, _ field: EntityMapping.Field, entry: Int
    ) throws(JSONFault) -> Bool {
        let byte = try cursor.significant()
        switch field.converter {
        case .string:
            if byte == ASCII.quote {
                let text = try cursor.readString()
                guard text.isEscaped else {
                    group.records.setString(text.bytes, at: field.column)
                    return true
                }
                text.withUTF8 { group.records.setString($0, at: field.column) }
                return true
            }
        case .int:
            if ASCII.isDigit(byte) || byte == ASCII.minus {
                let number = try cursor.scanNumber()
                if let value = number.int64, field.range.contains(value) {
                    group.records.setInt(value, at: field.column)
                    return true
                }
                return tolerate(.outOfRange(field.type), contract.outOfRange, field, entry: entry, found: .number)
            }
        case .double:
            if ASCII.isDigit(byte) || byte == ASCII.minus {
                let number = try cursor.scanNumber()
                if let value = number.double {
                    group.records.setDouble(value, at: field.column)
                    if number.mantissa > 1 << 53 { noteRounding(number, value, field, entry: entry) }
                    return true
                }
                return tolerate(.outOfRange(field.type), contract.outOfRange, field, entry: entry, found: .number)
            }
        case .date:
            if byte == ASCII.quote {
                let text = try cursor.readString()
                let date =
                    field.dateStyle < 0
                    ? DateText.microseconds(text)
                    : text.withUTF8 { mapping.dateStyles[field.dateStyle].microseconds($0) }
                if let microseconds = date {
                    group.records.setDate(Timestamp(microseconds: microseconds), at: field.column)
                    if mapping.reportsConversions, field.dateStyle < 0 {
                        noteSpelling(text, of: microseconds, field, entry: entry)
                    }
                    return true
                }
                return tolerate(.unreadableDate, contract.unreadableDate, field, entry: entry, found: .string)
            }
        case .bool:
            if byte == ASCII.t || byte == ASCII.f {
                group.records.setBool(try cursor.readBool(), at: field.column)
                return true
            }
        case .float, .decimal, .binary, .uuid, .uri, .json, .transformed, .restricted, .none: break
        }
        return try takeOther(&cursor, field, entry: entry)
    }

    @inline(never)
    private mutating func takeOther(
        _ cursor: inout JSONCursor, _ field: EntityMapping.Field, entry: Int
    ) throws(JSONFault) -> Bool {
        switch field.converter {
        case .none:
            try cursor.skipValue()
            return true
        case .transformed:
            if try cursor.takeNull() { break }
            return try transform(&cursor, field, entry: entry)
        case .int, .double, .float, .decimal, .string, .bool, .date, .binary, .uuid, .uri, .json, .restricted:
            if try cursor.takeNull() { break }
            return try convert(&cursor, field, entry: entry)
        }
        clear(field.column)
        return true
    }

    // MARK: Conversions

    /// Converts the next value, which is not null, without a transformer.
    ///
    /// - Returns: Whether mapping of the element continues.
    private mutating func convert(
        _ cursor: inout JSONCursor, _ field: EntityMapping.Field, entry: Int
    ) throws(JSONFault) -> Bool {
        var problem: MappingError.Problem.Reason?
        let kind = try cursor.kind()
        switch (field.plain, kind) {
        case (.binary, _):
            group.records.setBinary(try cursor.rawValue().bytes, at: field.column)
            problem = nil
        case (.json, _):
            let reading = group.records.setJSON(reading: try cursor.rawValue().bytes, at: field.column)
            if reading == .withoutRepeatedKeys { noteRepeatedInside(field, entry: entry) }
            problem = reading == .failed ? .outOfRange(field.type) : nil
        case (_, .string): problem = try cursor.readString().withUTF8 { convertText($0, field) }
        case (_, .number): problem = convertNumber(try cursor.readNumber(), field)
        case (_, .boolean): problem = convertBool(try cursor.readBool(), field)
        case (_, .null), (_, .array), (_, .object):
            try cursor.skipValue()
            problem = .wrongType(field.type)
        }
        if problem == nil, let refusal = refusal(of: group.records.openValue(at: field.column), at: field.column) {
            group.records.removeValue(at: field.column)
            problem = refusal
        }
        guard let problem else {
            if field.reportsConversions, field.converts(kind) { noteConversion(field, entry: entry, found: kind) }
            return true
        }
        let action =
            switch problem {
            case .unreadableDate: contract.unreadableDate
            case .outOfRange: contract.outOfRange
            default: contract.wrongType
            }
        return tolerate(problem, action, field, entry: entry, found: kind)
    }

    /// Why a value of an attribute's type is not allowed; nil if it is.
    func refusal(of value: @autoclosure () -> AttributeValue?, at column: Int) -> MappingError.Problem.Reason? {
        guard let restriction = mapping.restrictions[column], let value = value(), !value.isNull,
            !restriction.allows(value)
        else { return nil }
        return .notAllowed(String("\(value)".prefix(200)), allowed: restriction.values)
    }

    private mutating func convertText(
        _ text: UnsafeBufferPointer<UInt8>, _ field: EntityMapping.Field
    ) -> MappingError.Problem.Reason? {
        switch field.plain {
        case .string: group.records.setString(text, at: field.column)
        case .uri: group.records.setURI(text, at: field.column)
        case .uuid:
            guard let uuid = UUID(utf8: text) else { return .wrongType(field.type) }
            group.records.setUUID(uuid, at: field.column)
        case .date:
            let date =
                field.dateStyle < 0
                ? DateText.microseconds(text) : mapping.dateStyles[field.dateStyle].microseconds(text)
            guard let microseconds = date else { return .unreadableDate }
            group.records.setDate(Timestamp(microseconds: microseconds), at: field.column)
        case .bool:
            if let flag = Self.flag(text) {
                group.records.setBool(flag, at: field.column)
                return nil
            }
            return convertNumberText(text, field)
        case .int, .double, .float, .decimal: return convertNumberText(text, field)
        case .binary, .json, .transformed, .restricted, .none: return .wrongType(field.type)
        }
        return nil
    }

    private mutating func convertNumber(
        _ number: JSONNumber, _ field: EntityMapping.Field
    ) -> MappingError.Problem.Reason? {
        switch field.plain {
        case .int:
            guard let value = number.int64, field.range.contains(value) else { return .outOfRange(field.type) }
            group.records.setInt(value, at: field.column)
        case .double:
            guard let value = number.double else { return .outOfRange(field.type) }
            group.records.setDouble(value, at: field.column)
            if number.mantissa > 1 << 53 { noteRounding(number, value, field, entry: -1) }
        case .float:
            guard let value = number.double, Float(value).isFinite else { return .outOfRange(field.type) }
            group.records.setDouble(Double(Float(value)), at: field.column)
        case .decimal:
            guard group.records.setDecimal(number.text.bytes, at: field.column) else { return .outOfRange(field.type) }
        case .bool: group.records.setBool(number.mantissa != 0, at: field.column)
        case .date:
            let date =
                field.dateStyle < 0
                ? DateText.microseconds(number) : mapping.dateStyles[field.dateStyle].microseconds(number)
            guard let microseconds = date else { return .unreadableDate }
            group.records.setDate(Timestamp(microseconds: microseconds), at: field.column)
        case .string:
            // Equal numbers have equal texts: a key that arrives as 1, as 1.0 and as "1" is the
            // same key.
            if let value = number.int64 {
                group.records.setText(value.description, at: field.column)
            } else if number.isInteger {
                group.records.setString(number.text.bytes, at: field.column)
            } else if let value = number.double {
                group.records.setText(value.description, at: field.column)
            } else {
                group.records.setString(number.text.bytes, at: field.column)
            }
        case .uuid, .uri, .binary, .json, .transformed, .restricted, .none: return .wrongType(field.type)
        }
        return nil
    }

    private mutating func convertBool(_ flag: Bool, _ field: EntityMapping.Field) -> MappingError.Problem.Reason? {
        switch field.plain {
        case .bool: group.records.setBool(flag, at: field.column)
        case .int: group.records.setInt(flag ? 1 : 0, at: field.column)
        case .double, .float: group.records.setDouble(flag ? 1 : 0, at: field.column)
        case .decimal: group.records.setValue(.decimal(flag ? 1 : 0), at: field.column)
        case .string: group.records.setText(flag ? "true" : "false", at: field.column)
        case .date, .uuid, .uri, .binary, .json, .transformed, .restricted, .none: return .wrongType(field.type)
        }
        return nil
    }

    /// Converts the text of a number.
    ///
    /// Unlike a JSON number, it may have white space around it, a plus sign, leading zeros, and no
    /// digit before the decimal point.
    private mutating func convertNumberText(
        _ text: UnsafeBufferPointer<UInt8>, _ field: EntityMapping.Field
    ) -> MappingError.Problem.Reason? {
        guard text.contains(where: ASCII.isDigit) else { return .wrongType(field.type) }
        var rest = text.drop(while: ASCII.isWhitespace)
        while let last = rest.last, ASCII.isWhitespace(last) { rest.removeLast() }
        var number: [UInt8] = []
        if let sign = rest.first, sign == ASCII.minus || sign == ASCII.plus {
            rest.removeFirst()
            if sign == ASCII.minus { number.append(sign) }
        }
        while rest.first == ASCII.zero { rest.removeFirst() }
        if rest.first.map(ASCII.isDigit) != true { number.append(ASCII.zero) }
        number += rest
        return number.withUnsafeBufferPointer { number in
            guard let start = number.baseAddress else { return .wrongType(field.type) }
            var cursor = JSONCursor(start: start, end: start + number.count, options: JSONReader.Options())
            guard let read = try? cursor.readNumber(), cursor.byteOffset == number.count else {
                return .wrongType(field.type)
            }
            return convertNumber(read, field)
        }
    }

    private static func flag(_ text: UnsafeBufferPointer<UInt8>) -> Bool? {
        guard text.count == 4 || text.count == 5 else { return nil }
        let word = text.map { $0 | 0x20 }
        if word.elementsEqual("true".utf8) { return true }
        return word.elementsEqual("false".utf8) ? false : nil
    }

    // MARK: Transformers

    private mutating func transform(
        _ cursor: inout JSONCursor, _ field: EntityMapping.Field, entry: Int
    ) throws(JSONFault) -> Bool {
        let json = try JSONValue(&cursor, exactDecimals: field.type == .decimal || field.type == .json)
        guard let transformer = mapping.transformers[field.column] else { return true }
        do {
            return try store(try transformer.forward(json) ?? .null, field, entry: entry)
        } catch {
            let name = mapping.keys.attributes[field.column].transformerName ?? ""
            return tolerate(.refused(by: name, ErrorText.describing(error)), contract.wrongType, field, entry: entry)
        }
    }

    /// Stores the result of a transformer. A value of another type is converted by the rules for
    /// JSON.
    private mutating func store(_ value: AttributeValue, _ field: EntityMapping.Field, entry: Int) throws -> Bool {
        if field.type.accepts(value) {
            if let refusal = refusal(of: value, at: field.column) {
                return tolerate(refusal, contract.wrongType, field, entry: entry)
            }
            group.records.setValue(value, at: field.column)
            return true
        }
        var writer = JSONWriter()
        try writer.value(value)
        let bytes = writer.bytes
        return try bytes.withUnsafeBufferPointer { bytes in
            guard field.type != .transformable else {
                group.records.setBinary(bytes, at: field.column)
                return true
            }
            guard let start = bytes.baseAddress else { return true }
            var cursor = JSONCursor(start: start, end: start + bytes.count, options: JSONReader.Options())
            return try convert(&cursor, field, entry: entry)
        }
    }
}

extension EntityMapping.Field {
    /// Whether an accepted value of a kind is stored as a value of another kind.
    fileprivate func converts(_ kind: JSONKind) -> Bool {
        switch (plain, kind) {
        case (.string, .string), (.uri, .string), (.uuid, .string), (.date, .string): false
        case (.int, .number), (.double, .number), (.float, .number), (.decimal, .number), (.bool, .boolean): false
        // A date attribute with an annotated style accepts only that style.
        case (.date, .number): dateStyle < 0
        case (.binary, _), (.json, _), (.transformed, _), (.restricted, _), (.none, _): false
        default: true
        }
    }
}

extension RecordBatch {
    fileprivate mutating func setText(_ text: String, at column: Int) {
        var text = text
        text.withUTF8 { setString($0, at: column) }
    }
}

extension UUID {
    /// Creates a UUID from 36 characters: 8, 4, 4, 4 and 12 hexadecimal digits in either case,
    /// separated by hyphens.
    fileprivate init?(utf8 text: UnsafeBufferPointer<UInt8>) {
        guard text.count == 36 else { return nil }
        var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        let isRead = withUnsafeMutableBytes(of: &uuid) { bytes in
            var index = 0
            for byte in bytes.indices {
                if index == 8 || index == 13 || index == 18 || index == 23 {
                    guard text[index] == ASCII.minus else { return false }
                    index += 1
                }
                guard let high = ASCII.hexValue(text[index]), let low = ASCII.hexValue(text[index + 1]) else {
                    return false
                }
                bytes[byte] = UInt8(truncatingIfNeeded: high << 4 | low)
                index += 2
            }
            return true
        }
        guard isRead else { return nil }
        self.init(uuid: uuid)
    }
}
