import Foundation
import JSONMapper
import SyncBase
import SyncModel
import SyncStore

/// A note in the store that lists the properties with which an entity's objects were fetched.
///
/// A revision shows whether an object changed at the source. It does not show that the model has
/// gained an attribute, or an attribute an allowed value, since the object was fetched.
///
/// The note is stored as the bookmark of the items: like any other, it is forgotten when a repair
/// makes all sources be read again.
struct RefillNote: Sendable {
    private let name: String
    /// The names and types of the properties, including those of sub-entities, and digests of the
    /// values and Swift types that they allow.
    private let properties: Set<String>

    /// Creates the note that a model requires for an entity.
    ///
    /// - Parameter scope: The objects that are fetched.
    init(_ entity: String, where scope: RecordPredicate, in model: DataModel) {
        var fingerprint = Fingerprint()
        fingerprint.combine(scope)
        name = "properties of \(entity) \(fingerprint.text)"
        var properties: Set<String> = []
        for layout in model[entity]?.family.map({ model.layouts[$0] }) ?? [] {
            for attribute in layout.attributes {
                let property = "\(layout.name).\(attribute.name) \(attribute.type.rawValue)"
                properties.insert(property)
                for value in attribute.knownLimits {
                    var fingerprint = Fingerprint()
                    fingerprint.combine(value)
                    properties.insert("\(property) \(fingerprint.text)")
                }
            }
            for relationship in layout.relationships {
                properties.insert("\(layout.name).\(relationship.name)")
            }
        }
        self.properties = properties
    }

    /// Whether a store has a note with all properties, or has no place for notes.
    func isKept(in store: any Store) async throws -> Bool {
        guard let layout = store.model.bookmarks else { return true }
        let key = Record.Key.identity([.string(name)])
        let stored = try await store.read { try await $0.record(layout.name, key: key) }
        guard case .string(let text)? = stored?.record["fingerprint"],
            case .array(let elements)? = try? JSONValue(parsing: text)
        else { return false }
        let kept = elements.compactMap { if case .string(let property) = $0 { property } else { nil } }
        return properties.isSubset(of: kept)
    }

    /// Writes the note.
    func keep(in transaction: any StoreTransaction) async throws {
        guard let layout = transaction.model.bookmarks else { return }
        var writer = JSONWriter()
        writer.beginArray()
        for property in properties.sorted() { writer.string(property) }
        writer.endArray()
        var record = Record(of: layout)
        record["name"] = .string(name)
        record["fingerprint"] = .string(String(decoding: writer.bytes, as: UTF8.self))
        // The oldest bookmarks are removed first.
        record["lastFullPass"] = .date(Timestamp(Date()))
        try await transaction.insert(record)
    }
}
