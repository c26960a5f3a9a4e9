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
                // Some servers have numbers.
                let id = object["id"]?.token
            else { return nil }
            (self.type, self.id) = (type, id)
        }
    }

    /// Members of a resource that are not fields of the object.
    private static let envelope: Set<String> = ["attributes", "relationships", "links", "meta"]
    /// How deep included resources are nested in one another.
    ///
    /// Each takes up to two of the 512 levels that a reader of JSON accepts. Deeper resources are
    /// only identifiers.
    static let depthLimit = 128

    private let included: [Key: JSONValue.Object]
    /// The included resources that were written as objects.
    ///
    /// Other occurrences are identifiers, so that the result is no larger than the document.
    private var written: Set<Key> = []

    /// Returns the document with its resources as plain objects, and without included ones.
    static func flattened(_ document: JSONValue) -> JSONValue {
        guard case .object(var root) = document, let data = root["data"] else { return document }
        var reader = JSONAPIDocument(root["included"])
        switch data {
        case .array(let resources): root["data"] = .array(resources.map { reader.flattened($0, depth: 0) })
        default: root["data"] = reader.flattened(data, depth: 0)
        }
        root["included"] = nil
        return .object(root)
    }

    private init(_ list: JSONValue?) {
        var included: [Key: JSONValue.Object] = [:]
        if case .array(let resources) = list {
            for resource in resources {
                if let key = Key(resource), case .object(let object) = resource { included[key] = object }
            }
        }
        self.included = included
    }

    private mutating func flattened(_ value: JSONValue, depth: Int) -> JSONValue {
        guard case .object(let resource) = value else { return value }
        var object = JSONValue.Object()
        if case .object(let attributes) = resource["attributes"] { object = attributes }
        // Links refer to the resource's own type and identifier.
        for (key, value) in resource.entries where !Self.envelope.contains(key) { object[key] = value }
        guard case .object(let relationships) = resource["relationships"] else { return .object(object) }
        for (name, relationship) in relationships.entries {
            // A relationship may have only links.
            guard let linkage = relationship["data"] else { continue }
            write(linkage, of: name, into: &object, depth: depth)
        }
        return .object(object)
    }

    private mutating func write(_ linkage: JSONValue, of name: String, into object: inout JSONValue.Object, depth: Int)
    {
        guard case .array(let links) = linkage else {
            guard let key = Key(linkage) else { return object[name] = linkage }
            if let related = related(key, depth: depth) {
                object[name] = related
            } else {
                object["\(name)_id"] = linkage["id"]
            }
            return
        }
        let keys = links.compactMap { Key($0) }
        // What names no resource is left to the mapper, which reports it.
        guard keys.count == links.count else { return object[name] = linkage }
        let related = keys.map { self.related($0, depth: depth) }
        guard related.contains(where: { $0 != nil }) || links.isEmpty else {
            return object["\(name)_ids"] = .array(links.compactMap { $0["id"] })
        }
        object[name] = .array(zip(links, related).map { link, related in related ?? link })
    }

    /// The included resource of a key as an object; nil if it is not included, or was written.
    private mutating func related(_ key: Key, depth: Int) -> JSONValue? {
        guard depth < Self.depthLimit, let resource = included[key], written.insert(key).inserted else { return nil }
        return flattened(.object(resource), depth: depth + 1)
    }
}
