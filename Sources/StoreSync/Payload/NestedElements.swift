import JSONMapper
import SyncModel

/// The values of one relationship of the objects of a group, mapped: the objects that each source
/// is to lead to.
///
/// Every object or identifier gets an *ordinal*, the number by which the store's answer is found.
struct NestedElements: Sendable {
    /// The objects that a source is to be related to.
    struct Source: Sendable {
        /// Its row in the group.
        let row: Int
        var ordinals: [Int] = []
        /// Whether the objects themselves are there, in an array: those missing from it are gone.
        var holdsObjects = false
        /// Whether a part of the value could not be read: nothing is unlinked then.
        var isIncomplete = false
    }

    /// How many values were read.
    let entryCount: Int
    private(set) var sources: [Source] = []
    /// The first row with a value that the relationship cannot have; its relationship stays as it is.
    private(set) var unsuitableRow: Int?
    /// The index of the payload's element that each ordinal is in.
    private(set) var elementIndices: [Int] = []
    /// The row of each ordinal's source.
    private(set) var owners: [Int] = []
    /// The JSON of each ordinal, if it was asked for; empty for identifiers.
    private(set) var json: [[UInt8]] = []
    /// The objects.
    private(set) var objects: MappedObjects?
    /// The objects of which only an identifier is there.
    private(set) var identifiers: MappedObjects?
    /// Where the values differ from the model, by the payload's elements.
    private(set) var drift = DriftReport()

    private let relationship: RelationshipLayout
    private let entity: String
    private let keyPath: String
    private let keepsJSON: Bool
    private let clearsAbsent: Bool
    private let demandsArrays: Bool

    /// Maps values.
    ///
    /// - Parameters:
    ///   - group: The objects that have the values.
    ///   - entries: The values of the relationship, one per row.
    ///   - outdone: Values of the same relationship that do not count, because another one does.
    ///   - keepsJSON: Whether the JSON of objects is kept.
    ///   - clearsAbsent: Whether properties that an object does not have are cleared.
    init(
        _ relationship: RelationshipLayout, of group: MappedBatch.Group, _ entries: [RelationshipSlices.Entry],
        outdone: [RelationshipSlices.Entry] = [], mapper: RecordMapper, keepsJSON: Bool,
        clearsAbsent: Bool
    ) throws {
        self.relationship = relationship
        self.keepsJSON = keepsJSON
        self.clearsAbsent = clearsAbsent
        entity = group.mapping.layout.name
        keyPath =
            group.mapping.keys.relationships[relationship.index].path()?.joined(separator: ".") ?? relationship.name
        demandsArrays = mapper.dialect.demandsArrays
        entryCount = entries.count
        var reading = try Reading(relationship, mapper: mapper, clearsAbsent: clearsAbsent)
        for entry in entries {
            let index = group.elementIndices[entry.row]
            try group.relationships.read(entry) { cursor in
                try add(&cursor, of: entry, index: index, into: &reading)
            }
        }
        objects = try reading.objects.takeBatch().map {
            try MappedObjects($0, mapper: mapper, keepsJSON: keepsJSON, clearsAbsent: clearsAbsent)
        }
        identifiers = try reading.identifiers.takeBatch().map {
            try MappedObjects($0, mapper: mapper, keepsJSON: keepsJSON, clearsAbsent: clearsAbsent)
        }
        if !outdone.isEmpty { try compare(outdone, of: group, mapper: mapper) }
    }

    /// Maps the values.
    private struct Reading {
        var objects: RecordCollector
        var identifiers: RecordCollector
        let takesIdentifiers: Bool

        init(_ relationship: RelationshipLayout, mapper: RecordMapper, clearsAbsent: Bool) throws {
            let destination = mapper.model.layouts[relationship.destination]
            takesIdentifiers = destination.identitySlots.count == 1
            var options = RecordReader.Options(keepsRelationships: true)
            options.clearsAbsent = clearsAbsent
            options.keptRelationship = relationship.inverse
            objects = try RecordCollector(mapper, entity: destination.name, options: options)
            identifiers = try RecordCollector(
                mapper, entity: destination.name, options: RecordReader.Options(acceptsIdentifiers: true))
        }
    }

    private mutating func add(
        _ cursor: inout JSONCursor, of entry: RelationshipSlices.Entry, index: Int, into reading: inout Reading
    ) throws {
        var source = Source(row: entry.row)
        let kind = try cursor.kind()
        switch kind {
        case .null: break
        case .array where relationship.isToMany:
            source.holdsObjects = !entry.holdsIdentifiers
            try cursor.beginArray()
            while try cursor.nextElement() {
                try addElement(&cursor, to: &source, index: index, into: &reading)
            }
        case .object where !(relationship.isToMany && demandsArrays):
            try addElement(&cursor, to: &source, index: index, into: &reading)
        case .string where reading.takesIdentifiers && !(relationship.isToMany && demandsArrays),
            .number where reading.takesIdentifiers && !(relationship.isToMany && demandsArrays):
            try addElement(&cursor, to: &source, index: index, into: &reading)
        case .object, .string, .number, .array, .boolean:
            unsuitableRow = unsuitableRow ?? entry.row
            drift.add(.changedShape, entity: entity, keyPath: keyPath, index: index, found: "\(kind)")
            return
        }
        if source.isIncomplete, !relationship.isToMany, source.ordinals.isEmpty { return }
        sources.append(source)
    }

    private mutating func addElement(
        _ cursor: inout JSONCursor, to source: inout Source, index: Int, into reading: inout Reading
    ) throws {
        let kind = try cursor.kind()
        switch kind {
        case .object:
            var copy = cursor
            guard try reading.objects.add(&cursor, index: elementIndices.count) != .rejected else {
                source.isIncomplete = true
                return noteRejected(index)
            }
            if keepsJSON { json.append(try copy.rawValue().withUTF8 { Array($0) }) }
        case .string where reading.takesIdentifiers, .number where reading.takesIdentifiers:
            source.holdsObjects = false
            guard try reading.identifiers.add(&cursor, index: elementIndices.count) != .rejected else {
                source.isIncomplete = true
                drift.add(.unfitIdentifier, entity: entity, keyPath: keyPath, index: index, found: "\(kind)")
                return noteRejected(index)
            }
            if keepsJSON { json.append([]) }
        case .null:
            source.holdsObjects = false
            return try cursor.skip()
        case .string, .number, .array, .boolean:
            source.holdsObjects = false
            source.isIncomplete = true
            drift.add(.unfitIdentifier, entity: entity, keyPath: keyPath, index: index, found: "\(kind)")
            return try cursor.skip()
        }
        source.ordinals.append(elementIndices.count)
        elementIndices.append(index)
        owners.append(source.row)
    }

    /// Gives an ordinal to an element that was left out, so that its problem has an index.
    private mutating func noteRejected(_ index: Int) {
        if keepsJSON { json.append([]) }
        elementIndices.append(index)
        owners.append(-1)
    }

    /// Reports values that do not count and name other objects than those that do.
    private mutating func compare(
        _ outdone: [RelationshipSlices.Entry], of group: MappedBatch.Group, mapper: RecordMapper
    ) throws {
        var other = try Reading(relationship, mapper: mapper, clearsAbsent: clearsAbsent)
        guard other.takesIdentifiers else { return }
        var copy = self
        copy.objects = nil
        copy.identifiers = nil
        copy.sources = []
        copy.elementIndices = []
        copy.owners = []
        copy.drift = DriftReport()
        for entry in outdone {
            let index = group.elementIndices[entry.row]
            try group.relationships.read(entry) { cursor in
                try copy.add(&cursor, of: entry, index: index, into: &other)
            }
        }
        let slot = mapper.model.layouts[relationship.destination].identitySlots[0]
        let others = Self.identities([other.objects.takeBatch(), other.identifiers.takeBatch()], slot)
        let own = Self.identities([objects?.batch, identifiers?.batch], slot)
        let sourcesByRow = Dictionary(sources.map { ($0.row, $0) }) { $1 }
        for source in copy.sources {
            let named = Set(source.ordinals.compactMap { others[$0] })
            let counting = Set(sourcesByRow[source.row]?.ordinals.compactMap { own[$0] } ?? [])
            guard named != counting else { continue }
            drift.add(
                .contradiction, entity: entity, keyPath: keyPath, index: group.elementIndices[source.row])
        }
    }

    /// The values of an identity attribute by ordinal.
    private static func identities(_ batches: [MappedBatch?], _ slot: Int) -> [Int: AttributeValue] {
        var identities: [Int: AttributeValue] = [:]
        for group in batches.compactMap({ $0 }).flatMap(\.groups) {
            group.records.withReader { reader in
                for (row, ordinal) in group.elementIndices.enumerated() {
                    identities[ordinal] = reader.value(row: row, slot: slot)
                }
            }
        }
        return identities
    }

    /// Maps the objects anew from other JSON.
    ///
    /// - Parameter replacements: The JSON of some ordinals.
    mutating func replace(_ replacements: [Int: [UInt8]], mapper: RecordMapper) throws {
        for (ordinal, bytes) in replacements { json[ordinal] = bytes }
        var reading = try Reading(relationship, mapper: mapper, clearsAbsent: clearsAbsent)
        for ordinal in json.indices where !json[ordinal].isEmpty {
            try reading.objects.add(json[ordinal], index: ordinal)
        }
        objects = try reading.objects.takeBatch().map {
            try MappedObjects($0, mapper: mapper, keepsJSON: keepsJSON, clearsAbsent: clearsAbsent)
        }
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
