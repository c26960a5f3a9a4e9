import HTTPTransfer
import JSONMapper
import ModelInference
import StoreSync
import SyncModel
import SyncStore

/// The command `Demo diff`, which shows object by object what a sync of a file would change.
struct DiffCommand: Command {
    let arguments: DiffArguments
    let console: Console

    func perform() async throws {
        let printer = DiffPrinter(limit: arguments.limit, console: console)
        let (store, source, keyPath) = try await open()
        _ = try store.mapper.model.required(arguments.entity)
        let watched = DiffStore(base: store.store) { changes, before, after in
            try await printer.print(changes, before: before, after: after)
        }
        let options = StoreSyncOptions(keyPath: keyPath)
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

    /// Opens the state before the sync, and the JSON with the keys that lead to its list.
    private func open() async throws -> (JSONStore, JSONSource, keyPath: String) {
        switch arguments.base {
        case .store(let location):
            guard let kept = try await location.keptModel() else { throw location.absence }
            let model = try givenModel() ?? kept
            let mapper = try ModelChoice.mapper(model, dialect: arguments.dialect, warn: console.printWarning)
            let store = try await location.openForPlan(mapper, dialect: arguments.dialect)
            let listKeyPath = ModelChoice(model: kept, origin: .kept).listKeyPath(of: arguments.entity)
            let choice = try ModelChoice(model: model, origin: .kept)
                .remembering(listKeyPath: listKeyPath, of: arguments.entity)
            let (place, source) = try await arguments.input.findList(at: arguments.keyPath) {
                try self.place(in: $0, choice, $1)
            }
            return (store, source, place.keyPath)
        case .file(let file):
            // Both files are read once: one of them may be standard input.
            let (one, other) = (try file.bytes(), try arguments.input.bytes())
            let given = try givenModel()
            let choice = given.map { ModelChoice(model: $0, origin: .given) }
            let place = try self.place(in: one, choice) { JSONReader(bytes: one, layout: $0) }
            let first = try given ?? model(of: one, at: place)
            let known = try first.map { model in
                try ModelChoice(model: model, origin: .given)
                    .remembering(listKeyPath: place.isFound ? place.keyPath : nil, of: arguments.entity)
            }
            let otherPlace = try self.place(in: other, known) { JSONReader(bytes: other, layout: $0) }
            let mapper = try ModelChoice.mapper(
                try given ?? extended(first, with: other, at: otherPlace), dialect: arguments.dialect,
                warn: console.printWarning)
            let store = try JSONStore(MemoryStore(exactly: mapper.model), mapper: mapper)
            let options = StoreSyncOptions(keyPath: place.keyPath)
            try await store.sync(.document(one, at: place.keyPath), into: arguments.entity, options: options)
            return (store, .document(other, at: otherPlace.keyPath), otherPlace.keyPath)
        }
    }

    private func givenModel() throws -> DataModel? {
        try arguments.model.map { try ModelChoice.given($0, warn: console.printWarning).model }
    }

    /// Finds the list of a document, as a sync does, and prints which one was taken.
    private func place(
        in beginning: [UInt8], _ kept: ModelChoice?, _ open: (JSONReader.Layout) throws -> JSONReader
    ) throws -> ListPlace {
        let place = try ListPlace(
            beginning, at: arguments.keyPath, entity: arguments.entity, kept: kept, dialect: arguments.dialect, open)
        if place.isFound {
            for note in place.notes { console.printError("note: \(PrintableText.line(note, limit: 400))") }
        }
        return place
    }

    /// Infers the model of a file; nil if it has no objects.
    private func model(of bytes: [UInt8], at place: ListPlace) throws -> DataModel? {
        do {
            return try DataModel.inferred(from: reader(bytes, at: place), entity: arguments.entity)
        } catch InferredModel.Failure.emptySample {
            return nil
        }
    }

    /// Returns a model with what another file has, too; that file's own model if there is none.
    private func extended(_ model: DataModel?, with other: [UInt8], at place: ListPlace) throws -> DataModel {
        let reader = self.reader(other, at: place)
        guard let model else { return try DataModel.inferred(from: reader, entity: arguments.entity) }
        let both = try InferredModel.Evolution(model, with: reader, entity: arguments.entity)
        for obstacle in both.obstacles.prefix(4) { console.printWarning("not compared: \(obstacle.reason)") }
        return both.model
    }

    private func reader(_ bytes: [UInt8], at place: ListPlace) -> JSONReader {
        JSONReader(bytes: bytes, layout: JSONStart.layout(bytes, at: place.keyPath))
    }
}
