import JSONMapper
import SyncModel

/// The mapped values of one relationship, for the objects of a group.
///
/// Every object or identifier has an *ordinal*, the number by which the store's answer is found.
struct NestedElements: Sendable {
    /// A source and its targets.
    struct Source: Sendable {
        /// The row of the source in the group.
        let row: Int
        var ordinals: [Int] = []
        /// Whether the value is an array of whole objects, so that an object missing from it is
        /// gone.
        var holdsObjects = false
    }

    /// The number of values that were read.
    let entryCount: Int
    private(set) var sources: [Source] = []
    /// The first row whose value does not suit the relationship and is ignored.
    private(set) var unsuitableRow: Int?
    /// The index of the payload's element by ordinal.
    private(set) var elementIndices: [Int] = []
    /// The row of the source by ordinal.
    private(set) var owners: [Int] = []
    /// The JSON by ordinal, if it is kept; empty for identifiers.
    private(set) var json: [[UInt8]] = []
    /// The targets that are whole objects.
    private(set) var objects: MappedObjects?
    /// The targets that are identifiers.
    private(set) var identifiers: MappedObjects?

    private let relationship: RelationshipLayout
    private let keepsJSON: Bool

    /// Maps values.
    ///
    /// - Parameters:
    ///   - group: The group that has the values.
    ///   - entries: The values of the relationship, one per row.
    ///   - keepsJSON: Whether the JSON of objects is kept.
    init(
        _ relationship: RelationshipLayout, of group: MappedBatch.Group, _ entries: [RelationshipSlices.Entry],
        mapper: RecordMapper, keepsJSON: Bool
    ) throws {
        self.relationship = relationship
        self.keepsJSON = keepsJSON
        entryCount = entries.count
        var reading = try Reading(relationship, mapper: mapper)
        for entry in entries {
            let index = group.elementIndices[entry.row]
            try group.relationships.read(entry) { cursor in
                try add(&cursor, of: entry, index: index, into: &reading)
            }
        }
        objects = try reading.objects.takeBatch().map { try MappedObjects($0, mapper: mapper, keepsJSON: keepsJSON) }
        identifiers = try reading.identifiers.takeBatch().map {
            try MappedObjects($0, mapper: mapper, keepsJSON: keepsJSON)
        }
    }

    /// The collectors of the values.
    private struct Reading {
        var objects: RecordCollector
        var identifiers: RecordCollector
        let takesIdentifiers: Bool

        init(_ relationship: RelationshipLayout, mapper: RecordMapper) throws {
            let destination = mapper.model.layouts[relationship.destination]
            takesIdentifiers = destination.identitySlots.count == 1
            objects = try RecordCollector(
                mapper, entity: destination.name, options: RecordReader.Options(keepsRelationships: true))
            identifiers = try RecordCollector(
                mapper, entity: destination.name, options: RecordReader.Options(acceptsIdentifiers: true))
        }
    }

    private mutating func add(
        _ cursor: inout JSONCursor, of entry: RelationshipSlices.Entry, index: Int, into reading: inout Reading
    ) throws {
        var source = Source(row: entry.row)
        switch try cursor.kind() {
        case .null: break
        case .array where relationship.isToMany:
            source.holdsObjects = !entry.holdsIdentifiers
            try cursor.beginArray()
            while try cursor.nextElement() {
                try addElement(&cursor, to: &source, index: index, into: &reading)
            }
        case .object, .string, .number:
            try addElement(&cursor, to: &source, index: index, into: &reading)
        case .array, .boolean:
            unsuitableRow = unsuitableRow ?? entry.row
            return
        }
        sources.append(source)
    }

    private mutating func addElement(
        _ cursor: inout JSONCursor, to source: inout Source, index: Int, into reading: inout Reading
    ) throws {
        switch try cursor.kind() {
        case .object:
            if keepsJSON {
                var copy = cursor
                json.append(try copy.rawValue().withUTF8 { Array($0) })
            }
            _ = try reading.objects.add(&cursor, index: elementIndices.count)
        case .string, .number:
            source.holdsObjects = false
            guard reading.takesIdentifiers else { return try cursor.skip() }
            if keepsJSON { json.append([]) }
            _ = try reading.identifiers.add(&cursor, index: elementIndices.count)
        case .null, .array, .boolean:
            return try cursor.skip()
        }
        source.ordinals.append(elementIndices.count)
        elementIndices.append(index)
        owners.append(source.row)
    }

    /// Maps the objects again from other JSON.
    ///
    /// - Parameter replacements: The JSON of some ordinals.
    mutating func replace(_ replacements: [Int: [UInt8]], mapper: RecordMapper) throws {
        for (ordinal, bytes) in replacements { json[ordinal] = bytes }
        var reading = try Reading(relationship, mapper: mapper)
        for ordinal in json.indices where !json[ordinal].isEmpty {
            try reading.objects.add(json[ordinal], index: ordinal)
        }
        objects = try reading.objects.takeBatch().map { try MappedObjects($0, mapper: mapper, keepsJSON: keepsJSON) }
    }
}

extension RecordCollector {
    /// Maps one object from UTF-8.
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
