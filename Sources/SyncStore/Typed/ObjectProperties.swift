import SyncModel

/// The properties of the current object of an `ObjectDecoder`.
struct ObjectProperties<K: CodingKey>: KeyedDecodingContainerProtocol {
    let keys: KeyTable

    private var cells: UnsafeMutablePointer<ObjectCells> { keys.cells }

    private var decoder: ObjectDecoder { cells.pointee.decoder }

    var codingPath: [any CodingKey] { [] }

    var allKeys: [K] { decoder.names.compactMap(K.init(stringValue:)) }

    func contains(_ key: K) -> Bool {
        cells.pointee.isPresent(keys.property(key))
    }

    func decodeNil(forKey key: K) throws -> Bool { cells.pointee.isNull(keys.property(key)) }

    func decode<T: Decodable>(_ type: T.Type, forKey key: K) throws -> T {
        try cells.pointee.value(type, try keys.knownProperty(key))
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: K) throws -> T? {
        let property = keys.property(key)
        return cells.pointee.isNull(property) ? nil : try cells.pointee.value(type, property)
    }

    func decode(_ type: Bool.Type, forKey key: K) throws -> Bool {
        try cells.pointee.bool(try keys.knownProperty(key))
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: K) throws -> Bool? {
        let property = keys.property(key)
        return cells.pointee.isNull(property) ? nil : try cells.pointee.bool(property)
    }

    func decode(_ type: String.Type, forKey key: K) throws -> String {
        try cells.pointee.string(try keys.knownProperty(key))
    }

    func decodeIfPresent(_ type: String.Type, forKey key: K) throws -> String? {
        let property = keys.property(key)
        return cells.pointee.isNull(property) ? nil : try cells.pointee.string(property)
    }

    func decode(_ type: Double.Type, forKey key: K) throws -> Double {
        try cells.pointee.double(try keys.knownProperty(key))
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: K) throws -> Double? {
        let property = keys.property(key)
        return cells.pointee.isNull(property) ? nil : try cells.pointee.double(property)
    }

    func decode(_ type: Float.Type, forKey key: K) throws -> Float {
        try decoder.plain(try keys.knownProperty(key))
    }

    func decodeIfPresent(_ type: Float.Type, forKey key: K) throws -> Float? {
        let property = keys.property(key)
        return cells.pointee.isNull(property) ? nil : try decoder.plain(property)
    }

    // MARK: Integers

    @inline(__always)
    private func integer<Value: FixedWidthInteger & AttributeValue.Initializable>(_ key: K) throws -> Value {
        try cells.pointee.integer(try keys.knownProperty(key))
    }

    @inline(__always)
    private func integerIfPresent<Value: FixedWidthInteger & AttributeValue.Initializable>(_ key: K) throws -> Value? {
        let property = keys.property(key)
        return cells.pointee.isNull(property) ? nil : try cells.pointee.integer(property)
    }

    func decode(_ type: Int.Type, forKey key: K) throws -> Int { try integer(key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: K) throws -> Int? { try integerIfPresent(key) }
    func decode(_ type: Int8.Type, forKey key: K) throws -> Int8 { try integer(key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: K) throws -> Int8? { try integerIfPresent(key) }
    func decode(_ type: Int16.Type, forKey key: K) throws -> Int16 { try integer(key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: K) throws -> Int16? { try integerIfPresent(key) }
    func decode(_ type: Int32.Type, forKey key: K) throws -> Int32 { try integer(key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: K) throws -> Int32? { try integerIfPresent(key) }
    func decode(_ type: Int64.Type, forKey key: K) throws -> Int64 { try integer(key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: K) throws -> Int64? { try integerIfPresent(key) }
    func decode(_ type: UInt.Type, forKey key: K) throws -> UInt { try integer(key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: K) throws -> UInt? { try integerIfPresent(key) }
    func decode(_ type: UInt8.Type, forKey key: K) throws -> UInt8 { try integer(key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: K) throws -> UInt8? { try integerIfPresent(key) }
    func decode(_ type: UInt16.Type, forKey key: K) throws -> UInt16 { try integer(key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: K) throws -> UInt16? { try integerIfPresent(key) }
    func decode(_ type: UInt32.Type, forKey key: K) throws -> UInt32 { try integer(key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: K) throws -> UInt32? { try integerIfPresent(key) }
    func decode(_ type: UInt64.Type, forKey key: K) throws -> UInt64 { try integer(key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: K) throws -> UInt64? { try integerIfPresent(key) }

    // MARK: Shapes that records do not have

    func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: K) throws -> KeyedDecodingContainer<N> {
        throw Record.CodingError.unsupportedShape(entity: decoder.entity, property: key.stringValue)
    }

    func nestedUnkeyedContainer(forKey key: K) throws -> any UnkeyedDecodingContainer {
        throw Record.CodingError.unsupportedShape(entity: decoder.entity, property: key.stringValue)
    }

    func superDecoder() throws -> any Decoder { decoder }

    func superDecoder(forKey key: K) throws -> any Decoder {
        throw Record.CodingError.unsupportedShape(entity: decoder.entity, property: key.stringValue)
    }
}
