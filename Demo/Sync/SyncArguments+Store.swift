import Foundation
import JSONMapper
import ModelInference
import StoreSync
import SyncModel
import SyncStore

extension SyncArguments {
    /// The sync options of the arguments.
    var options: StoreSyncOptions {
        var options = StoreSyncOptions(
            operations: operations, scope: scope, keyPath: keyPath, removalLimit: removalLimit)
        options.failsOnDrift = isStrict
        return options
    }

    /// Sentences about what to do after a sync.
    var advice: [String] {
        if isPlan { return ["Run it without --plan to make these changes."] }
        guard store != .memory else { return ["The objects were not kept; --store sqlite:FILE keeps them."] }
        let next =
            "Next: Demo query --store \(ShellWord.quoted(store.description)) --entity \(ShellWord.quoted(entity))"
        guard !store.isShownInFull else { return [next] }
        return ["The next line leaves out parts of --store, such as a password; add them.", next]
    }

    /// Returns the given or stored model; nil if it must be inferred from the JSON.
    ///
    /// - Throws: ``StoreLocationError/noModel`` for a database without a model; ``NameError`` if
    ///   the model lacks the entity; `InferredModel.Failure` if the entity records syncs.
    func modelChoice(warn: (String) -> Void) async throws -> ModelChoice? {
        let choice: ModelChoice
        if let model {
            let given = try ModelChoice.given(model, warn: warn)
            var keyed =
                inference.key.isEmpty
                ? given : try given.identified(by: inference.key, entity: entity, dialect: dialect)
            if !isRebuilding, let kept = try await store.readableModel() {
                let former = ModelChoice(model: kept, origin: .kept)
                keyed = try keyed.remembering(listKeyPath: former.listKeyPath(of: entity), of: entity)
                let mapped = try ModelChoice.mapper(keyed.model, dialect: dialect) { _ in }
                let difference = ModelDifference(from: kept, to: mapped.model)
                (keyed.changes, keyed.hasDrops) = (difference.lines, difference.hasDrops)
                if keyed.hasDrops {
                    let version = try await store.droppingVersion()
                    keyed.changes.append(
                        "the model version of the database is \(version) now: programs with a lower one cannot open it")
                }
            }
            choice = keyed
        } else if isRebuilding {
            return nil
        } else if let kept = try await store.keptModel() {
            let former = ModelChoice(model: kept, origin: .kept)
            // A plan cannot change the model of a server, and this one would show the same.
            choice = isPlan && !store.isExistingFile ? former : try former.listing(entity)
        } else {
            return nil
        }
        if choice.model[entity]?.entity.isBookkeeping == true {
            throw InferredModel.Failure.reservedName(entity: entity)
        }
        guard let layout = choice.model[entity] else {
            if choice.origin == .kept, isEvolving { return choice }
            throw NameError(entity: entity, in: choice.model, isAddable: choice.origin == .kept)
        }
        if choice.origin == .kept { try checkKey(of: layout) }
        return choice
    }

    /// Checks that the key of the command line is the one that the database has.
    private func checkKey(of layout: EntityLayout) throws(KeyError) {
        guard !inference.key.isEmpty else { return }
        func spelling(_ key: String) -> String { key.lowercased().filter { $0.isLetter || $0.isNumber } }
        let columns = layout.identityColumns + layout.scopedIdentityColumns
        let kept = columns.map { column in
            let attribute = layout.attributes[column]
            return Set([attribute.name, attribute.userInfo["sync.remoteKey"] ?? attribute.name].map(spelling))
        }
        let given = inference.key.map(spelling)
        guard given.count == kept.count, given.allSatisfy({ key in kept.contains { $0.contains(key) } }) else {
            throw KeyError.otherKey(entity: layout.name, kept: columns.map { layout.attributes[$0].name })
        }
    }

    /// Returns the model of the JSON: an inferred one, or the model of the database with what is
    /// new.
    ///
    /// - Parameters:
    ///   - kept: The model of the database; nil if there is none.
    ///   - place: The place of the list, which a new entity remembers if it was found.
    ///   - reader: A reader of the JSON, which is read to its end.
    func modelChoice(_ kept: ModelChoice?, _ place: ListPlace, with reader: JSONReader) throws -> ModelChoice {
        let choice =
            try kept?.evolved(with: reader, entity: entity, options: inference, isStrict: isStrict)
            ?? .inferred(from: reader, entity: entity, options: inference)
        let isNew = place.isFound && kept?.model[entity] == nil
        return try choice.remembering(listKeyPath: isNew ? place.keyPath : nil, of: entity)
    }

    /// Whether the JSON decides about the model.
    func needsSample(_ choice: ModelChoice?) -> Bool {
        choice == nil || (isEvolving && choice?.origin == .kept)
    }

    /// Runs a sync. If it fails, a database that was created for it with an inferred model is
    /// removed again: the JSON may have been an error message.
    func keepingModel<Result>(of choice: ModelChoice, _ body: () async throws -> Result) async throws -> Result {
        let newFiles = choice.origin == .inferred && !isPlan ? store.newFiles : []
        do {
            return try await body()
        } catch {
            for file in newFiles { try? FileManager.default.removeItem(at: file) }
            throw error
        }
    }

    /// Opens the store, to change it or for a plan, and syncs into it.
    ///
    /// - Parameters:
    ///   - choice: The model of the data.
    ///   - bookmarked: Whether the store keeps bookmarks of servers.
    ///   - warn: Called with each part of a given model that cannot be used.
    ///   - note: Called with what a rebuild dropped besides objects.
    ///   - sync: Syncs into the store.
    /// - Throws: ``NameError`` for unknown names; errors of the store and the sync.
    func withStore<Result: Sendable>(
        _ choice: ModelChoice, bookmarked: Bool = false, warn: (String) -> Void, note: (String) -> Void,
        sync: @escaping @Sendable (JSONStore) async throws -> Result
    ) async throws -> Result {
        let model = choice.model
        let warn = choice.origin == .given ? warn : { _ in }
        do {
            if isPlan {
                let mapper = try ModelChoice.mapper(model, dialect: dialect, warn: warn)
                guard try await store.hasOtherModel(than: mapper.model) else {
                    return try await sync(try await store.openForPlan(mapper, dialect: dialect))
                }
                // A plan must not migrate the database itself.
                return try await store.withCopy { copy in
                    let opened = try await copy.open(mapper.model, drops: choice.hasDrops)
                    return try await sync(try JSONStore(opened, mapper: mapper))
                }
            }
            // A store in memory ends with the command.
            let history = store == .memory ? nil : SyncHistory(recordsUnchanged: false)
            let bookkeeping =
                (bookmarked ? [SyncEntity.bookmark] : []) + (history == nil ? [] : [SyncEntity.pass])
            let mapper = try ModelChoice.mapper(try model.adding(bookkeeping), dialect: dialect, warn: warn)
            guard isRebuilding, store.newFiles.isEmpty else {
                let opened = try await store.open(
                    mapper.model, drops: choice.hasDrops, cacheByteCount: cacheByteCount)
                do {
                    return try await sync(try JSONStore(opened, mapper: mapper, history: history))
                } catch {
                    guard !choice.changes.isEmpty else { throw error }
                    throw ChangedModelError(changes: choice.changes, cause: NameError.explaining(error, in: model))
                }
            }
            return try await store.rebuild(mapper.model, cacheByteCount: cacheByteCount, note: note) { store in
                try await sync(try JSONStore(store, mapper: mapper, history: history))
            }
        } catch {
            throw NameError.explaining(error, in: model)
        }
    }
}

/// The failure of a sync after the database has been adapted to another model, which stays.
struct ChangedModelError: Error, CustomStringConvertible {
    /// The changes of the model, each as one line.
    let changes: [String]
    let cause: any Error

    var description: String {
        let reason = cause is CancellationError ? "stopped" : FailureText.text(cause)
        return "\(reason); no objects were changed, but the model was: \(changes.joined(separator: "; "))"
    }
}

/// An error for a key of the command line.
enum KeyError: Error, CustomStringConvertible {
    /// The database identifies its objects by other attributes; empty if by none.
    case otherKey(entity: String, kept: [String])
    /// No attribute of a given model is read from the key.
    case unknownKey(entity: String, key: String)

    var description: String {
        switch self {
        case .otherKey(let entity, let kept):
            let fact =
                kept.isEmpty
                ? "has no key for \(entity)" : "identifies a \(entity) by \(kept.joined(separator: " and "))"
            return "the database \(fact); --key can name another key only for a new database"
        case .unknownKey(let entity, let key): return "no attribute of \(entity) has the key \(key)"
        }
    }
}
