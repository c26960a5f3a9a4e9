import HTTPTransfer
import OneWaySynchronizer

/// A display of a synchronizer's events: a live line on a terminal, otherwise one line per stage.
struct ProgressDisplay {
    let console: Console
    /// The text at the start of every line.
    var indentation = ""
    private var last: SyncStatus.Progress?

    init(console: Console, indentation: String = "") {
        self.console = console
        self.indentation = indentation
    }

    /// Runs a pass, and shows its events until the synchronizer is idle again.
    static func showPass<Processor: SyncProcessor>(
        of synchronizer: Synchronizer<Processor>, on console: Console, indentation: String = ""
    ) async -> Result<SyncReport, SyncFailure> {
        let events = synchronizer.events
        let display = Task {
            var display = ProgressDisplay(console: console, indentation: indentation)
            await display.showUntilIdle(events)
        }
        let result: Result<SyncReport, SyncFailure>
        do throws(SyncFailure) {
            result = .success(try await synchronizer.sync())
        } catch {
            result = .failure(error)
        }
        await display.value
        return result
    }

    /// Shows events until the synchronizer is idle again or deallocated.
    ///
    /// - Parameter events: Events that were requested before the pass began.
    mutating func showUntilIdle(_ events: SyncEvents<SyncEvent>) async {
        for await event in events {
            show(event)
            if case .statusChanged(let status) = event, !status.isSyncing { return }
        }
    }

    mutating func show(_ event: SyncEvent) {
        switch event {
        case .progress(let progress):
            if progress.stage != last?.stage { printFinal() }
            last = progress
            console.show(Self.line(progress), indentation: indentation)
        case .willRetry(let retry): console.print("\(indentation)\(Self.line(retry))")
        case .passEnded:
            printFinal()
            last = nil
        case .statusChanged, .stageBegan, .failed:
            // Errors are reported once, at the end.
            break
        }
    }

    /// Prints the last state of a stage that moves items, if there is no live line.
    private func printFinal() {
        console.clear()
        guard let progress = last, !console.isTerminal, [.preview, .content].contains(progress.stage) else { return }
        console.print("\(indentation)\(Self.line(progress))")
    }

    /// Returns a line such as `content 3 of 12, 1 failed`, with a bar if the total is known.
    static func line(_ progress: SyncStatus.Progress) -> ProgressLine {
        let failures = progress.failed > 0 ? ", \(progress.failed) failed" : ""
        guard let total = progress.total, total > 0 else {
            return ProgressLine("\(name(of: progress.stage)) \(progress.done)\(failures)")
        }
        return ProgressLine(
            "\(name(of: progress.stage)) \(progress.done) of \(total)\(failures)",
            done: progress.done + progress.failed, total: total)
    }

    /// Returns a line such as `retrying in 0.5 s after attempt 1 of 8: …`.
    static func line(_ retry: RetryPolicy.Retry) -> String {
        let text = PrintableText.line(FailureText.text(retry.error), limit: 300)
        return
            "retrying in \(Quantity.time(retry.delay)) after attempt \(retry.attempt) of \(retry.maxAttempts): \(text)"
    }

    /// The name of a stage for people.
    private static func name(of stage: SyncStage) -> String {
        switch stage {
        case .localKeys: "local keys"
        case .shouldUpdate: "update checks"
        default: stage.rawValue
        }
    }
}
