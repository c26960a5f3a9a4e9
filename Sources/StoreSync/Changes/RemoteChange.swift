import JSONMapper
public import SyncModel

/// A change that a source reports on its own, such as the payload of a webhook.
///
///     try await store.apply([.objects(.bytes(body), keyPath: "data.object")], into: "Order")
public struct RemoteChange: Sendable {
    /// The kind of the listed objects.
    enum Kind: Sendable {
        /// Existing objects. Some of them may be marked as gone.
        case objects(RemotePage.Tombstones?)
        /// Objects that are gone, or their identifiers.
        case removals
    }

    let kind: Kind
    let json: JSONSource
    let keyPath: String
    /// The entity of the objects; nil for the one that the change is applied to.
    let entity: String?

    /// Creates a change with objects that are new or changed.
    ///
    /// - Parameters:
    ///   - json: An array of objects, or one object.
    ///   - entity: The entity of the objects; nil, the default, for the one that the change is
    ///     applied to.
    ///   - keyPath: The keys that lead to the array or the object, separated by dots; empty by
    ///     default.
    ///   - tombstones: How the JSON names objects that are gone; nil, the default, if it names
    ///     none.
    public static func objects(
        _ json: JSONSource, of entity: String? = nil, keyPath: String = "",
        tombstones: RemotePage.Tombstones? = nil
    ) -> RemoteChange {
        RemoteChange(kind: .objects(tombstones), json: json, keyPath: keyPath, entity: entity)
    }

    /// Creates a change with objects of a type that are new or changed.
    public static func objects(
        _ json: JSONSource, of type: (some SyncObject).Type, keyPath: String = "",
        tombstones: RemotePage.Tombstones? = nil
    ) -> RemoteChange {
        .objects(json, of: type.entityName, keyPath: keyPath, tombstones: tombstones)
    }

    /// Creates a change with objects that are gone.
    ///
    /// - Parameters:
    ///   - json: An array of objects or identifiers, or a single one. An object needs only its
    ///     identity. A single identifier must be in memory.
    ///   - entity: The entity of the objects; nil, the default, for the one that the change is
    ///     applied to.
    ///   - keyPath: The keys that lead to it, separated by dots; empty by default.
    public static func removals(
        _ json: JSONSource, of entity: String? = nil, keyPath: String = ""
    ) -> RemoteChange {
        RemoteChange(kind: .removals, json: json, keyPath: keyPath, entity: entity)
    }

    /// Creates a change with objects of a type that are gone.
    public static func removals(
        _ json: JSONSource, of type: (some SyncObject).Type, keyPath: String = ""
    ) -> RemoteChange {
        .removals(json, of: type.entityName, keyPath: keyPath)
    }

    /// Whether a parsed JSON lists no object; false if that is not known.
    package var isEmpty: Bool {
        guard case .value(let document) = json else { return false }
        func isEmpty(_ keyPath: String) -> Bool { document.value(at: JSONKeyPath.list(at: keyPath).list) == .array([]) }
        guard isEmpty(keyPath) else { return false }
        guard case .objects(.list(let gone)) = kind else { return true }
        return isEmpty(gone) || document.value(at: JSONKeyPath.keys(of: gone)) == nil
    }

    /// The change as a page of a pass.
    ///
    /// - Throws: `JSONError` if a single identifier is expected and is not JSON.
    func page() throws -> RemotePage {
        var page = RemotePage(json)
        page.keyPath = keyPath
        switch kind {
        case .objects(let tombstones): page.tombstones = tombstones
        case .removals:
            page.areGone = true
            // A list reader does not accept a single identifier.
            if let identifier = try document().flatMap({ $0.value(at: JSONKeyPath.keys(of: keyPath)) }),
                identifier.isIdentifier
            {
                page.json = .value(.array([identifier]))
                page.keyPath = ""
            }
        }
        return page
    }

    /// Whether all objects of the change are gone.
    var areGone: Bool {
        if case .removals = kind { true } else { false }
    }

    /// Whether some of the objects may be marked as gone.
    var hasTombstones: Bool {
        if case .objects(.some) = kind { true } else { false }
    }

    /// Whether the JSON has a separate list of objects that are gone.
    var hasListBeside: Bool {
        if case .objects(.list) = kind { true } else { false }
    }

    /// Whether the JSON is in memory, so that it can be read more than once.
    var isInMemory: Bool {
        switch json {
        case .bytes, .value: true
        case .file, .stream, .records: false
        }
    }

    /// The elements of the list, or the single one; nil if there is none at the key path, if they
    /// are the members of an object, or if the JSON is not in memory.
    func elements() throws -> [JSONValue]? {
        let place = JSONKeyPath.list(at: keyPath)
        guard place.members == nil, let value = try document()?.value(at: place.list) else { return nil }
        if case .array(let elements) = value { return elements }
        return [value]
    }

    /// The same change with some of its elements.
    ///
    /// - Parameter isKept: Whether the element at an index is kept.
    func keeping(_ isKept: (Int) -> Bool) throws -> RemoteChange {
        guard let document = try document(), let elements = try elements() else { return self }
        let keys = JSONKeyPath.list(at: keyPath).list
        let kept = elements.indices.filter(isKept).map { elements[$0] }
        return RemoteChange(
            kind: kind, json: .value(document.replacing(at: keys[...], by: .array(kept))), keyPath: keyPath,
            entity: entity)
    }

    /// The parsed JSON; nil if it is not in memory.
    func document() throws -> JSONValue? {
        switch json {
        case .bytes(let bytes): try JSONValue(parsing: bytes, exactDecimals: true)
        case .value(let value): value
        case .file, .stream, .records: nil
        }
    }
}

extension JSONValue {
    /// The value at a key path; nil if there is none.
    func value(at keys: [String]) -> JSONValue? {
        keys.reduce(self as JSONValue?) { $0?[$1] }
    }

    /// The same value with the part at a key path replaced.
    fileprivate func replacing(at keys: ArraySlice<String>, by value: JSONValue) -> JSONValue {
        guard let key = keys.first else { return value }
        guard case .object(var object) = self, let inner = object[key] else { return self }
        object[key] = inner.replacing(at: keys.dropFirst(), by: value)
        return .object(object)
    }

    fileprivate var isIdentifier: Bool {
        switch self {
        case .string, .integer, .unsigned, .double, .decimal: true
        case .null, .bool, .array, .object: false
        }
    }
}
