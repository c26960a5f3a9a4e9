import Foundation

extension SyncAttribute {
    /// The annotation of the allowed values; see ``allowedValues``.
    package static let allowedValuesAnnotation = "sync.allowedValues"

    /// The values that the attribute may have, beside null; empty, the default, for any value.
    ///
    /// A mapping treats another value of the JSON as one that does not fit. Stores do not check it,
    /// so a change of the list needs no migration. A sync after a change reads its list again.
    ///
    /// It is stored as the annotation `sync.allowedValues`, a JSON array such as
    /// `["open", "closed"]`.
    public var allowedValues: [AttributeValue] {
        get { userInfo[Self.allowedValuesAnnotation].flatMap(Self.values) ?? [] }
        set { userInfo[Self.allowedValuesAnnotation] = newValue.isEmpty ? nil : Self.text(of: newValue) }
    }

    /// The values that an annotation lists; nil if it is no list of values.
    static func values(parsing text: String) -> [AttributeValue]? {
        try? JSONDecoder().decode([AttributeValue].self, from: Data(text.utf8))
    }

    private static func text(of values: [AttributeValue]) -> String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return (try? encoder.encode(values)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The rule for values; nil if all values of the attribute's type are allowed.
    package var restriction: Restriction? {
        let values = allowedValues
        return values.isEmpty && typeLimits.type == nil ? nil : Restriction(values: values, type: typeLimits.type)
    }

    /// What decides about the values that a mapping lets through: the listed ones, and the parts of
    /// the Swift type. A source is read again when there is more of it.
    package var knownLimits: [AttributeValue] { allowedValues + typeLimits.parts }

    /// A rule that allows some values of an attribute.
    package struct Restriction: Sendable {
        /// The listed values; empty if only a Swift type decides.
        package let values: [AttributeValue]
        private let set: Set<AttributeValue>
        /// A type that may hold more values, such as `UInt8`, or an enumeration that is decoded
        /// from several spellings of a case.
        private let type: (any Any.Type)?

        fileprivate init(values: [AttributeValue], type: (any Any.Type)?) {
            self.values = values
            set = Set(values)
            self.type = type
        }

        /// Whether a value other than null is allowed.
        package func allows(_ value: AttributeValue) -> Bool {
            if set.contains(value) { return true }
            return (type as? any Decodable.Type)?.canHold(value) ?? false
        }

        /// Whether exactly the numbers in ``SyncAttribute/integerRange`` are allowed.
        package var isRange: Bool { values.isEmpty && type is any FixedWidthInteger.Type }
    }
}

extension Decodable {
    /// Whether a typed read could decode a value as this type.
    static func canHold(_ value: AttributeValue) -> Bool {
        guard AttributeType.isSingleValue(Self.self) else {
            let json: Data
            switch value {
            // By far the most common type, which a decoder would take microseconds for.
            case .json(let value) where Self.self == [String].self: return value.isListOfStrings
            case .json(let value): json = Data(value.text.utf8)
            case .binary(let data): json = data
            case .string(let text), .uri(let text): json = Data(text.utf8)
            default: return false
            }
            return (try? CanonicalJSON.decode(Self.self, from: json)) != nil
        }
        return canHoldSingle(value)
    }
}
