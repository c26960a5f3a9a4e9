import Foundation

/// The cases that have begun and not ended, and the thread that watches them.
final class RunningTests: Sendable {
    static let shared = RunningTests()

    private struct Run {
        let name: String
        let beginning: SuspendingClock.Instant
    }

    private struct State {
        var runs: [Int: Run] = [:]
        var lastID = 0
        var isWatched = false
    }

    private let lock = NSLock()
    /// Used with ``lock`` held.
    nonisolated(unsafe) private var state = State()
    private let clock = SuspendingClock()
    private let limit: Duration
    /// The descriptor of the journal; nil without one.
    private let journal: Int32?

    private init() {
        let environment = ProcessInfo.processInfo.environment
        limit = .seconds(environment["TEST_LIMIT"].flatMap { Int($0) } ?? 900)
        journal = environment["TEST_JOURNAL"].map { open($0, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644) }
    }

    private func withState<Result>(_ body: (inout State) -> Result) -> Result {
        lock.withLock { body(&state) }
    }

    func begin(_ name: String) -> Int {
        let run = Run(name: name, beginning: clock.now)
        let (id, isFirst) = withState { state in
            state.lastID += 1
            state.runs[state.lastID] = run
            defer { state.isWatched = true }
            return (state.lastID, !state.isWatched)
        }
        if isFirst { Thread.detachNewThread { self.watch() } }
        write("began", id, seconds: 0, name)
        return id
    }

    func end(_ id: Int) {
        guard let run = withState({ $0.runs.removeValue(forKey: id) }) else { return }
        write("ended", id, seconds: (clock.now - run.beginning) / .seconds(1), run.name)
    }

    /// One line is one call, so that those of several processes do not mix.
    private func write(_ event: String, _ id: Int, seconds: Double, _ name: String) {
        guard let journal else { return }
        let process = ProcessInfo.processInfo.processIdentifier
        let line = "\(event)\t\(process).\(id)\t\(String(format: "%.3f", seconds))\t\(name)\n"
        try? FileHandle(fileDescriptor: journal, closeOnDealloc: false).write(contentsOf: Data(line.utf8))
    }

    private func watch() {
        while true {
            Thread.sleep(forTimeInterval: 1)
            let now = clock.now
            let runs = withState { Array($0.runs.values) }.sorted { $0.beginning < $1.beginning }
            guard let oldest = runs.first, now - oldest.beginning > limit else { continue }
            var text = "error: a test has not ended within \(limit); tests that have begun and not ended:\n"
            for run in runs { text += "  \(now - run.beginning)  \(run.name)\n" }
            FileHandle.standardError.write(Data(text.utf8))
            // What ends servers and child processes at the exit may itself hang.
            Thread.detachNewThread {
                Thread.sleep(forTimeInterval: 20)
                _Exit(1)
            }
            exit(1)
        }
    }
}
