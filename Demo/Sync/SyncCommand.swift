import Foundation
import HTTPTransfer
import JSONMapper
import ModelInference
import OneWaySynchronizer
import StoreSync
import SyncBase
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
                let code = Locked(ExitCode.done)
                try await underLease {
                    let end =
                        switch arguments.input {
                        case .file(let file): report(try await sync(file))
                        case .server(let url, let server):
                            try await sync(ServerSync(url, server, arguments: arguments))
                        }
                    code.withLock { $0 = end }
                }
                return code.withLock { $0 }
            } catch {
                return report(error)
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
                console.printError("waiting for \(name), which syncs into the same store")
            }, body)
    }

    // MARK: A file

    private func sync(_ file: InputFile) async throws -> SyncSummary {
        let start = ContinuousClock.now
        let byteCount = Locked(0)
        let total = file.byteCount
        let willRead: @Sendable (Int) -> Void = { count in
            byteCount.withLock { $0 = count }
            show(Self.line(done: count, total: total))
        }
        let (choice, source, keyPath) = try await open(file, willRead)
        var options = arguments.options
        options.keyPath = keyPath
        var notes: [String] = []
        let result = try await arguments.keepingModel(of: choice) {
            try await arguments.withStore(choice, warn: warn, note: { notes.append($0) }) { [options] store in
                arguments.isPlan
                    ? try await store.plan(source, into: arguments.entity, options: options)
                    : try await store.sync(source, into: arguments.entity, options: options)
            }
        }
        var summary = SyncSummary(
            entity: arguments.entity, origin: choice.origin, isPlan: arguments.isPlan, result: result)
        summary.duration = ContinuousClock.now - start
        summary.byteCount = byteCount.withLock { $0 }
        summary.describe(choice, notes: notes, advice: arguments.advice)
        return summary
    }

    /// Finds or infers the model, and returns it with the source of the JSON and the keys that lead
    /// to its list.
    private func open(
        _ input: InputFile, _ willRead: @escaping @Sendable (Int) -> Void
    ) async throws -> (ModelChoice, JSONSource, keyPath: String) {
        let kept = try await arguments.modelChoice(warn: warn)
        if let kept, !arguments.needsSample(kept) {
            let (place, source) = try await input.findList(at: arguments.keyPath, willRead: willRead) {
                try ListPlace($0, arguments, kept, $1)
            }
            var choice = kept
            choice.notes = place.notes + choice.notes
            return (choice, source, place.keyPath)
        }
        show(ProgressLine("reading \(input.name) for a model"))
        if case .file(let path) = input, input.byteCount != nil {
            let (choice, keyPath) = try choose(kept, try input.beginning()) { try JSONReader(file: path, layout: $0) }
            return (choice, input.source(at: keyPath, willRead: willRead), keyPath)
        }
        // The bytes are needed twice, but can be read only once.
        let bytes = try input.bytes()
        willRead(bytes.count)
        let (choice, keyPath) = try choose(kept, bytes) { JSONReader(bytes: bytes, layout: $0) }
        return (choice, .document(bytes, at: keyPath), keyPath)
    }

    /// Finds the list of a document, and infers or extends the model of its objects.
    ///
    /// - Parameters:
    ///   - kept: The stored model; nil if there is none.
    ///   - beginning: The first bytes of the document.
    ///   - open: Opens the document with a layout.
    private func choose(
        _ kept: ModelChoice?, _ beginning: some Collection<UInt8>, _ open: (JSONReader.Layout) throws -> JSONReader
    ) throws -> (ModelChoice, keyPath: String) {
        let place = try ListPlace(beginning, arguments, kept, open)
        let layout = JSONStart.layout(beginning, at: place.keyPath)
        var choice = try arguments.modelChoice(kept, place, with: try open(layout))
        choice.notes = place.notes + choice.notes
        return (choice, place.keyPath)
    }

    // MARK: A server

    /// - Returns: The exit code.
    private func sync(_ server: ServerSync) async throws -> Int32 {
        guard let interval = server.interval else { return report(try await syncOnce(server)) }
        let schedule = SyncSchedule(interval: interval, jitter: 0, maxFailureDelay: interval * 10)
        let service = SyncService(schedule: schedule) {
            do {
                _ = report(try await syncOnce(server))
            } catch {
                if !(error is CancellationError) { _ = report(error) }
                throw error
            }
        }
        try await service.run()
        return ExitCode.done
    }

    /// Opens the store and syncs it. It is opened each time, so that a server that is down at the
    /// start, and with it the model, may come later.
    private func syncOnce(_ server: ServerSync) async throws -> SyncSummary {
        let start = ContinuousClock.now
        let (choice, keyPath) = try await server.modelChoice(warn: warn)
        var notes: [String] = []
        var summary = try await arguments.keepingModel(of: choice) {
            try await arguments.withStore(choice, bookmarked: true, warn: warn, note: { notes.append($0) }) { store in
                try await server.run(store, at: keyPath, origin: choice.origin, show: show)
            }
        }
        summary.duration = ContinuousClock.now - start
        summary.describe(choice, notes: notes, advice: server.interval == nil ? arguments.advice : [])
        return summary
    }

    // MARK: Reporting

    private func warn(_ text: String) {
        if !arguments.printsJSON { console.printWarning(text) }
    }

    private func show(_ line: ProgressLine) {
        if !arguments.printsJSON { console.show(line) }
    }

    /// Returns a progress line such as `[######------] 12.0 MB of 24.0 MB`.
    static func line(done: Int, total: Int?) -> ProgressLine {
        guard let total, total > 0 else { return ProgressLine(Quantity.megabytes(done)) }
        return ProgressLine(
            "\(Quantity.megabytes(done)) of \(Quantity.megabytes(total))", done: done, total: total)
    }

    /// Prints a result.
    ///
    /// - Returns: The exit code for it.
    private func report(_ summary: SyncSummary) -> Int32 {
        console.clear()
        if arguments.printsJSON {
            console.print(summary.json)
        } else {
            for line in summary.lines(width: console.width, style: console.style) { console.print(line) }
        }
        return summary.findings.isDisjoint(with: arguments.failingFindings) ? ExitCode.done : ExitCode.incomplete
    }

    /// Prints a failure.
    ///
    /// - Returns: The exit code for it.
    private func report(_ error: any Error) -> Int32 {
        let isCancelled = error is CancellationError
        let text =
            isCancelled ? "stopped; nothing was changed" : PrintableText.line(FailureText.text(error), limit: 1_000)
        console.clear()
        if arguments.printsJSON {
            console.print(SyncSummary.json(ofFailure: text))
        } else if isCancelled {
            console.printError(text)
        } else {
            console.printFailure(text)
        }
        return isCancelled ? ExitCode.interrupted : ExitCode.failed
    }
}
