import Foundation
import JSONMapper
import StoreSync
import SyncModel

extension SyncArguments {
    /// The sync options of the arguments.
    var options: StoreSyncOptions {
        StoreSyncOptions(
            operations: operations, scope: scope, keyPath: keyPath, removalLimit: removalLimit, failsOnDrift: isStrict)
    }

    /// Sentences about what to do after a sync.
    var advice: [String] {
        if isPlan { return ["Run it without --plan to make these changes."] }
        guard store != .memory else { return ["The objects were not kept; --store sqlite:FILE keeps them."] }
        return ["Next: Demo query --store \(ShellWord.quoted(store.description)) --entity \(ShellWord.quoted(entity))"]
    }

    /// Returns the given or stored model; nil if it must be inferred from the JSON.
    ///
    /// - Throws: ``StoreLocationError/noModel`` for a database without a model; ``NameError`` if the
    ///   model lacks the entity.
    func modelChoice(warn: (String) -> Void) async throws -> ModelChoice? {
        let choice: ModelChoice
        if let model {
            choice = try .given(model, warn: warn)
        } else if let kept = try await store.keptModel() {
            choice = ModelChoice(model: kept, origin: .kept)
        } else {
            return nil
        }
        _ = try choice.model.required(entity)
        return choice
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

    /// Opens the store, to change it or for a plan.
    ///
    /// - Parameters:
    ///   - model: The model of the data.
    ///   - bookmarked: Whether the store keeps bookmarks of servers.
    ///   - warn: Called with each part of the model that cannot be used.
    func open(_ model: DataModel, bookmarked: Bool = false, warn: (String) -> Void) async throws -> JSONStore {
        if isPlan { return try await store.openForPlan(model, dialect: dialect, warn: warn) }
        // A store in memory ends with the command.
        let history = store == .memory ? nil : SyncHistory(recordsUnchanged: false)
        let bookkeeping =
            (bookmarked ? [SyncBookmark.entity] : []) + (history == nil ? [] : [SyncHistory.entity])
        let mapper = try ModelChoice.mapper(try model.adding(bookkeeping), dialect: dialect, warn: warn)
        return try JSONStore(try await store.open(mapper.model), mapper: mapper, history: history)
    }
}
