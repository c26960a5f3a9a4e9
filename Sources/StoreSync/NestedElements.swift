import JSONMapper
import SyncModel

/// The values of one relationship of the objects of a batch, mapped: which object each source is to lead to.
///
/// Every object or identifier that is met gets an *ordinal*, the number by which the store's answer is found again.
struct NestedElements {
    /// What a source is to be related to.
    struct Source {
        let row: Int64
        /// Whether it was inserted just now.
        let isNew: Bool
        var ordinals: [Int] = []
        /// Whether the objects themselves are there, in an array: then what is missing from it is gone.
        var holdsObjects = false
    }

    private(set) var sources: [Source] = []
    /// The place of the payload's element that each ordinal is in.
    private(set) var elementIndices: [Int] = []
    /// The source of each ordinal.
    private(set) var owners: [Int64] = []
    /// The JSON of each ordinal, if it was asked for; empty for identifiers.
    private(set) var json: [[UInt8]] = []
    var objects: RecordCollector
    var identifiers: RecordCollector

    private let keepsJSON: Bool
    private let relationship: RelationshipLayout
    private let takesIdentifiers: Bool

    /// Makes an empty collection.
    ///
    /// - Parameter keepsJSON: Whether the JSON of objects is kept beside what was made of it.
    init(_ relationship: RelationshipLayout, mapper: RecordMapper, keepsJSON: Bool) throws {
        self.relationship = relationship
        self.keepsJSON = keepsJSON
        let destination = mapper.model.layouts[relationship.destination]
        takesIdentifiers = destination.identitySlots.count == 1
        objects = try RecordCollector(
            mapper, entity: destination.name, options: RecordReader.Options(keepsRelationships: true))
        identifiers = try RecordCollector(
            mapper, entity: destination.name, options: RecordReader.Options(acceptsIdentifiers: true))
    }

    /// Whether nothing but whole sources without any target was found.
    var isEmpty: Bool {
        elementIndices.isEmpty
    }

    /// Adds what an object is to be related to.
    ///
    /// - Parameters:
    ///   - cursor: Stands before the relationship's value.
    ///   - row: The object.
    ///   - isNew: Whether it was inserted just now.
    ///   - index: The place of the payload's element.
    ///   - holdsIdentifiers: Whether it was found under a key for identifiers.
    /// - Returns: Whether the value is one that a relationship can have; if not, the relationship stays as it is.
    mutating func add(
        _ cursor: inout JSONCursor, of row: Int64, isNew: Bool, index: Int, holdsIdentifiers: Bool
    ) throws -> Bool {
        var source = Source(row: row, isNew: isNew)
        switch try cursor.kind() {
        case .null: break
        case .array:
            guard relationship.isToMany else { return false }
            source.holdsObjects = !holdsIdentifiers
            try cursor.beginArray()
            while try cursor.nextElement() {
                try addElement(&cursor, to: &source, index: index)
            }
        case .object, .string, .number:
            try addElement(&cursor, to: &source, index: index)
        case .boolean: return false
        }
        sources.append(source)
        return true
    }

    private mutating func addElement(_ cursor: inout JSONCursor, to source: inout Source, index: Int) throws {
        switch try cursor.kind() {
        case .object:
            if keepsJSON {
                var copy = cursor
                json.append(try copy.rawValue().withUTF8 { Array($0) })
            }
            _ = try objects.add(&cursor, index: elementIndices.count)
        case .string, .number:
            source.holdsObjects = false
            guard takesIdentifiers else { return try cursor.skip() }
            if keepsJSON { json.append([]) }
            _ = try identifiers.add(&cursor, index: elementIndices.count)
        case .null, .array, .boolean:
            return try cursor.skip()
        }
        source.ordinals.append(elementIndices.count)
        elementIndices.append(index)
        owners.append(source.row)
    }

    /// Maps the objects anew from other JSON.
    ///
    /// - Parameter replacements: The JSON of some ordinals.
    mutating func replace(_ replacements: [Int: [UInt8]], mapper: RecordMapper) throws -> MappedBatch? {
        for (ordinal, bytes) in replacements { json[ordinal] = bytes }
        for ordinal in json.indices where !json[ordinal].isEmpty {
            try objects.add(json[ordinal], index: ordinal)
        }
        return objects.takeBatch()
    }
}

extension RecordCollector {
    /// Maps one object given as UTF-8.
    mutating func add(_ bytes: [UInt8], index: Int) throws {
        let reader = JSONReader(bytes: bytes, layout: .document)
        _ = try reader.next { cursor in try add(&cursor, index: index) }
    }
}

extension JSONCursor {
    fileprivate mutating func skip() throws(JSONFault) {
        _ = try rawValue()
    }
}
