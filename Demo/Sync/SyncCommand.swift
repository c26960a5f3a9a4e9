import Foundation
import HTTPTransfer
import JSONMapper
import OneWaySynchronizer
import StoreSync
import SyncBase

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
                switch arguments.input {
                case .file(let file): return report(try await underLease { try await sync(file) })
                case .server(let url, let server):
                    let server = ServerSync(url, server, arguments: arguments)
                    guard let interval = server.interval else {
                        return report(try await underLease { try await sync(server) })
                    }
                    return await sync(server, every: interval)
                }
            } catch {
                return report(error)
            }
        }
    }

    /// The store's lease, under which no other process syncs into the store; nil if none is needed.
    private var lease: (any SyncLease)? { arguments.isPlan ? nil : arguments.store.lease }

    private func underLease(
        _ body: @escaping @Sendable () async throws -> SyncSummary
    ) async throws -> SyncSummary {
        guard let lease else { return try await body() }
        return try await lease.withLease(waiting: .forever, onWait: showWait, body)
    }

    /// Tells why a sync has to wait for the lease.
    private func showWait(_ reason: any Error) {
        console.clear()
        console.printError("waiting: \(PrintableText.line(FailureText.text(reason), limit: 300))")
    }

    /// Tells that a request is made again, on standard error, which is not part of a result.
    @Sendable private func showRetry(_ retry: RetryPolicy.Retry) {
        console.printError(ProgressDisplay.line(retry))
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
        summary.describe(choice, of: arguments, notes: notes, advice: arguments.advice)
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

    /// Syncs until it is interrupted.
    ///
    /// - Returns: The exit code.
    private func sync(_ server: ServerSync, every interval: Duration) async -> Int32 {
        let schedule = SyncSchedule(interval: interval, jitter: 0, maxFailureDelay: interval * 10)
        // The error of the sync that Ctrl-C interrupts; nil if none is running.
        let interruption = Locked<(any Error)?>(nil)
        let service = SyncService<Void>(schedule: schedule, lease: lease) {
            do {
                _ = report(try await sync(server))
            } catch {
                if Task.isCancelled { interruption.withLock { $0 = error } }
                throw error
            }
        }
        // Asked for before the run, so that none is missed.
        let events = service.events
        async let _ = show(events, interruption)
        do {
            try await service.run()
            return ExitCode.done
        } catch {
            guard let cause = interruption.withLock({ $0 }) else { return report(error, ofStop: "stopped") }
            return report(cause)
        }
    }

    private func show(_ events: SyncEvents<SyncService<Void>.Event>, _ interruption: Locked<(any Error)?>) async {
        for await event in events {
            switch event {
            case .failed(let error):
                // A lost lease cancels a sync, too, but the service goes on.
                interruption.withLock { $0 = nil }
                _ = report(error)
            case .standingBy(let holder?):
                showWait(SyncLeaseError.held(name: arguments.store.description, holder: holder))
            default: break
            }
        }
    }

    /// Opens the store and syncs it. It is opened each time, so that a server that is down at the
    /// start, and with it the model, may come later.
    private func sync(_ server: ServerSync) async throws -> SyncSummary {
        try await RetryPolicy.Retry.observed(by: showRetry) { try await syncOnce(server) }
    }

    private func syncOnce(_ server: ServerSync) async throws -> SyncSummary {
        let start = ContinuousClock.now
        let (choice, keyPath) = try await server.modelChoice(warn: warn, show: show)
        var notes: [String] = []
        var summary = try await arguments.keepingModel(of: choice) {
            try await arguments.withStore(choice, bookmarked: true, warn: warn, note: { notes.append($0) }) { store in
                try await server.run(store, at: keyPath, origin: choice.origin, since: start, show: show)
            }
        }
        summary.duration = ContinuousClock.now - start
        let advice = server.interval == nil ? arguments.advice : []
        summary.describe(choice, of: arguments, notes: notes, advice: advice)
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
    /// - Parameter stop: The text for a cancellation that has changed no model.
    /// - Returns: The exit code for it.
    private func report(_ error: any Error, ofStop stop: String = "stopped; nothing was changed") -> Int32 {
        let change = error as? ChangedModelError
        let isCancelled = (change?.cause ?? error) is CancellationError
        let text =
            isCancelled && change == nil ? stop : PrintableText.line(FailureText.text(error), limit: 1_000)
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
