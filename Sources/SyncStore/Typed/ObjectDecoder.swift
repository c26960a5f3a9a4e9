import Foundation
import SyncModel

/// Decodes objects from the rows of a batch.
///
/// One decoder serves all rows of a batch and reuses the container that the type requests, so that
/// an object needs no allocation of its own. It is used by one thread, while the batch is open.
final class ObjectDecoder: Decoder, SingleValueDecodingContainer {
    /// Where the value of a slot comes from.
    enum Access: UInt8 {
        case cell, json, toOne, toMany, notIncluded, missing
    }

    let entity: String
    let names: [String]
    /// The current row.
    var row = 0
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    private let reader: RecordBatch.Reader
    private let types: [ObjectIdentifier]
    private let accesses: [Access]
    private let columns: [Int]
    private let related: [AnyObject?]
    private let indices: [String: Int]
    private var container: AnyObject?
    /// The slot of the value that a single-value container decodes.
    private var current = 0

    init(_ reader: RecordBatch.Reader, _ content: ObjectContent) {
        self.reader = reader
        entity = content.entity
        names = content.names
        types = content.types
        accesses = content.accesses
        columns = content.columns
        related = content.related
        indices = content.indices
    }

    /// Ends the use of the decoder.
    func close() {
        // The container refers to the decoder.
        container = nil
    }

    // MARK: Slots

    /// The slot of a property; -1 if there is none.
    func slot(named name: String) -> Int { indices[name] ?? -1 }

    func isPresent(_ slot: Int) -> Bool {
        slot >= 0 && accesses[slot] != .missing
    }

    @inline(__always)
    func isNull(_ slot: Int) -> Bool {
        guard slot >= 0 else { return true }
        switch accesses[slot] {
        case .cell, .json, .toOne: return reader.kind(row: row, slot: columns[slot]).isEmpty
        case .toMany, .notIncluded: return false
        case .missing: return true
        }
    }

    // MARK: Values

    @inline(__always)
    func integer<Number: FixedWidthInteger & AttributeValue.Initializable>(_ slot: Int) throws -> Number {
        let column = columns[slot]
        if column >= 0, reader.kind(row: row, slot: column) == .int,
            let number = Number(exactly: reader.int(row: row, slot: column))
        {
            return number
        }
        return try plain(slot)
    }

    @inline(__always)
    func double(_ slot: Int) throws -> Double {
        let column = columns[slot]
        if column >= 0, reader.kind(row: row, slot: column) == .double { return reader.double(row: row, slot: column) }
        return try plain(slot)
    }

    @inline(__always)
    func bool(_ slot: Int) throws -> Bool {
        let column = columns[slot]
        if column >= 0, reader.kind(row: row, slot: column) == .bool { return reader.bool(row: row, slot: column) }
        return try plain(slot)
    }

    @inline(__always)
    func string(_ slot: Int) throws -> String {
        let column = columns[slot]
        if column >= 0, reader.kind(row: row, slot: column) == .string {
            return String(decoding: reader.bytes(row: row, slot: column), as: UTF8.self)
        }
        return try plain(slot)
    }

    @inline(__always)
    private func date(_ slot: Int) throws -> Date {
        let column = columns[slot]
        if column >= 0, reader.kind(row: row, slot: column) == .date {
            return reader.date(row: row, slot: column).date
        }
        return try plain(slot)
    }

    /// A value of any convertible type.
    func plain<T: AttributeValue.Initializable>(_ slot: Int) throws -> T {
        guard accesses[slot] == .cell else { throw wrongType(T.self, slot) }
        let value = reader.value(row: row, slot: columns[slot]) ?? .null
        guard !value.isNull else { throw missingValue(slot) }
        guard let converted = T(value) else { throw wrongType(T.self, slot) }
        return converted
    }

    /// A value of a type that a keyed container has no own function for.
    ///
    /// Each kind has a function of its own, which is not inlined, because the type's metadata that
    /// any of them needs would be looked up for all.
    @inline(__always)
    func value<T: Decodable>(_ type: T.Type, _ slot: Int) throws -> T {
        switch accesses[slot] {
        // The types are equal, so the cast changes nothing.
        case .cell where type == Date.self: unsafeBitCast(try date(slot), to: type)
        case .cell: try cellValue(type, slot)
        case .json: try jsonValue(type, slot)
        case .toOne, .toMany, .notIncluded: try relatedValue(type, slot)
        case .missing: throw missingValue(slot)
        }
    }

    @inline(never)
    private func cellValue<T: Decodable>(_ type: T.Type, _ slot: Int) throws -> T {
        if type == UUID.self { return unsafeBitCast(try plain(slot) as UUID, to: type) }
        if let convertible = type as? any AttributeValue.Initializable.Type {
            return try converted(convertible, slot)
        }
        current = slot
        do { return try T(from: self) } catch is DecodingError { throw wrongType(type, slot) }
    }

    @inline(never)
    private func jsonValue<T: Decodable>(_ type: T.Type, _ slot: Int) throws -> T {
        guard !isNull(slot) else { throw missingValue(slot) }
        let bytes = reader.bytes(row: row, slot: columns[slot])
        do { return try JSONDecoder().decode(type, from: Data(bytes)) } catch is DecodingError {
            throw wrongType(type, slot)
        }
    }

    /// What an object leads to, or the value for nothing.
    @inline(never)
    private func relatedValue<T>(_ type: T.Type, _ slot: Int) throws -> T {
        guard types[slot] == ObjectIdentifier(type), let loaded = related[slot] else { throw wrongType(type, slot) }
        // The values were loaded for the slot's type, which is `T`.
        let values = unsafeDowncast(loaded, to: RelatedValues<T>.self)
        let object: ObjectID? =
            switch accesses[slot] {
            case .toOne: isNull(slot) ? nil : reader.int(row: row, slot: columns[slot])
            case .toMany: reader.int(row: row, slot: 0)
            default: nil
            }
        guard let index = values.index(of: object) else { throw missingValue(slot) }
        return values[index]
    }

    private func missingValue(_ slot: Int) -> Record.CodingError {
        .missingValue(entity: entity, property: names[slot])
    }

    private func wrongType(_ type: Any.Type, _ slot: Int) -> Record.CodingError {
        .wrongType(entity: entity, property: names[slot], type: "\(type)")
    }

    private func converted<T, V: AttributeValue.Initializable>(_ type: V.Type, _ slot: Int) throws -> T {
        guard let value = try plain(slot) as V as? T else { throw wrongType(T.self, slot) }
        return value
    }

    // MARK: Containers

    /// A container for one type of keys.
    private final class KeyedBox<K: CodingKey> {
        let container: KeyedDecodingContainer<K>
        init(_ container: KeyedDecodingContainer<K>) { self.container = container }
    }

    private var keyType: ObjectIdentifier?

    func container<K: CodingKey>(keyedBy type: K.Type) throws -> KeyedDecodingContainer<K> {
        if keyType == ObjectIdentifier(type), let container {
            // The box was created for this type of keys.
            return unsafeDowncast(container, to: KeyedBox<K>.self).container
        }
        return makeContainer(type)
    }

    @inline(never)
    private func makeContainer<K: CodingKey>(_ type: K.Type) -> KeyedDecodingContainer<K> {
        let made = KeyedDecodingContainer(ObjectProperties<K>(keys: KeyTable(self)))
        container = KeyedBox(made)
        keyType = ObjectIdentifier(type)
        return made
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw Record.CodingError.unsupportedShape(entity: entity, property: nil)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { isNull(current) }

    func decode(_ type: String.Type) throws -> String { try string(current) }

    func decode(_ type: Int.Type) throws -> Int { try integer(current) }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        if let convertible = type as? any AttributeValue.Initializable.Type {
            return try converted(convertible, current)
        }
        return try T(from: self)
    }
}

/// The slots of a batch, and the related objects of all its rows.
struct ObjectContent {
    let entity: String
    let names: [String]
    let types: [ObjectIdentifier]
    let accesses: [ObjectDecoder.Access]
    let columns: [Int]
    let related: [AnyObject?]
    let indices: [String: Int]

    init<Object>(_ plan: ObjectPlan<Object>, related: [AnyObject?]) {
        entity = plan.layout.name
        names = plan.slots.map(\.name)
        types = plan.slots.map { ObjectIdentifier($0.type) }
        indices = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
        self.related = related
        accesses = plan.slots.map { slot in
            switch slot.source {
            case .cell: slot.isJSON ? .json : .cell
            case .toOne: .toOne
            case .toMany: .toMany
            case .notIncluded: .notIncluded
            case .missing: .missing
            }
        }
        columns = plan.slots.map { slot in
            switch slot.source {
            case .cell(let column, _), .toOne(let column): column
            case .toMany, .notIncluded, .missing: -1
            }
        }
    }
}

extension ObjectPlan.Slot {
    /// Whether the attribute holds a value of several parts as JSON.
    fileprivate var isJSON: Bool {
        !(type is any AttributeRepresentable.Type) && !(type is any RawRepresentable.Type)
    }
}

extension RecordBatch.CellKind {
    /// Whether the cell holds no value.
    @inline(__always)
    fileprivate var isEmpty: Bool { self == .null || self == .absent }
}
