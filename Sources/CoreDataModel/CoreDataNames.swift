import Foundation
import SyncModel

extension AttributeType {
    /// The annotation of an attribute whose type does not exist in model files; its value is
    /// `json`.
    static let typeAnnotation = "sync.type"

    /// A name that occurs several times stands for the first type that has it.
    private static let coreDataNames: [(type: AttributeType, name: String)] = [
        (.int16, "Integer 16"), (.int32, "Integer 32"), (.int64, "Integer 64"), (.double, "Double"),
        (.float, "Float"), (.decimal, "Decimal"), (.string, "String"), (.bool, "Boolean"), (.date, "Date"),
        (.binary, "Binary"), (.uuid, "UUID"), (.uri, "URI"), (.transformable, "Transformable"),
        (.json, "String"),
    ]

    /// The type of an attribute that consists of several values, which `DataModel` stores together
    /// as JSON.
    static let compositeCoreDataName = "Composite"

    /// Creates the type with a name in a model file; nil for a type that `DataModel` lacks.
    init?(coreDataName: String) {
        if coreDataName == Self.compositeCoreDataName {
            self = .json
            return
        }
        guard let found = Self.coreDataNames.first(where: { $0.name == coreDataName }) else { return nil }
        self = found.type
    }

    /// The name of the type in a model file.
    var coreDataName: String {
        Self.coreDataNames.first { $0.type == self }?.name ?? ""
    }

    /// Parses the default value of an attribute of this type; nil if the text is not such a value.
    ///
    /// - Parameters:
    ///   - text: The text of the XML attribute.
    ///   - key: The name of the XML attribute: `defaultDateTimeInterval`, in seconds since
    ///     2001-01-01T00:00:00Z, for dates; otherwise `defaultValueString`.
    func coreDataDefault(_ text: String, key: String) -> AttributeValue? {
        guard (self == .date) == (key == "defaultDateTimeInterval") else { return nil }
        let value: AttributeValue? =
            switch self {
            case .int16, .int32, .int64: Int64(text).map { .int($0) } ?? wholeNumber(text)
            case .double: Double(text).flatMap { $0.isFinite ? .double($0) : nil }
            case .float: Float(text).flatMap { $0.isFinite ? .double(Double($0)) : nil }
            case .decimal: decimal(text).map { .decimal($0) }
            case .string: .string(text)
            case .bool: Self.flags[text.lowercased()].map { .bool($0) }
            case .date: moment(text)
            case .uuid: UUID(uuidString: text).map { .uuid($0) }
            case .uri: .uri(text)
            case .json: CanonicalJSON(text).map { .json($0) }
            case .binary, .transformable: nil
            }
        return value.flatMap { accepts($0) ? $0 : nil }
    }

    /// The Boolean values by their lowercase spellings in model files.
    static let flags = ["yes": true, "true": true, "1": true, "no": false, "false": false, "0": false]

    /// Parses an integer with a fraction of zero; the Xcode editor sometimes writes `0.0`.
    private func wholeNumber(_ text: String) -> AttributeValue? {
        Double(text).flatMap { Int64(exactly: $0) }.map { .int($0) }
    }

    /// Parses a complete text as a decimal; Foundation accepts a text that only starts with one.
    private func decimal(_ text: String) -> Decimal? {
        let bytes = Array(text.utf8)
        let number = Set("+-.eE0123456789".utf8)
        guard bytes.allSatisfy(number.contains), Double(text) != nil else { return nil }
        return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
    }

    private func moment(_ text: String) -> AttributeValue? {
        guard let seconds = decimal(text) else { return nil }
        var exact = (seconds + CoreDataDate.referenceSeconds) * 1_000_000
        var rounded = Decimal()
        NSDecimalRound(&rounded, &exact, 0, .plain)
        return Int64(rounded.description).map { .date(Timestamp(microseconds: $0)) }
    }
}

/// The conversion of dates in model files.
enum CoreDataDate {
    /// The seconds from 1970 to 2001-01-01T00:00:00Z, the reference date of model files.
    static let referenceSeconds: Decimal = 978_307_200

    /// Returns the text of a date in a model file.
    static func text(of moment: Timestamp) -> String {
        (Decimal(moment.microseconds) / 1_000_000 - referenceSeconds).description
    }
}

extension SyncRelationship.DeleteRule {
    private static let coreDataNames: [(rule: SyncRelationship.DeleteRule, name: String)] = [
        (.nullify, "Nullify"), (.cascade, "Cascade"), (.deny, "Deny"), (.noAction, "No Action"),
    ]

    /// Creates the delete rule with a name in a model file; nil for an unknown name.
    init?(coreDataName: String) {
        guard let found = Self.coreDataNames.first(where: { $0.name == coreDataName }) else { return nil }
        self = found.rule
    }

    /// The name of the delete rule in a model file.
    var coreDataName: String {
        Self.coreDataNames.first { $0.rule == self }?.name ?? ""
    }
}
