import Foundation

/// Makes one of two values of any type.
struct ProbeValue {
    /// Which of the two values.
    let bit: Bool
    /// The number of objects around the value.
    let depth: Int
    /// Collects the parts of the type; nil inside of related objects.
    var parts: ProbedParts?

    private static var maximumDepth: Int { 16 }

    /// Makes the value of a type.
    ///
    /// - Parameter key: The key of the value, with a question mark if it may be missing; nil, the
    ///   default, for a value without a key.
    func value<T: Decodable>(_ type: T.Type, at key: String? = nil) throws -> T {
        guard depth <= Self.maximumDepth else {
            throw ProbeFailure(reason: "its objects contain each other without end; use Related")
        }
        parts?.add(type, at: key)
        if let known = type as? any AttributeRepresentable.Type, !(type is any RawRepresentable.Type) {
            guard let value = known.init(plain(known.attributeType)) as? T else {
                throw ProbeFailure(reason: "\(type) has no value for \(known.attributeType.rawValue)")
            }
            return value
        }
        if type is any SyncObject.Type {
            return try T(from: ProbeDecoder(nested: ProbeValue(bit: false, depth: depth + 1)))
        }
        if let cases = (type as? any CaseIterable.Type)?.cases, let value = (bit ? cases.last : cases.first) as? T {
            parts?.add(type, cases)
            return value
        }
        if let raw = type as? any RawRepresentable.Type, raw.rawType is any AttributeRepresentable.Type {
            return try rawValue(type)
        }
        return try T(
            from: ProbeDecoder(nested: ProbeValue(bit: bit, depth: depth + 1, parts: parts)))
    }

    /// The value of an attribute's type.
    private func plain(_ type: AttributeType) -> AttributeValue {
        switch type {
        case .int16, .int32, .int64: .int(bit ? 2 : 1)
        case .double, .float: .double(bit ? 2 : 1)
        case .decimal: .decimal(bit ? 2 : 1)
        case .string: .string(bit ? "b" : "a")
        case .bool: .bool(bit)
        case .date: .date(Timestamp(microseconds: bit ? 2_000_000 : 1_000_000))
        case .binary, .transformable: .binary(Data([bit ? 2 : 1]))
        case .uuid:
            .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, bit ? 2 : 1)))
        case .json: CanonicalJSON(bit ? "2" : "1").map { .json($0) } ?? .null
        case .uri: .uri(bit ? "probe:b" : "probe:a")
        }
    }

    /// A value of a type with raw values. Which raw values it accepts is unknown.
    private func rawValue<T: Decodable>(_ type: T.Type) throws -> T {
        var found: T?
        for raw in Self.rawCandidates {
            guard let value = try? T(from: RawProbe(value: raw)) else { continue }
            if found != nil { return bit ? value : found ?? value }
            found = value
        }
        guard let found else {
            throw ProbeFailure(reason: "the raw values of \(type) are unknown; make it CaseIterable")
        }
        return found
    }

    private static let rawCandidates: [AttributeValue] =
        (0..<64).map { .int($0) } + [.string("a"), .string("b"), .string("")] + (0..<2).map { .double(Double($0)) }
}

/// The reason why there is no value of a type.
struct ProbeFailure: Error, CustomStringConvertible {
    let reason: String
    var description: String { reason }
}

/// The parts of the type of a property. Used by one thread, as ``ProbeLog`` is.
final class ProbedParts {
    /// The type and the types inside of it, as texts, each after its key.
    private(set) var types: Set<String> = []
    /// The raw values of all cases of the enumerations, without repetitions.
    private(set) var cases: [AttributeValue] = []
    private var enumerations: Set<ObjectIdentifier> = []

    /// Values that are hardly a case of an enumeration. A type that can hold one of them holds any.
    static let inventions: [AttributeValue] = [.string("\u{FFFD}"), .int(-7919), .int(113)]

    /// Adds a type.
    func add(_ type: any Any.Type, at key: String?) {
        types.insert(key.map { "\($0) \(type)" } ?? "\(type)")
    }

    /// Adds the cases of a type, if they have raw values.
    func add(_ type: any Any.Type, _ all: [Any]) {
        guard enumerations.insert(ObjectIdentifier(type)).inserted else { return }
        for case let raw as any RawRepresentable in all {
            guard let value = (raw.rawValue as? any AttributeValue.Convertible)?.value, !cases.contains(value) else {
                continue
            }
            cases.append(value)
        }
    }
}

extension CaseIterable {
    fileprivate static var cases: [Any] { Array(allCases) }
}

/// A decoder of one raw value.
private struct RawProbe: Decoder, SingleValueDecodingContainer {
    let value: AttributeValue
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    func container<K: CodingKey>(keyedBy type: K.Type) throws -> KeyedDecodingContainer<K> {
        throw ProbeFailure(reason: "not a raw value")
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw ProbeFailure(reason: "not a raw value") }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { false }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard let known = type as? any AttributeRepresentable.Type, let made = known.init(value) as? T else {
            throw ProbeFailure(reason: "not a raw value")
        }
        return made
    }
}
