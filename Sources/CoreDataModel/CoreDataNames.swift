import Foundation
import SyncModel

extension AttributeType {
    private static let coreDataNames: [(type: AttributeType, name: String)] = [
        (.int16, "Integer 16"), (.int32, "Integer 32"), (.int64, "Integer 64"), (.double, "Double"),
        (.float, "Float"), (.decimal, "Decimal"), (.string, "String"), (.bool, "Boolean"), (.date, "Date"),
        (.binary, "Binary"), (.uuid, "UUID"), (.uri, "URI"), (.transformable, "Transformable"),
    ]

    /// The type that a model file means; nil for one that a `DataModel` does not have.
    init?(coreDataName: String) {
        guard let found = Self.coreDataNames.first(where: { $0.name == coreDataName }) else { return nil }
        self = found.type
    }

    /// What a model file calls the type.
    var coreDataName: String {
        Self.coreDataNames.first { $0.type == self }?.name ?? ""
    }

    /// The default that a model file states for an attribute of this type; nil where the text is
    /// none.
    ///
    /// - Parameters:
    ///   - text: As it stands in the file.
    ///   - key: `defaultDateTimeInterval`, seconds since the first of January 2001, for dates; else
    ///     `defaultValueString`.
    func coreDataDefault(_ text: String, key: String) -> AttributeValue? {
        guard (self == .date) == (key == "defaultDateTimeInterval") else { return nil }
        let value: AttributeValue? =
            switch self {
            case .int16, .int32, .int64: Int64(text).map { .int($0) } ?? wholeNumber(text)
            case .double: Double(text).map { .double($0) }
            case .float: Float(text).map { .double(Double($0)) }
            case .decimal: decimal(text).map { .decimal($0) }
            case .string: .string(text)
            case .bool: Self.flags[text.lowercased()].map { .bool($0) }
            case .date: moment(text)
            case .uuid: UUID(uuidString: text).map { .uuid($0) }
            case .uri: .uri(text)
            case .binary, .transformable: nil
            }
        return value.flatMap { accepts($0) ? $0 : nil }
    }

    private static let flags = ["yes": true, "true": true, "1": true, "no": false, "false": false, "0": false]

    /// The editor writes a whole default as `0.0` at times.
    private func wholeNumber(_ text: String) -> AttributeValue? {
        Double(text).flatMap { Int64(exactly: $0) }.map { .int($0) }
    }

    /// The whole text as a decimal; Foundation alone would be content with its start.
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

/// Dates in model files.
enum CoreDataDate {
    /// DataModel files count from the first of January 2001, so many seconds after 1970.
    static let referenceSeconds: Decimal = 978_307_200

    /// What a model file says for a moment.
    static func text(of moment: Timestamp) -> String {
        (Decimal(moment.microseconds) / 1_000_000 - referenceSeconds).description
    }
}

extension SyncRelationship.DeleteRule {
    private static let coreDataNames: [(rule: SyncRelationship.DeleteRule, name: String)] = [
        (.nullify, "Nullify"), (.cascade, "Cascade"), (.deny, "Deny"), (.noAction, "No Action"),
    ]

    /// The rule that a model file means; nil where there is none of that name.
    init?(coreDataName: String) {
        guard let found = Self.coreDataNames.first(where: { $0.name == coreDataName }) else { return nil }
        self = found.rule
    }

    /// What a model file calls the rule.
    var coreDataName: String {
        Self.coreDataNames.first { $0.rule == self }?.name ?? ""
    }
}
