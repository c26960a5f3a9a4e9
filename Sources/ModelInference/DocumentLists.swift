package import JSONMapper

/// The lists of objects within a document that is one object.
package struct DocumentLists: Hashable, Sendable {
    /// The keys that lead to each list, separated by dots, the outer lists first.
    ///
    /// Lists in the elements of other lists are not included, nor are keys with dots.
    package private(set) var keyPaths: [String] = []
    /// Whether the object has a key of its own, so that it may be meant itself.
    package private(set) var isIdentified = false

    /// The key path for the members of the document, such as `{id}` or `{key:value}`; nil unless
    /// they are objects of one shape, or texts or numbers, under keys that are data.
    package private(set) var members: String?

    /// The key path of the list that the document stands for; nil unless it has exactly one list,
    /// which does not report errors, and the object has no key of its own and no members.
    package var only: String? {
        guard !isIdentified, members == nil, keyPaths.count == 1, let key = keyPaths[0].split(separator: ".").last
        else { return nil }
        return Self.errorKeys.contains(key.lowercased()) ? nil : keyPaths[0]
    }

    /// The keys of lists with which a server reports errors.
    private static let errorKeys: Set = ["error", "errors"]

    /// The highest rank of a key by which an object is meant itself, such as `id` or `uuid`.
    private static let highestOwnRank = 5

    /// Reads the first elements of a document.
    ///
    /// - Parameters:
    ///   - reader: A reader of the document's objects.
    ///   - entity: The name of the objects' entity.
    ///   - keys: The keys that identify an object; empty if only their names can tell.
    /// - Throws: Errors of the reader.
    package init(in reader: JSONReader, entity: String, keys: [String] = []) throws {
        let sample: ExaminedSample
        do {
            sample = try InferredModel.sampler(of: reader, entity: entity, key: [], limit: 1)
        } catch is InferredModel.Failure {
            return
        }
        guard !sample.isPartial, sample.shapes.elementCount == 1 else { return }
        let root = sample.shapes.root
        isIdentified = root.all.contains { property in
            guard property.isSuitableKey, property.nullCount == 0 else { return false }
            if keys.contains(property.name) { return true }
            let rank = KeyNames.rank(of: property.name, entity: entity, isFirst: false)
            return keys.isEmpty && rank.map { $0 <= Self.highestOwnRank } == true
        }
        members = Self.members(of: root)
        var waiting: ArraySlice<(node: ShapeNode, path: [String])> = [(root, [])]
        while let (node, path) = waiting.popFirst() {
            for property in node.all where !property.name.isEmpty && !property.name.contains(".") {
                let inner = path + [property.name]
                if property.kinds == .objects {
                    keyPaths.append(JSONKeyPath.text(of: inner))
                } else if property.kinds == .object, let object = property.object {
                    waiting.append((object, inner))
                }
            }
        }
    }

    private static func members(of root: ShapeNode) -> String? {
        let members = root.all
        guard members.count > 1, root.isRootMap else { return nil }
        let kinds = members.reduce(into: ShapeKinds()) { $0.formUnion($1.kinds) }
        guard kinds == .object else {
            return kinds.isDisjoint(with: .anyObjects.union(.arrays).union(.unexamined)) ? "{key:value}" : nil
        }
        let hasID = members.contains { member in member.object?.resolved.all.contains { $0.name == "id" } == true }
        return hasID ? "{key}" : "{id}"
    }
}
