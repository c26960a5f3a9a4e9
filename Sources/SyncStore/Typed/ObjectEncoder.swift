import Foundation
import SyncModel

/// Converts objects of a type to attribute values and lists of related objects.
enum ObjectEncoder {
    /// The values and related objects of one object.
    struct Content {
        var values: [(slot: Int, value: AttributeValue)] = []
        /// The related objects by property; nil for a relationship that was not included.
        var related: [String: [any SyncObject]?] = [:]
    }

    static func content<Object: SyncObject>(
        of object: Object, _ layout: EntityLayout, _ properties: [ObjectProperty]
    ) throws -> Content {
        var record = Record(of: layout)
        // A nil property is not encoded, so null is the default.
        for property in properties {
            if let slot = layout.slot(of: property.name) { record[slot: slot] = .null }
        }
        var content = Content()
        try record.encode(object) { name, value in
            if let value = value as? any ObjectParts.RelatedValue {
                content.related[name] = .some(list(of: value))
                return true
            }
            // A model that was not built from the type may store JSON as bytes.
            guard let slot = layout.slot(of: name), layout.attributes[slot].type == .binary,
                !(value is any AttributeValue.Convertible)
            else { return false }
            content.values.append((slot, .binary(try JSONEncoder().encode(value))))
            return true
        }
        let encoded = Set(content.values.map(\.slot))
        for property in properties {
            guard case .attribute = property.content else { continue }
            guard let slot = layout.slot(of: property.name) else {
                throw Record.CodingError.unknownProperty(entity: layout.name, property: property.name)
            }
            if !encoded.contains(slot) { content.values.append((slot, record[slot: slot])) }
        }
        return content
    }

    private static func list<Value: ObjectParts.RelatedValue>(of value: Value) -> [any SyncObject]? {
        value.relatedObjects?.map { $0 as any SyncObject }
    }
}
