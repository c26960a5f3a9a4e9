import JSONMapper
import ModelInference
import SyncModel

/// Where the list of objects is in a document.
struct ListPlace {
    /// The keys that lead to the list, separated by dots; empty if the document is the list.
    let keyPath: String
    /// Whether the list was found within the only object.
    private(set) var isFound = false
    /// A sentence about a list within the only object, if there is one.
    private(set) var notes: [String] = []

    init(keyPath: String) {
        self.keyPath = keyPath
    }

    /// Finds the list of a document.
    ///
    /// - Parameters:
    ///   - beginning: The first bytes of the document.
    ///   - keyPath: The key path that was given; empty to find the list.
    ///   - entity: The entity of the objects.
    ///   - keys: The keys that identify an object; empty if there is no model yet.
    ///   - ownKeys: The keys that an object of the entity has; empty if there is no model yet. A
    ///     list under one of them is part of the object.
    ///   - known: The key path at which the list of earlier documents was found; nil for none.
    ///   - open: Opens the document with a layout.
    /// - Throws: Errors of the document.
    init(
        _ beginning: some Collection<UInt8>, at keyPath: String, entity: String, keys: [String],
        ownKeys: Set<String> = [], known: String? = nil, _ open: (JSONReader.Layout) throws -> JSONReader
    ) throws {
        guard keyPath.isEmpty, JSONStart(beginning) == .object else {
            self.init(keyPath: keyPath)
            return
        }
        let lists = try DocumentLists(
            in: try open(JSONStart.layout(beginning, at: keyPath)), entity: entity, keys: keys)
        let only = lists.only.flatMap { path in
            JSONKeyPath.keys(of: path).first.map { ownKeys.contains($0) } == true ? nil : path
        }
        let found = lists.keyPaths.first { $0 == known } ?? only
        self.init(keyPath: found ?? "")
        isFound = found != nil
        if let found {
            let list = lists.keyPaths.count == 1 ? "its only list of objects" : "the list of earlier syncs"
            notes = ["the JSON is one object; \(list), at --key-path \(found), was taken"]
        } else if let members = lists.members {
            notes = ["the JSON is one object; --key-path '\(members)' syncs each of its members, with the key"]
        } else if let first = lists.keyPaths.first {
            notes = ["the JSON is one object; --key-path \(first) syncs the objects of the list in it"]
        }
    }

    /// Finds the list of a document to sync.
    ///
    /// - Parameter kept: The model of the objects; nil if it is to be inferred.
    init(
        _ beginning: some Collection<UInt8>, _ arguments: SyncArguments, _ kept: ModelChoice?,
        _ open: (JSONReader.Layout) throws -> JSONReader
    ) throws {
        try self.init(
            beginning, at: arguments.keyPath, entity: arguments.entity, key: arguments.inference.key, kept: kept,
            dialect: arguments.dialect, open)
    }

    /// Finds the list of a document.
    ///
    /// - Parameters:
    ///   - key: The keys that were given to identify an object; empty for those of the model.
    ///   - kept: The model of the objects; nil if it is to be inferred.
    ///   - dialect: The vocabulary of the model's annotations.
    init(
        _ beginning: some Collection<UInt8>, at keyPath: String, entity: String, key: [String] = [],
        kept: ModelChoice?, dialect: JSONDialect, _ open: (JSONReader.Layout) throws -> JSONReader
    ) throws {
        var keys = key
        var ownKeys: Set<String> = []
        if let model = kept?.model, let layout = model[entity] {
            let found = EntityKeys(layout, in: model, dialect: dialect)
            if keys.isEmpty { keys = found.identityColumns.compactMap { found.attributes[$0].path()?.first } }
            let paths = found.attributes.flatMap(\.spellings) + found.relationships.flatMap(\.spellings)
            ownKeys = Set(paths.compactMap(\.first))
        }
        try self.init(
            beginning, at: keyPath, entity: entity, keys: keys, ownKeys: ownKeys,
            known: kept?.listKeyPath(of: entity), open)
    }
}
