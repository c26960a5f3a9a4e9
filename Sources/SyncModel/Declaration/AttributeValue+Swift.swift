import Foundation

extension AttributeValue {
    /// Swift source of the value as an `AttributeValue`.
    var swiftLiteral: String {
        switch self {
        case .null: ".null"
        case .bool(let flag): "\(flag)"
        case .int(let number): "\(number)"
        case .double(let number): number.isFinite ? "\(number)" : ".double(\(Self.text(number)))"
        case .decimal(let number): ".decimal(Decimal(string: \"\(number)\") ?? 0)"
        case .string(let text): text.debugDescription
        case .date(let moment): ".date(Timestamp(microseconds: \(moment.microseconds)))"
        case .binary: ".binary(\(swiftValue ?? ""))"
        case .uuid: ".uuid(\(swiftValue ?? ""))"
        case .uri(let text): ".uri(\(text.debugDescription))"
        case .json(let json): "CanonicalJSON(\(json.text.debugDescription))?.value ?? .null"
        }
    }

    /// Swift source of the value in its own type, such as `Date`; nil if there is no exact source.
    var swiftValue: String? {
        switch self {
        case .bool(let flag): "\(flag)"
        case .int(let number): "\(number)"
        case .string(let text): text.debugDescription
        case .date(let moment): "Timestamp(microseconds: \(moment.microseconds)).date"
        case .binary(let data): "Data([\(data.map { "\($0)" }.joined(separator: ", "))])"
        case .uuid(let uuid):
            "UUID(uuid: (\(withUnsafeBytes(of: uuid.uuid) { $0.map { "\($0)" } }.joined(separator: ", "))))"
        case .null, .double, .decimal, .uri, .json: nil
        }
    }

    private static func text(_ number: Double) -> String {
        number.isNaN ? ".nan" : number < 0 ? "-.infinity" : ".infinity"
    }
}
