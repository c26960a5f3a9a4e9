import Foundation

extension Record {
    /// Sets properties of the record from a value whose coding keys are their names.
    ///
    /// The counterpart of `decode(_:)`. Values are converted to the types of the attributes if the
    /// conversion loses nothing; only a `float` attribute rounds. A relationship is set from the
    /// identity of its targets: one value for a to-one relationship, an array for a to-many one. A
    /// JSON attribute is set from a value of any type, as `CanonicalJSON(encoding:)` encodes it.
    /// Properties that the value does not encode are unchanged, such as nil properties with a
    /// synthesized conformance.
    ///
    /// - Throws: `Record.CodingError` with the property, or an error of the value's own encoding.
    ///   The record is then unchanged.
    public mutating func encode(_ value: some Encodable) throws {
        try encode(value) { _, _ in false }
    }

    /// Sets properties of the record from a value; see ``encode(_:)``.
    ///
    /// - Parameter take: Receives the name and the value of each property first. The record does
    ///   not change for a property for which it returns true.
    package mutating func encode(
        _ value: some Encodable, except take: (String, any Encodable) throws -> Bool
    ) throws {
        self = try withoutActuallyEscaping(take) { take in
            let encoder = RecordEncoder(record: self, take: take)
            try value.encode(to: encoder)
            return encoder.record
        }
    }
}

/// An encoder that collects the properties of a record from a value.
private final class RecordEncoder: Encoder {
    fileprivate var record: Record
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    /// Receives each property first, and returns whether it has taken it.
    private let take: (String, any Encodable) throws -> Bool

    init(record: Record, take: @escaping (String, any Encodable) throws -> Bool) {
        self.record = record
        self.take = take
    }

    func container<K: CodingKey>(keyedBy type: K.Type) -> KeyedEncodingContainer<K> {
        KeyedEncodingContainer(Properties<K>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        Refusal(error: .unsupportedShape(entity: record.entityName, property: nil))
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        Refusal(error: .unsupportedShape(entity: record.entityName, property: nil))
    }

    func set(_ content: PropertyContent, for name: String) throws {
        if let column = record.layout.column(of: name) {
            let type = record.layout.attributes[column].type
            guard case .value(let value) = content, let fitted = type.fitted(value) else {
                throw Record.CodingError.wrongType(entity: record.entityName, property: name, type: type.rawValue)
            }
            record[column: column] = fitted
        } else if let relationship = record.layout.relationship(name) {
            switch (content, relationship.isToMany) {
            case (.value(let value), false):
                record[relationship: relationship.index] = .one(value.isNull ? nil : .identity([value]))
            case (.values(let values), true):
                record[relationship: relationship.index] = .many(values.map { .identity([$0]) })
            case (.value, true), (.values, false):
                throw Record.CodingError.wrongType(
                    entity: record.entityName, property: name, type: relationship.declaration.destination)
            }
        } else {
            throw Record.CodingError.unknownProperty(entity: record.entityName, property: name)
        }
    }

    /// The properties of the record, by name.
    private struct Properties<K: CodingKey>: KeyedEncodingContainerProtocol {
        let encoder: RecordEncoder
        let codingPath: [any CodingKey] = []

        func encodeNil(forKey key: K) throws {
            try encoder.set(.value(.null), for: key.stringValue)
        }

        func encode(_ value: some Encodable, forKey key: K) throws {
            if try encoder.take(key.stringValue, value) { return }
            let layout = encoder.record.layout
            if let column = layout.column(of: key.stringValue), layout.attributes[column].type == .json {
                return try encoder.set(.value(try Self.json(value)), for: key.stringValue)
            }
            let property = PropertyEncoder(entity: encoder.record.entityName, key: key)
            try encoder.set(try property.content(of: value), for: key.stringValue)
        }

        /// The JSON form of a value of any type.
        private static func json(_ value: some Encodable) throws -> AttributeValue {
            switch (value as? any AttributeValue.Convertible)?.value {
            case .null: .null
            case .json(let json): json.value
            default: try CanonicalJSON(encoding: value).value
            }
        }

        private func refusal(_ key: K) -> Refusal {
            Refusal(error: .unsupportedShape(entity: encoder.record.entityName, property: key.stringValue))
        }

        func nestedContainer<N: CodingKey>(keyedBy: N.Type, forKey key: K) -> KeyedEncodingContainer<N> {
            KeyedEncodingContainer(KeyedRefusal<N>(refusal: refusal(key)))
        }

        func nestedUnkeyedContainer(forKey key: K) -> any UnkeyedEncodingContainer {
            refusal(key)
        }

        func superEncoder() -> any Encoder {
            encoder
        }

        func superEncoder(forKey key: K) -> any Encoder {
            refusal(key)
        }
    }
}

/// The content of one property.
enum PropertyContent {
    case value(AttributeValue)
    case values([AttributeValue])
}

/// An encoder that collects the content of one property.
private final class PropertyEncoder: Encoder, SingleValueEncodingContainer, UnkeyedEncodingContainer {
    private let entity: String
    private let key: any CodingKey
    private var taken: PropertyContent?
    let userInfo: [CodingUserInfoKey: Any] = [:]

    init(entity: String, key: any CodingKey) {
        self.entity = entity
        self.key = key
    }

    var codingPath: [any CodingKey] {
        [key]
    }

    func content(of value: some Encodable) throws -> PropertyContent {
        if let convertible = value as? any AttributeValue.Convertible { return .value(convertible.value) }
        if let number = value as? any FixedWidthInteger {
            guard let fitting = Int64(exactly: number) else {
                throw Record.CodingError.wrongType(entity: entity, property: key.stringValue, type: "int64")
            }
            return .value(.int(fitting))
        }
        try value.encode(to: self)
        guard let taken else { throw Record.CodingError.unsupportedShape(entity: entity, property: key.stringValue) }
        return taken
    }

    func container<K: CodingKey>(keyedBy type: K.Type) -> KeyedEncodingContainer<K> {
        KeyedEncodingContainer(KeyedRefusal<K>(refusal: refusal))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        taken = .values([])
        return self
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        self
    }

    /// The number of elements collected from a list; 0 for a single value.
    var count: Int {
        if case .values(let values) = taken { values.count } else { 0 }
    }

    func encodeNil() throws {
        add(.null)
    }

    func encode(_ value: some Encodable) throws {
        guard case .value(let single) = try PropertyEncoder(entity: entity, key: key).content(of: value) else {
            throw Record.CodingError.unsupportedShape(entity: entity, property: key.stringValue)
        }
        add(single)
    }

    private func add(_ value: AttributeValue) {
        if case .values(let values) = taken {
            taken = .values(values + [value])
        } else {
            taken = .value(value)
        }
    }

    private var refusal: Refusal {
        Refusal(error: .unsupportedShape(entity: entity, property: key.stringValue))
    }

    func nestedContainer<K: CodingKey>(keyedBy keyType: K.Type) -> KeyedEncodingContainer<K> {
        KeyedEncodingContainer(KeyedRefusal<K>(refusal: refusal))
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        refusal
    }

    func superEncoder() -> any Encoder {
        refusal
    }
}

/// A container that throws when a value is encoded, because requesting a container cannot throw.
private struct Refusal: Encoder, SingleValueEncodingContainer, UnkeyedEncodingContainer {
    let error: Record.CodingError
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    let count = 0

    func container<K: CodingKey>(keyedBy type: K.Type) -> KeyedEncodingContainer<K> {
        KeyedEncodingContainer(KeyedRefusal<K>(refusal: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { self }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func nestedContainer<K: CodingKey>(keyedBy type: K.Type) -> KeyedEncodingContainer<K> {
        container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }

    func superEncoder() -> any Encoder { self }

    func encodeNil() throws { throw error }

    func encode(_ value: some Encodable) throws { throw error }
}

/// The keyed counterpart of `Refusal`.
private struct KeyedRefusal<K: CodingKey>: KeyedEncodingContainerProtocol {
    let refusal: Refusal
    let codingPath: [any CodingKey] = []

    func encodeNil(forKey key: K) throws { throw refusal.error }

    func encode(_ value: some Encodable, forKey key: K) throws { throw refusal.error }

    func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: K) -> KeyedEncodingContainer<N> {
        refusal.container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: K) -> any UnkeyedEncodingContainer { refusal }

    func superEncoder() -> any Encoder { refusal }

    func superEncoder(forKey key: K) -> any Encoder { refusal }
}

extension AttributeType {
    /// Returns the value converted to this type, or nil if the conversion would lose information.
    package func fitted(_ value: AttributeValue) -> AttributeValue? {
        if accepts(value) { return value }
        let fitted: AttributeValue? =
            switch self {
            case .int16, .int32, .int64: Int64(value).map { .int($0) }
            case .double: Double(value).map { .double($0) }
            case .float: Float(value).map { .double(Double($0)) }
            case .decimal: Decimal(value).map { .decimal($0) }
            case .uuid: UUID(value).map { .uuid($0) }
            case .uri: String(value).map { .uri($0) }
            case .string: String(value).map { .string($0) }
            case .bool, .date, .binary, .json, .transformable: nil
            }
        guard let fitted, accepts(fitted) else { return nil }
        return fitted
    }
}
