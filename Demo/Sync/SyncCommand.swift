import Foundation
import JSONMapper
import StoreSync
import SyncModel

/// `Demo sync`: JSON into a store.
struct SyncCommand {
    let arguments: SyncArguments
    let console: Console

    /// Does what the arguments say, until it is done or interrupted.
    ///
    /// - Returns: The exit code.
    func run() async -> Int32 {
        await InterruptHandler.cancelling {
            do {
                let outcome = try await sync()
                console.clear()
                if arguments.printsJSON {
                    console.print(outcome.json)
                } else {
                    for line in outcome.lines { console.print(line) }
                }
                return ExitCode.done
            } catch {
                return tell(error)
            }
        }
    }

    private func sync() async throws -> SyncOutcome {
        let (choice, source) = try open()
        let mapper = try RecordMapper(choice.model, dialect: arguments.dialect)
        let opened =
            arguments.isPlan
            ? try await arguments.store.openForPlan(mapper.model) : try await arguments.store.open(mapper.model)
        let store = try JSONStore(opened, mapper: mapper)
        let options = StoreSyncOptions(
            operations: arguments.operations, scope: arguments.scope, keyPath: arguments.keyPath,
            removalLimit: arguments.removalLimit)
        let result =
            arguments.isPlan
            ? try await store.plan(source, into: arguments.entity, options: options)
            : try await store.sync(source, into: arguments.entity, options: options)
        return SyncOutcome(entity: arguments.entity, origin: choice.origin, isPlan: arguments.isPlan, result: result)
    }

    /// Finds the model, and where the JSON is to be read from then.
    private func open() throws -> (ModelChoice, JSONSource) {
        if let file = arguments.model {
            return (try .given(file, warn: console.printError), .chunks(arguments.input.chunks(willRead: progress())))
        }
        if let kept = try arguments.store.keptModel() {
            return (ModelChoice(model: kept, origin: .kept), .chunks(arguments.input.chunks(willRead: progress())))
        }
        guard !arguments.store.exists else { throw StoreLocationError.noModel }
        let layout = JSONLayout.array(at: arguments.keyPath, acceptsSingleObject: true)
        show("reading \(arguments.input.name) for a model")
        switch arguments.input {
        case .file(let path):
            let reader = try JSONReader(file: path, layout: layout)
            return (
                try .inferred(from: reader, entity: arguments.entity),
                .chunks(arguments.input.chunks(willRead: progress()))
            )
        case .standardInput:
            // It is needed twice, and can be read but once.
            let bytes = try arguments.input.bytes()
            return (
                try .inferred(from: JSONReader(bytes: bytes, layout: layout), entity: arguments.entity), .bytes(bytes)
            )
        }
    }

    // MARK: Telling

    private func progress() -> @Sendable (Int) -> Void {
        let total = arguments.input.byteCount
        return { show(Self.line(done: $0, total: total)) }
    }

    private func show(_ line: String) {
        if !arguments.printsJSON { console.show(line) }
    }

    /// Such as `[######------] 12.0 of 24.0 MB`.
    static func line(done: Int, total: Int?) -> String {
        guard let total, total > 0 else { return "\(megabytes(done)) MB" }
        return "\(ProgressDisplay.bar(done, of: total)) \(megabytes(done)) of \(megabytes(total)) MB"
    }

    private static func megabytes(_ byteCount: Int) -> String {
        let tenths = (byteCount + 50_000) / 100_000
        return "\(tenths / 10).\(tenths % 10)"
    }

    private func tell(_ error: any Error) -> Int32 {
        let isCancelled = error is CancellationError
        let text = isCancelled ? "stopped; nothing was changed" : Printable.text("\(error)", limit: 1_000)
        console.clear()
        if arguments.printsJSON {
            console.print(SyncOutcome.json(ofFailure: text))
        } else {
            console.printError(isCancelled ? text : "failed: \(text)")
        }
        return isCancelled ? ExitCode.interrupted : ExitCode.failed
    }
}
