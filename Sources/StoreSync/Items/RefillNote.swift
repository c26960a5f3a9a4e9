import JSONMapper
import SyncBase
import SyncModel
import SyncStore

/// The properties of an entity that stored objects have been fetched with, as kept in the store.
///
/// A revision says whether an object changed at the source. It does not say that the model has
/// gained an attribute since the object was fetched. The note is kept among the pending links,
/// which the model of every mapper has.
struct RefillNote: Sendable {
    private static let prefix = "properties of "
    private let name: String
    /// The names and types of the properties, sub-entities included.
    private let properties: Set<String>

    /// The note that a model demands for an entity.
    ///
    /// - Parameter scope: The objects that are fetched.
    init(_ entity: String, where scope: RecordPredicate, in model: DataModel) {
        var fingerprint = Fingerprint()
        fingerprint.combine(scope)
        name = "\(Self.prefix)\(entity) \(fingerprint.text)"
        var properties: Set<String> = []
        for layout in model[entity]?.family.map({ model.layouts[$0] }) ?? [] {
            for attribute in layout.attributes {
                properties.insert("\(layout.name).\(attribute.name) \(attribute.type.rawValue)")
            }
            for relationship in layout.relationships {
                properties.insert("\(layout.name).\(relationship.name)")
            }
        }
        self.properties = properties
    }

    /// Whether a record of a pending link is a note instead.
    static func isNote(_ record: Record) -> Bool {
        if case .string(let name) = record["relationship"] { name.hasPrefix(prefix) } else { false }
    }

    /// Whether a store has the note with all properties, or cannot keep a note.
    func isKept(in store: any Store) async throws -> Bool {
        guard let layout = store.model[SyncEntity.pendingLink.name] else { return true }
        let stored = try await store.read { [key] in try await $0.record(layout.name, key: key) }
        guard case .string(let text)? = stored?.record["targets"],
            case .array(let elements)? = try? JSONValue(parsing: text)
        else { return false }
        let kept = elements.compactMap { if case .string(let property) = $0 { property } else { nil } }
        return properties.isSubset(of: kept)
    }

    /// Keeps the note.
    func keep(in transaction: any StoreTransaction) async throws {
        guard let layout = transaction.model[SyncEntity.pendingLink.name] else { return }
        var writer = JSONWriter()
        writer.beginArray()
        for property in properties.sorted() { writer.string(property) }
        writer.endArray()
        var record = Record(of: layout)
        record["relationship"] = .string(name)
        record["object"] = .int(0)
        record["targets"] = .string(String(decoding: writer.bytes, as: UTF8.self))
        try await transaction.insert(record)
    }

    private var key: RecordKey { .identity([.string(name), .int(0)]) }
}
