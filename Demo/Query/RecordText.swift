import Foundation
import HTTPTransfer
import JSONMapper
import SyncModel

/// Texts of the values of a record, for people.
enum RecordText {
    /// The maximum number of characters of a value.
    private static let limit = 200

    /// Returns the table cell of a property.
    static func cell(_ property: String, of record: Record) -> TextTable.Cell {
        if record.layout.relationship(property) != nil {
            return TextTable.Cell(text(record[related: property]))
        }
        let value = record[property]
        return value.isNull ? TextTable.Cell("null", .faint) : TextTable.Cell(text(value))
    }

    /// Returns the text of a value on one line, such as `2014-05-01T00:00:00Z`.
    static func text(_ value: AttributeValue) -> String {
        switch value {
        case .null: return "null"
        case .string(let text), .uri(let text): return PrintableText.line(text, limit: limit)
        case .bool(let flag): return flag ? "true" : "false"
        case .int(let number): return "\(number)"
        case .double(let number): return "\(number)"
        case .decimal(let number): return "\(number)"
        case .uuid(let uuid): return uuid.uuidString
        case .date(let moment):
            guard DateText.hasText(moment.microseconds) else { return "null" }
            return DateText.text(moment.microseconds, fraction: .shortest)
        case .json(let json): return PrintableText.line(json.text, limit: limit)
        case .binary(let data):
            // An array or an object in a binary attribute is kept as its JSON text.
            guard data.count <= 4 * limit, let text = String(data: data, encoding: .utf8),
                (try? JSONValue(parsing: text)) != nil
            else { return Quantity.bytes(data.count) }
            return PrintableText.line(text, limit: limit)
        }
    }

    /// Returns the text of a key, such as `7` or `7, "en"`.
    static func text(_ key: Record.Key) -> String {
        switch key {
        case .identity(let values): values.map(text).joined(separator: ", ")
        case .object: "(no key)"
        }
    }

    /// Returns the keys of related objects.
    static func text(_ targets: Record.Targets?) -> String {
        switch targets {
        case nil, .one(nil): return "null"
        case .one(let key?): return text(key)
        case .many(let keys):
            let texts = keys.prefix(8).map(text)
            return PrintableText.line(
                "[\(texts.joined(separator: ", "))\(keys.count > 8 ? ", … \(keys.count) in all" : "")]", limit: limit)
        }
    }
}

extension EntityLayout {
    /// The properties that JSON has, in order. Inference adds hashes and inverse relationships.
    var dataProperties: [String] {
        attributes.filter { !Self.isAdded($0.userInfo) }.map(\.name)
            + relationships.filter { !Self.isAdded($0.declaration.userInfo) }.map(\.name)
    }

    /// Whether the key of objects is a hash of their content, which says nothing to a person.
    var isIdentifiedByContent: Bool {
        identityColumns.contains { attributes[$0].userInfo[JSONDialect.contentHashAnnotation] != nil }
    }

    private static func isAdded(_ userInfo: [String: String]) -> Bool {
        userInfo[JSONDialect.contentHashAnnotation] != nil || userInfo[JSONDialect.unmappedAnnotation] != nil
    }

    /// Whether a property is a number.
    func isNumeric(_ property: String) -> Bool {
        column(of: property).map { [.int16, .int32, .int64, .double, .float, .decimal].contains(attributes[$0].type) }
            ?? false
    }

    /// Whether a property is a date.
    func isDate(_ property: String) -> Bool {
        column(of: property).map { attributes[$0].type == .date } ?? false
    }
}
