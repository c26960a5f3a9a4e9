extension Record {
    /// Decodes the record as a type whose coding keys are the names of attributes and
    /// relationships.
    ///
    ///     struct User: Codable {
    ///         var id: Int
    ///         var email: String?
    ///         var company: Int?
    ///         var notes: [Int]
    ///     }
    ///     let user = try record.decode(User.self)
    ///
    /// - Numbers are converted if the conversion loses nothing.
    /// - `Date`, `Data`, `UUID`, `URL` and `Decimal` are decoded from attributes of their kind;
    ///   `UUID` and `URL` also from text.
    /// - A JSON attribute is decoded as any type, by `CanonicalJSON.decode(_:)`.
    /// - A `RawRepresentable` type is decoded from its raw value.
    /// - A relationship is decoded as the identity of its targets if that is a single value: one
    ///   value for a to-one relationship, an array for a to-many one.
    /// - An optional property of the type may be missing from the entity. A relationship that was
    ///   not loaded counts as missing.
    ///
    /// - Throws: `Record.CodingError` with the property, or an error of the type's own decoding.
    public func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try T(from: RecordDecoder(record: self))
    }
}

/// A decoder that provides a type with the properties of a record.
private struct RecordDecoder: Decoder {
    let record: Record
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    func container<K: CodingKey>(keyedBy type: K.Type) throws -> KeyedDecodingContainer<K> {
        KeyedDecodingContainer(Properties<K>(record: record))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw Record.CodingError.unsupportedShape(entity: record.entityName, property: nil)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        throw Record.CodingError.unsupportedShape(entity: record.entityName, property: nil)
    }

    /// The properties of the record, by name.
    private struct Properties<K: CodingKey>: KeyedDecodingContainerProtocol {
        let record: Record
        let codingPath: [any CodingKey] = []

        var allKeys: [K] {
            let layout = record.layout
            return (layout.attributes.map(\.name) + layout.relationships.map(\.name)).compactMap(K.init(stringValue:))
        }

        func contains(_ key: K) -> Bool {
            find(key) != nil
        }

        func decodeNil(forKey key: K) throws -> Bool {
            switch find(key) {
            case .value(.null), nil: true
            case .value, .values: false
            }
        }

        func decode<T: Decodable>(_ type: T.Type, forKey key: K) throws -> T {
            guard let found = find(key) else {
                throw Record.CodingError.unknownProperty(entity: record.entityName, property: key.stringValue)
            }
            return try PropertyDecoder(content: found, entity: record.entityName, key: key).decode(type)
        }

        private func find(_ key: K) -> PropertyContent? {
            if let column = record.layout.column(of: key.stringValue) { return .value(record[column: column]) }
            guard let relationship = record.layout.relationship(key.stringValue) else { return nil }
            switch record[relationship: relationship.index] {
            case nil: return nil
            case .one(let target): return .value(target?.singleValue ?? .null)
            case .many(let targets): return .values(targets.map { $0.singleValue ?? .null })
            }
        }

        func nestedContainer<N: CodingKey>(keyedBy: N.Type, forKey key: K) throws -> KeyedDecodingContainer<N> {
            throw Record.CodingError.unsupportedShape(entity: record.entityName, property: key.stringValue)
        }

        func nestedUnkeyedContainer(forKey key: K) throws -> any UnkeyedDecodingContainer {
            throw Record.CodingError.unsupportedShape(entity: record.entityName, property: key.stringValue)
        }

        func superDecoder() throws -> any Decoder {
            RecordDecoder(record: record)
        }

        func superDecoder(forKey key: K) throws -> any Decoder {
            throw Record.CodingError.unsupportedShape(entity: record.entityName, property: key.stringValue)
        }
    }
}

/// A decoder that provides a type with the content of one property.
private struct PropertyDecoder: Decoder, SingleValueDecodingContainer {
    let content: PropertyContent
    let entity: String
    let key: any CodingKey
    let userInfo: [CodingUserInfoKey: Any] = [:]

    var codingPath: [any CodingKey] {
        [key]
    }

    func container<K: CodingKey>(keyedBy type: K.Type) throws -> KeyedDecodingContainer<K> {
        throw Record.CodingError.unsupportedShape(entity: entity, property: key.stringValue)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .values(let values) = content else {
            throw Record.CodingError.unsupportedShape(entity: entity, property: key.stringValue)
        }
        return ValuesDecoder(values: values, entity: entity, key: key)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        self
    }

    func decodeNil() -> Bool {
        if case .value(.null) = content { true } else { false }
    }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        if case .value(.json(let json)) = content {
            let direct = (type as? any AttributeValue.Initializable.Type)?.init(.json(json))
            if let direct = direct as? T { return direct }
            return try own { try json.decode(type) }
        }
        guard case .value(let value) = content, let convertible = type as? any AttributeValue.Initializable.Type else {
            return try own { try T(from: self) }
        }
        guard !value.isNull else { throw Record.CodingError.missingValue(entity: entity, property: key.stringValue) }
        guard let decoded = convertible.init(value) as? T else {
            throw Record.CodingError.wrongType(entity: entity, property: key.stringValue, type: "\(type)")
        }
        return decoded
    }

    /// Runs a type's own decoding. A `DecodingError` contains the value, so it is replaced.
    private func own<T>(_ decode: () throws -> T) throws -> T {
        do { return try decode() } catch is DecodingError {
            throw Record.CodingError.wrongType(entity: entity, property: key.stringValue, type: "\(T.self)")
        }
    }
}

extension Decodable {
    /// Whether a type that stands for one value can be decoded from a value.
    static func canHoldSingle(_ value: AttributeValue) -> Bool {
        let decoder = PropertyDecoder(content: .value(value), entity: "", key: UnnamedProperty.value)
        return (try? decoder.decode(Self.self)) != nil
    }
}

/// The key of a value that is decoded without a record.
private enum UnnamedProperty: CodingKey {
    case value
}

/// A decoder that provides a type with the identities of a to-many relationship's targets.
private struct ValuesDecoder: UnkeyedDecodingContainer {
    let values: [AttributeValue]
    let entity: String
    let key: any CodingKey
    private(set) var currentIndex = 0

    init(values: [AttributeValue], entity: String, key: any CodingKey) {
        self.values = values
        self.entity = entity
        self.key = key
    }

    var codingPath: [any CodingKey] {
        [key]
    }

    var count: Int? {
        values.count
    }

    var isAtEnd: Bool {
        currentIndex == values.count
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, values[currentIndex].isNull else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard !isAtEnd else { throw Record.CodingError.missingValue(entity: entity, property: key.stringValue) }
        let element = PropertyDecoder(content: .value(values[currentIndex]), entity: entity, key: key)
        let decoded = try element.decode(type)
        currentIndex += 1
        return decoded
    }

    mutating func nestedContainer<K: CodingKey>(keyedBy type: K.Type) throws -> KeyedDecodingContainer<K> {
        throw Record.CodingError.unsupportedShape(entity: entity, property: key.stringValue)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw Record.CodingError.unsupportedShape(entity: entity, property: key.stringValue)
    }

    mutating func superDecoder() throws -> any Decoder {
        throw Record.CodingError.unsupportedShape(entity: entity, property: key.stringValue)
    }
}

extension Record.Key {
    /// The identity if it is a single value; otherwise nil.
    fileprivate var singleValue: AttributeValue? {
        if case .identity(let values) = self, values.count == 1 { values[0] } else { nil }
    }
}
