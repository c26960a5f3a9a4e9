import Foundation
import HTTPTransfer
import JSONMapper
import OneWaySynchronizer
import SyncFolder

/// The command `Demo mirror`: one pass, a dry run, or scheduled passes.
struct MirrorCommand {
    let arguments: MirrorArguments
    let console: Console

    /// Runs the command until it ends or is interrupted.
    ///
    /// - Returns: The exit code.
    func run() async -> Int32 {
        OpenFiles.raiseLimit()
        let mirror = FolderMirror(
            of: arguments.listURL, in: arguments.folder,
            client: FolderMirror.client(requestsPerSecond: arguments.requestsPerSecond), headers: arguments.headers,
            allowsHTTP: arguments.allowsHTTP, trustsDates: arguments.trustsDates)
        let synchronizer = Synchronizer(processor: mirror, options: options)
        if arguments.isDryRun { return await InterruptHandler.cancelling { await showPlan(of: synchronizer) } }
        if let interval = arguments.interval {
            return await repeatPasses(of: synchronizer, every: interval)
        }
        return await runPass(of: synchronizer)
    }

    private var options: SyncOptions {
        SyncOptions(
            concurrency: arguments.concurrency, downloadPreview: true, stopOnError: !arguments.keepsGoing,
            removalLimit: arguments.removalLimit, retry: RetryPolicy(outlasting: arguments.outage),
            itemTimeout: arguments.itemTimeout)
    }

    // MARK: One pass

    private func runPass(of synchronizer: Synchronizer<FolderMirror>) async -> Int32 {
        let interrupt = InterruptHandler {
            synchronizer.cancel()
        }
        defer { withExtendedLifetime(interrupt) {} }
        if arguments.printsJSON { return reportJSON(await Self.result(of: synchronizer), synchronizer.processor) }
        return report(await ProgressDisplay.showPass(of: synchronizer, on: console), synchronizer.processor)
    }

    /// Prints the result of a pass.
    ///
    /// - Returns: The exit code for it.
    private func report(_ result: Result<SyncReport, SyncFailure>, _ mirror: FolderMirror) -> Int32 {
        for note in mirror.takeNotes() { console.printWarning(note) }
        switch result {
        case .success(let report):
            console.print("done: \(report)")
            return ExitCode.done
        case .failure(let failure):
            for error in failure.errors { console.printFailure("\(error)") }
            let surplus = failure.report.errorCount - failure.errors.count
            if surplus > 0 { console.printFailure("and \(surplus) more") }
            console.printFailure("\(failure.report)", failure.isCancelled ? "stopped" : "failed")
            return failure.isCancelled ? ExitCode.interrupted : ExitCode.failed
        }
    }

    private static func result(
        of synchronizer: Synchronizer<FolderMirror>
    ) async -> Result<SyncReport, SyncFailure> {
        do throws(SyncFailure) {
            return .success(try await synchronizer.sync())
        } catch {
            return .failure(error)
        }
    }

    /// Prints the result of a pass as one JSON object.
    ///
    /// - Returns: The exit code for it.
    private func reportJSON(_ result: Result<SyncReport, SyncFailure>, _ mirror: FolderMirror) -> Int32 {
        var writer = JSONWriter()
        writer.beginObject()
        let report: SyncReport
        var code = ExitCode.done
        switch result {
        case .success(let done): report = done
        case .failure(let failure):
            report = failure.report
            code = failure.isCancelled ? ExitCode.interrupted : ExitCode.failed
            writer.key("error")
            writer.string(failure.errors.first.map { "\($0)" } ?? "\(failure)")
            writer.key("errors")
            writer.beginArray()
            for error in failure.errors { writer.string("\(error)") }
            writer.endArray()
        }
        let numbers: KeyValuePairs = [
            "inserted": report.inserted, "updated": report.updated, "unchanged": report.unchanged,
            "deleted": report.deleted,
        ]
        for (name, number) in numbers {
            writer.key(name)
            writer.integer(Int64(number))
        }
        writer.key("notes")
        writer.beginArray()
        for note in mirror.takeNotes() { writer.string(note) }
        writer.endArray()
        writer.endObject()
        console.print(String(decoding: writer.bytes, as: UTF8.self))
        return code
    }

    // MARK: Passes on a schedule

    private func repeatPasses(
        of synchronizer: Synchronizer<FolderMirror>, every interval: Duration
    ) async -> Int32 {
        let service = SyncService(synchronizer: synchronizer, schedule: SyncSchedule(interval: interval, jitter: 0))
        let interrupt = InterruptHandler {
            service.requestStop()
            synchronizer.cancel()
        }
        defer { withExtendedLifetime(interrupt) {} }
        let events = synchronizer.events
        let display = Task { await showPasses(events, synchronizer.processor) }
        let code: Int32
        do {
            try await service.run()
            code = ExitCode.interrupted
        } catch {
            console.printFailure("\(error)")
            code = ExitCode.failed
        }
        // Cancelling shows the events so far, but no later ones.
        display.cancel()
        await display.value
        return code
    }

    private func showPasses(_ events: SyncEvents<SyncEvent>, _ mirror: FolderMirror) async {
        var display = ProgressDisplay(console: console)
        for await event in events {
            display.show(event)
            if case .passEnded(let result) = event { _ = report(result, mirror) }
        }
    }

    // MARK: Dry run

    private func showPlan(of synchronizer: Synchronizer<FolderMirror>) async -> Int32 {
        do throws(SyncFailure) {
            let plan = try await synchronizer.plan()
            for line in Self.lines(of: plan) { console.print(line) }
            guard let refusal = plan.refusal else { return ExitCode.done }
            console.printFailure("\(refusal)", "would fail")
            return ExitCode.failed
        } catch {
            console.printFailure("\(error)", error.isCancelled ? "stopped" : "failed")
            return error.isCancelled ? ExitCode.interrupted : ExitCode.failed
        }
    }

    /// Returns one line per key that would change, sorted, and a line with counts.
    static func lines(of plan: SyncPlan<FolderItem>) -> [String] {
        let changes = plan.steps.filter { $0.action != .leave }
        let lines = changes.map { "\(PrintableText.line($0.key.text))  \($0.action)" }.sorted()
        let count = plan.counts[.leave] ?? 0
        return lines + ["\(count) unchanged, \(changes.count) to change; nothing was changed"]
    }
}
