import SyncModel

/// Converts objects of a type to attribute values and lists of related objects.
enum ObjectEncoder {
    /// The values and related objects of one object.
    struct Content {
        var values: [(column: Int, value: AttributeValue)] = []
        /// The related objects by property; nil for a relationship that was not included.
        var related: [String: [any SyncObject]?] = [:]
    }

    static func content<Object: SyncObject>(
        of object: Object, _ layout: EntityLayout, _ properties: [ObjectProperty]
    ) throws -> Content {
        var record = Record(of: layout)
        // A nil property is not encoded, so null is the default.
        for property in properties {
            if let column = layout.column(of: property.name) { record[column: column] = .null }
        }
        var content = Content()
        try record.encode(object) { name, value in
            if let value = value as? any ObjectParts.RelatedValue {
                content.related[name] = .some(list(of: value))
                return true
            }
            // A model that was not built from the type may store JSON as bytes.
            guard let column = layout.column(of: name), layout.attributes[column].type == .binary,
                !(value is any AttributeValue.Convertible)
            else { return false }
            content.values.append((column, .binary(try CanonicalJSON.data(encoding: value))))
            return true
        }
        let encoded = Set(content.values.map(\.column))
        for property in properties {
            guard case .attribute = property.content else { continue }
            guard let column = layout.column(of: property.name) else {
                throw Record.CodingError.unknownProperty(entity: layout.name, property: property.name)
            }
            if !encoded.contains(column) { content.values.append((column, record[column: column])) }
        }
        return content
    }

    private static func list<Value: ObjectParts.RelatedValue>(of value: Value) -> [any SyncObject]? {
        value.relatedObjects?.map { $0 as any SyncObject }
    }
}
