import JSONMapper

/// Turns the resources of a JSON:API document into plain objects (JSON:API 1.1, section 7).
///
/// Attributes and relationships become fields of the object:
///
///     {"type": "articles", "id": "1", "attributes": {"title": "A"},
///      "relationships": {"author": {"data": {"type": "people", "id": "9"}}}}
///
/// becomes `{"type": "articles", "id": "1", "title": "A", "author": {"type": "people", "id": "9",
/// "name": "B"}}` if the author is included, and has `"author_id": "9"` otherwise.
struct JSONAPIDocument {
    /// The type and the identifier of a resource.
    private struct Key: Hashable {
        let type: String
        let id: String

        /// Nil for anything but a resource or a resource identifier.
        init?(_ value: JSONValue?) {
            guard case .object(let object) = value, case .string(let type) = object["type"],
                case .string(let id) = object["id"]
            else { return nil }
            (self.type, self.id) = (type, id)
        }
    }

    /// Members of a resource that are not fields of the object.
    private static let envelope: Set<String> = ["attributes", "relationships", "links", "meta"]
    /// How deep included resources are nested in one another.
    private static let depthLimit = 16

    private let included: [Key: JSONObject]
    /// The included resources whose own relationships were written as objects.
    ///
    /// Other occurrences have identifiers, so that the size of the result is bounded by the number
    /// of references.
    private var expanded: Set<Key> = []

    /// Returns the document with its resources as plain objects, and without included ones.
    static func flattened(_ document: JSONValue) -> JSONValue {
        guard case .object(var root) = document, let data = root["data"] else { return document }
        var reader = JSONAPIDocument(root["included"])
        switch data {
        case .array(let resources): root["data"] = .array(resources.map { reader.flattened($0, path: []) })
        default: root["data"] = reader.flattened(data, path: [])
        }
        root["included"] = nil
        return .object(root)
    }

    private init(_ list: JSONValue?) {
        var included: [Key: JSONObject] = [:]
        if case .array(let resources) = list {
            for resource in resources {
                if let key = Key(resource), case .object(let object) = resource { included[key] = object }
            }
        }
        self.included = included
    }

    private mutating func flattened(_ value: JSONValue, path: [Key]) -> JSONValue {
        guard case .object(let resource) = value else { return value }
        var object = JSONObject()
        for (key, value) in resource.entries where !Self.envelope.contains(key) { object[key] = value }
        if case .object(let attributes) = resource["attributes"] {
            for (key, value) in attributes.entries { object[key] = value }
        }
        guard case .object(let relationships) = resource["relationships"] else { return .object(object) }
        let nests = path.last.map { path.count < Self.depthLimit && expanded.insert($0).inserted } ?? true
        for (name, relationship) in relationships.entries {
            // A relationship may have only links.
            guard let linkage = relationship["data"] else { continue }
            write(linkage, of: name, into: &object, nests: nests, path: path)
        }
        return .object(object)
    }

    private mutating func write(
        _ linkage: JSONValue, of name: String, into object: inout JSONObject, nests: Bool, path: [Key]
    ) {
        guard case .array(let links) = linkage else {
            guard let key = Key(linkage) else { return object[name] = linkage }
            if let related = related(key, nests: nests, path: path) {
                object[name] = related
            } else {
                object["\(name)_id"] = .string(key.id)
            }
            return
        }
        let keys = links.compactMap { Key($0) }
        let related = keys.map { self.related($0, nests: nests, path: path) }
        guard related.contains(where: { $0 != nil }) || links.isEmpty else {
            return object["\(name)_ids"] = .array(keys.map { .string($0.id) })
        }
        object[name] = .array(
            zip(keys, related).map { key, related in
                related ?? .object(["type": .string(key.type), "id": .string(key.id)])
            })
    }

    /// The included resource of a key; nil if it is not included, or contains this one.
    private mutating func related(_ key: Key, nests: Bool, path: [Key]) -> JSONValue? {
        guard nests, !path.contains(key), let resource = included[key] else { return nil }
        return flattened(.object(resource), path: path + [key])
    }
}
