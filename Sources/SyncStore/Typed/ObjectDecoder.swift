import Foundation
import SyncModel

/// Decodes objects from the rows of a batch.
///
/// One decoder serves all rows of a batch and reuses the container that the type requests, so that
/// an object needs no allocation of its own. It is used by one thread, while the batch is open. Its
/// containers are valid as long as the decoder.
final class ObjectDecoder: Decoder, SingleValueDecodingContainer {
    let entity: String
    let names: [String]
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    /// The cells of the current object, shared with the containers.
    private let cells: UnsafeMutablePointer<ObjectCells>
    /// Keeps the related values that the cells refer to.
    private let related: [RelatedPlaces?]
    /// The containers by the type of their keys.
    private var containers: [ObjectIdentifier: AnyObject] = [:]
    /// The type of the keys of the latest container.
    private var keyType: ObjectIdentifier?
    /// The latest container, which ``containers`` keeps.
    private var container: UnsafeRawPointer?
    /// The property of the value that a single-value container decodes.
    private var current = 0

    init(_ reader: RecordBatch.Reader, _ content: ObjectContent) {
        entity = content.entity
        names = content.names
        related = content.related
        cells = .allocate(capacity: 1)
        let loaded = content.related.map { $0.map(Unmanaged.passUnretained) }
        cells.initialize(
            to: ObjectCells(
                reader: reader, properties: Self.copy(content.properties), related: Self.copy(loaded), decoder: self))
    }

    private static func copy<Element>(_ elements: [Element]) -> UnsafeBufferPointer<Element> {
        let copy = UnsafeMutableBufferPointer<Element>.allocate(capacity: elements.count)
        _ = copy.initialize(from: elements)
        return UnsafeBufferPointer(copy)
    }

    deinit {
        cells.pointee.properties.deallocate()
        cells.pointee.related.deallocate()
        cells.deallocate()
    }

    /// The current row.
    var row: Int {
        get { cells.pointee.row }
        set { cells.pointee.row = newValue }
    }

    /// Decodes the objects from the current row on.
    ///
    /// The type of the collection is a parameter, because the metadata of `[Object]` would be
    /// looked up for each object.
    ///
    /// - Returns: The error of the current row, whose object is left out; nil after the last row.
    func appendObjects<Objects: RangeReplaceableCollection>(
        to objects: inout Objects, numbers: inout [ObjectID]
    ) throws -> Record.CodingError? where Objects.Element: SyncObject {
        let reader = cells.pointee.reader
        if objects.isEmpty { objects.reserveCapacity(reader.count) }
        while row < reader.count {
            do { objects.append(try Objects.Element(from: self)) } catch let error as Record.CodingError {
                return error
            }
            numbers.append(reader.int(row: row, column: 0))
            row += 1
        }
        return nil
    }

    /// The property of a property; -1 if there is none.
    func property(named name: String) -> Int { names.firstIndex(of: name) ?? -1 }

    // MARK: Values

    /// A value of any convertible type.
    func plain<T: AttributeValue.Initializable>(_ property: Int) throws -> T {
        guard cells.pointee.access(property) == .cell else { throw wrongType(T.self, property) }
        let value = cells.pointee.value(property) ?? .null
        guard !value.isNull else { throw missingValue(property) }
        guard let converted = T(value) else { throw wrongType(T.self, property) }
        return converted
    }

    func cellValue<T: Decodable>(_ type: T.Type, _ property: Int) throws -> T {
        if type == UUID.self { return unsafeBitCast(try plain(property) as UUID, to: type) }
        if let convertible = type as? any AttributeValue.Initializable.Type {
            return try converted(convertible, property)
        }
        current = property
        do { return try T(from: self) } catch is DecodingError { throw wrongType(type, property) }
    }

    func jsonValue<T: Decodable>(_ type: T.Type, _ property: Int) throws -> T {
        guard !cells.pointee.isNull(property) else { throw missingValue(property) }
        let bytes = cells.pointee.bytes(property)
        do { return try CanonicalJSON.decode(type, from: Data(bytes)) } catch is DecodingError {
            throw wrongType(type, property)
        }
    }

    func missingValue(_ property: Int) -> Record.CodingError {
        .missingValue(entity: entity, property: names[property])
    }

    func wrongType(_ type: Any.Type, _ property: Int) -> Record.CodingError {
        .wrongType(entity: entity, property: names[property], type: "\(type)")
    }

    private func converted<T, V: AttributeValue.Initializable>(_ type: V.Type, _ property: Int) throws -> T {
        guard let value = try plain(property) as V as? T else { throw wrongType(T.self, property) }
        return value
    }

    // MARK: Containers

    /// A container for one type of keys, at a fixed address.
    private final class KeyedBox<K: CodingKey> {
        let container: UnsafeMutablePointer<KeyedDecodingContainer<K>>
        private let keys: KeyTable

        init(_ cells: UnsafeMutablePointer<ObjectCells>) {
            keys = KeyTable(cells)
            container = .allocate(capacity: 1)
            container.initialize(to: KeyedDecodingContainer(ObjectProperties<K>(keys: keys)))
        }

        deinit {
            container.deinitialize(count: 1)
            container.deallocate()
            keys.deallocate()
        }
    }

    func container<K: CodingKey>(keyedBy type: K.Type) throws -> KeyedDecodingContainer<K> {
        if keyType == ObjectIdentifier(type), let container {
            // The container was created for this type of keys. Its address needs no metadata of a
            // generic class, which would be looked up for each object.
            return container.assumingMemoryBound(to: KeyedDecodingContainer<K>.self).pointee
        }
        return keyedContainer(type)
    }

    @inline(never)
    private func keyedContainer<K: CodingKey>(_ type: K.Type) -> KeyedDecodingContainer<K> {
        let id = ObjectIdentifier(type)
        let box = containers[id].map { unsafeDowncast($0, to: KeyedBox<K>.self) } ?? KeyedBox<K>(cells)
        containers[id] = box
        keyType = id
        container = UnsafeRawPointer(box.container)
        return box.container.pointee
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw Record.CodingError.unsupportedShape(entity: entity, property: nil)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { cells.pointee.isNull(current) }

    func decode(_ type: String.Type) throws -> String { try cells.pointee.string(current) }

    func decode(_ type: Int.Type) throws -> Int { try cells.pointee.integer(current) }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        if let convertible = type as? any AttributeValue.Initializable.Type {
            return try converted(convertible, current)
        }
        return try T(from: self)
    }
}

/// The properties of a batch, and the related objects of all its rows.
struct ObjectContent {
    let entity: String
    let names: [String]
    let properties: [ObjectCells.Place]
    let related: [RelatedPlaces?]

    init<Object>(_ plan: ObjectPlan<Object>, related: [RelatedPlaces?]) {
        entity = plan.layout.name
        names = plan.properties.map { $0.name }
        properties = plan.properties.map { $0.place }
        self.related = related
    }
}
