import HTTPTransfer
import JSONMapper
import ModelInference
import StoreSync
import SyncBase
import SyncModel
import SyncStore

/// The command `Demo diff`, which shows object by object what a sync of a file would change.
struct DiffCommand: Command {
    let arguments: DiffArguments
    let console: Console

    func perform() async throws {
        let printer = DiffPrinter(limit: arguments.limit, console: console)
        let (store, source) = try await open()
        _ = try store.mapper.model.required(arguments.entity)
        let watched = DiffStore(base: store.store) { changes, before, after in
            try await printer.print(changes, before: before, after: after)
        }
        let options = StoreSyncOptions(keyPath: arguments.keyPath)
        let result = try await JSONStore(watched, mapper: store.mapper)
            .sync(source, into: arguments.entity, options: options)
        await printer.finish()
        let drift = result.drift.entries.count
        if drift > 0 {
            console.printWarning(
                "B differs from the model in \(Quantity.count(drift, "place")); sync --plan lists them")
        }
        if result.rejectedCount > 0 {
            console.printWarning("\(Quantity.count(result.rejectedCount, "object")) of B cannot be synced")
        }
    }

    /// Opens the state before the sync, and the JSON.
    private func open() async throws -> (JSONStore, JSONSource) {
        switch arguments.base {
        case .store(let location):
            guard let kept = try await location.keptModel() else {
                throw StoreLocationError.missing(location.description)
            }
            let given = try arguments.model.map { try ModelChoice.given($0, warn: console.printWarning).model }
            let store = try await location.openForPlan(
                given ?? kept, dialect: arguments.dialect, warn: console.printWarning)
            return (store, arguments.input.source(at: arguments.keyPath))
        case .file(let file):
            // Both files are read once: one of them may be standard input.
            let (one, other) = (try file.bytes(), try arguments.input.bytes())
            let model = try arguments.model.map { try ModelChoice.given($0, warn: console.printWarning).model }
            let mapper = try ModelChoice.mapper(
                try model ?? self.model(of: one, and: other), dialect: arguments.dialect, warn: console.printWarning)
            let store = try JSONStore(MemoryStore(exactly: mapper.model), mapper: mapper)
            let options = StoreSyncOptions(keyPath: arguments.keyPath)
            try await store.sync(.document(one, at: arguments.keyPath), into: arguments.entity, options: options)
            return (store, .document(other, at: arguments.keyPath))
        }
    }

    /// Infers a model that has what is in either file.
    private func model(of one: [UInt8], and other: [UInt8]) throws -> DataModel {
        func reader(_ bytes: [UInt8]) -> JSONReader {
            JSONReader(bytes: bytes, layout: JSONStart.layout(bytes, at: arguments.keyPath))
        }
        let model: DataModel
        do {
            model = try DataModel.inferred(from: reader(one), entity: arguments.entity)
        } catch InferredModel.Failure.emptySample {
            return try DataModel.inferred(from: reader(other), entity: arguments.entity)
        }
        let both = try InferredModel.Evolution(model, with: reader(other), entity: arguments.entity)
        for obstacle in both.obstacles.prefix(4) { console.printWarning("not compared: \(obstacle.reason)") }
        return both.model
    }
}
