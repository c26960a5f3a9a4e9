import Foundation
import HTTPTransfer
import JSONMapper
import OneWaySynchronizer
import StoreSync
import ModelInference
import SyncModel

/// The command `Demo sync`, which syncs JSON from a file or a server into a store.
struct SyncCommand {
    let arguments: SyncArguments
    let console: Console

    /// Runs the command until it ends or is interrupted.
    ///
    /// - Returns: The exit code.
    func run() async -> Int32 {
        await InterruptHandler.cancelling {
            do {
                try await underLease {
                    switch arguments.input {
                    case .file(let file): tell(try await sync(file))
                    case .server(let url, let server): try await sync(ServerSync(url, server, arguments: arguments))
                    }
                }
                return ExitCode.done
            } catch {
                return tell(error)
            }
        }
    }

    /// Runs a closure under the store's lease, so that no other process syncs into the store.
    private func underLease(_ body: @escaping @Sendable () async throws -> Void) async throws {
        guard let lease = arguments.store.lease, !arguments.isPlan else { return try await body() }
        try await lease.withLease(
            waiting: .forever,
            onWait: { holder in
                let name = holder.map { PrintableText.line("\($0)", limit: 200) } ?? "another process"
                console.printError("waiting for \(name) to finish with the same store")
            }, body)
    }

    // MARK: A file

    private func sync(_ file: InputFile) async throws -> SyncSummary {
        let (choice, source) = try await open(file)
        let store = try await arguments.open(choice.model)
        let result =
            arguments.isPlan
            ? try await store.plan(source, into: arguments.entity, options: arguments.options)
            : try await store.sync(source, into: arguments.entity, options: arguments.options)
        return SyncSummary(entity: arguments.entity, origin: choice.origin, isPlan: arguments.isPlan, result: result)
    }

    /// Finds or infers the model, and returns it with the source of the JSON.
    private func open(_ input: InputFile) async throws -> (ModelChoice, JSONSource) {
        if let choice = try await arguments.modelChoice(warn: console.printError) {
            return (choice, .chunks(input.chunks(willRead: progress(of: input))))
        }
        let layout = JSONLayout.array(at: arguments.keyPath, acceptsSingleObject: true)
        show("reading \(input.name) for a model")
        switch input {
        case .file(let path):
            let reader = try JSONReader(file: path, layout: layout)
            return (
                try .inferred(from: reader, entity: arguments.entity),
                .chunks(input.chunks(willRead: progress(of: input)))
            )
        case .standardInput:
            // The bytes are needed twice, but can be read only once.
            let bytes = try input.bytes()
            return (
                try .inferred(from: JSONReader(bytes: bytes, layout: layout), entity: arguments.entity), .bytes(bytes)
            )
        }
    }

    // MARK: A server

    private func sync(_ server: ServerSync) async throws {
        let choice = try await server.modelChoice(warn: console.printError)
        // A plan must not migrate the database.
        let model = arguments.isPlan ? choice.model : try choice.model.adding([SyncBookmark.entity])
        let store = try await arguments.open(model)
        guard let interval = server.interval else {
            return tell(try await server.run(store, origin: choice.origin, show: show))
        }
        let schedule = SyncSchedule(interval: interval, jitter: 0, maxFailureDelay: interval * 10)
        let service = SyncService(schedule: schedule) {
            do {
                tell(try await server.run(store, origin: choice.origin, show: show))
            } catch {
                if !(error is CancellationError) { _ = tell(error) }
                throw error
            }
        }
        try await service.run()
    }

    // MARK: Output

    private func progress(of input: InputFile) -> @Sendable (Int) -> Void {
        let total = input.byteCount
        return { show(Self.line(done: $0, total: total)) }
    }

    private func show(_ line: String) {
        if !arguments.printsJSON { console.show(line) }
    }

    /// Returns a progress line such as `[######------] 12.0 of 24.0 MB`.
    static func line(done: Int, total: Int?) -> String {
        guard let total, total > 0 else { return "\(megabytes(done)) MB" }
        return "\(ProgressDisplay.bar(done, of: total)) \(megabytes(done)) of \(megabytes(total)) MB"
    }

    static func megabytes(_ byteCount: Int) -> String {
        let tenths = (byteCount + 50_000) / 100_000
        return "\(tenths / 10).\(tenths % 10)"
    }

    private func tell(_ outcome: SyncSummary) {
        console.clear()
        if arguments.printsJSON {
            console.print(outcome.json)
        } else {
            for line in outcome.lines { console.print(line) }
        }
    }

    private func tell(_ error: any Error) -> Int32 {
        let isCancelled = error is CancellationError
        let text = isCancelled ? "stopped; nothing was changed" : PrintableText.line("\(error)", limit: 1_000)
        console.clear()
        if arguments.printsJSON {
            console.print(SyncSummary.json(ofFailure: text))
        } else {
            console.printError(isCancelled ? text : "failed: \(text)")
        }
        return isCancelled ? ExitCode.interrupted : ExitCode.failed
    }
}

extension SyncArguments {
    /// The sync options of the arguments.
    var options: StoreSyncOptions {
        StoreSyncOptions(operations: operations, scope: scope, keyPath: keyPath, removalLimit: removalLimit)
    }

    /// Returns the given or stored model; nil if it must be inferred from the JSON.
    ///
    /// - Throws: ``StoreLocationError/noModel`` for a database without a model.
    func modelChoice(warn: (String) -> Void) async throws -> ModelChoice? {
        if let model { return try .given(model, warn: warn) }
        if let kept = try await store.keptModel() { return ModelChoice(model: kept, origin: .kept) }
        return nil
    }

    /// Opens the store, for writing or for a plan.
    func open(_ model: DataModel) async throws -> JSONStore {
        let mapper = try RecordMapper(model, dialect: dialect)
        let opened = isPlan ? try await store.openForPlan(mapper.model) : try await store.open(mapper.model)
        return try JSONStore(opened, mapper: mapper)
    }
}
