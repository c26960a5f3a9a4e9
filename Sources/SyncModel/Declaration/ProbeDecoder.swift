/// A decoder that gives every property an invented value.
struct ProbeDecoder: Decoder {
    /// Where the properties of the examined type are collected; nil inside of them.
    private let log: ProbeLog?
    private let probe: ProbeValue
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    /// A decoder of the examined type.
    init(log: ProbeLog) {
        self.log = log
        probe = ProbeValue(bit: false, depth: 0)
    }

    /// A decoder of the value of a property.
    init(nested probe: ProbeValue) {
        log = nil
        self.probe = probe
    }

    func container<K: CodingKey>(keyedBy type: K.Type) throws -> KeyedDecodingContainer<K> {
        KeyedDecodingContainer(Keyed<K>(log: log, probe: probe))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try refuseUnlessNested()
        return List(probe: probe)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        try refuseUnlessNested()
        return Single(probe: probe)
    }

    private func refuseUnlessNested() throws {
        if log != nil { throw ProbeFailure(reason: "it is not coded by keys") }
    }

    private struct Keyed<K: CodingKey>: KeyedDecodingContainerProtocol {
        let log: ProbeLog?
        let probe: ProbeValue
        let codingPath: [any CodingKey] = []

        var allKeys: [K] {
            log == nil && probe.bit ? [K(stringValue: "a")].compactMap { $0 } : []
        }

        func contains(_ key: K) -> Bool { true }

        func decodeNil(forKey key: K) throws -> Bool { false }

        private func value<T: Decodable>(_ type: T.Type, _ key: K) throws -> T {
            guard let log else { return try probe.value(type, at: key.stringValue) }
            guard let value = try log.value(type, key.stringValue, isOptional: false) else {
                throw ProbeFailure(reason: "there is no value of \(type)")
            }
            return value
        }

        private func optionalValue<T: Decodable>(_ type: T.Type, _ key: K) throws -> T? {
            guard let log else {
                if type is any ObjectParts.RelatedValue.Type { return nil }
                return try probe.value(type, at: "\(key.stringValue)?")
            }
            return try log.value(type, key.stringValue, isOptional: true)
        }

        func decode<T: Decodable>(_ type: T.Type, forKey key: K) throws -> T { try value(type, key) }
        func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: K) throws -> T? { try optionalValue(type, key) }
        func decodeIfPresent(_ type: Bool.Type, forKey key: K) throws -> Bool? { try optionalValue(type, key) }
        func decodeIfPresent(_ type: String.Type, forKey key: K) throws -> String? { try optionalValue(type, key) }
        func decodeIfPresent(_ type: Double.Type, forKey key: K) throws -> Double? { try optionalValue(type, key) }
        func decodeIfPresent(_ type: Float.Type, forKey key: K) throws -> Float? { try optionalValue(type, key) }
        func decodeIfPresent(_ type: Int.Type, forKey key: K) throws -> Int? { try optionalValue(type, key) }
        func decodeIfPresent(_ type: Int8.Type, forKey key: K) throws -> Int8? { try optionalValue(type, key) }
        func decodeIfPresent(_ type: Int16.Type, forKey key: K) throws -> Int16? { try optionalValue(type, key) }
        func decodeIfPresent(_ type: Int32.Type, forKey key: K) throws -> Int32? { try optionalValue(type, key) }
        func decodeIfPresent(_ type: Int64.Type, forKey key: K) throws -> Int64? { try optionalValue(type, key) }
        func decodeIfPresent(_ type: UInt.Type, forKey key: K) throws -> UInt? { try optionalValue(type, key) }
        func decodeIfPresent(_ type: UInt8.Type, forKey key: K) throws -> UInt8? { try optionalValue(type, key) }
        func decodeIfPresent(_ type: UInt16.Type, forKey key: K) throws -> UInt16? { try optionalValue(type, key) }
        func decodeIfPresent(_ type: UInt32.Type, forKey key: K) throws -> UInt32? { try optionalValue(type, key) }
        func decodeIfPresent(_ type: UInt64.Type, forKey key: K) throws -> UInt64? { try optionalValue(type, key) }

        func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: K) throws -> KeyedDecodingContainer<N> {
            throw ProbeFailure(reason: "\(key.stringValue) is decoded by a nested container")
        }

        func nestedUnkeyedContainer(forKey key: K) throws -> any UnkeyedDecodingContainer {
            throw ProbeFailure(reason: "\(key.stringValue) is decoded by a nested container")
        }

        func superDecoder() throws -> any Decoder {
            throw ProbeFailure(reason: "it is decoded by a super decoder")
        }

        func superDecoder(forKey key: K) throws -> any Decoder { try superDecoder() }
    }

    private struct List: UnkeyedDecodingContainer {
        let probe: ProbeValue
        let codingPath: [any CodingKey] = []
        private(set) var currentIndex = 0

        init(probe: ProbeValue) {
            self.probe = probe
        }

        var count: Int? { probe.bit ? 1 : 0 }

        var isAtEnd: Bool { currentIndex >= (probe.bit ? 1 : 0) }

        mutating func decodeNil() throws -> Bool { false }

        mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
            guard !isAtEnd else { throw ProbeFailure(reason: "it is decoded from a list of a certain length") }
            currentIndex += 1
            return try probe.value(type)
        }

        mutating func nestedContainer<N: CodingKey>(keyedBy type: N.Type) throws -> KeyedDecodingContainer<N> {
            throw ProbeFailure(reason: "it is decoded by a nested container")
        }

        mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
            throw ProbeFailure(reason: "it is decoded by a nested container")
        }

        mutating func superDecoder() throws -> any Decoder {
            throw ProbeFailure(reason: "it is decoded by a super decoder")
        }
    }

    private struct Single: SingleValueDecodingContainer {
        let probe: ProbeValue
        let codingPath: [any CodingKey] = []

        func decodeNil() -> Bool { !probe.bit }

        func decode<T: Decodable>(_ type: T.Type) throws -> T { try probe.value(type) }
    }
}
