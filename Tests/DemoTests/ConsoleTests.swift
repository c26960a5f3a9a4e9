import OneWayTestLimits
import SyncBase
import HTTPTransfer
import OneWaySynchronizer
import OneWayTestSupport
import Testing

@testable import Demo

@Suite(.endsInTime) struct ConsoleTests {
    /// Runs a pass of two items, the first of which fails once, and returns everything that was
    /// written.
    private func output(isTerminal: Bool) async throws -> String {
        let written = EventLog<String>()
        let console = Console(isTerminal: isTerminal, progressInterval: .seconds(86_400)) { text, _ in
            written.append(text)
        }
        let tries = Locked(0)
        let processor = ScriptedProcessor(source: [TestItem("a"), TestItem("b")]) { call in
            guard call == .content("a") else { return }
            let isFirst = tries.withLock { tries in
                tries += 1
                return tries == 1
            }
            if isFirst { throw RetryableTestError(retryAfter: .zero) }
        }
        let synchronizer = Synchronizer(
            processor: processor, options: SyncOptions(concurrency: 1, retry: RetryPolicy(baseDelay: .zero)))
        let events = synchronizer.events
        let shown = Task {
            var display = ProgressDisplay(console: console, indentation: "> ")
            await display.showUntilIdle(events)
        }
        try await synchronizer.sync()
        await shown.value
        return written.events.joined()
    }

    @Test func pipedOutputIsPlainLines() async throws {
        let output = try await output(isTerminal: false)
        #expect(output.hasPrefix("> retrying in 0 ms after attempt 1 of 8: content of \"a\": "))
        #expect(output.hasSuffix("\n> [########################] content 2 of 2\n"))
        #expect(output.split(separator: "\n").count == 2)
        #expect(!output.contains("\u{1B}") && !output.contains("\r"))
    }

    @Test func aTerminalShowsALineThatIsRewritten() async throws {
        let output = try await output(isTerminal: true)
        let clear = "\r\u{1B}[K"
        #expect(output.contains("\(clear)> [########################] content 2 of 2"))
        // What stays is the line about the retry; the live line is gone in the end.
        #expect(output.hasSuffix(clear))
        #expect(output.count { $0 == "\n" } == 1)
    }

    @Test func aPermanentLineReplacesTheLiveLine() {
        let written = EventLog<String>()
        let console = Console(isTerminal: true) { text, _ in written.append(text) }
        console.show(ProgressLine("1 of 2"))
        console.print("done")
        console.print("bye")
        #expect(written.events == ["\r\u{1B}[K1 of 2", "\r\u{1B}[Kdone\n", "bye\n"])
    }

    @Test(arguments: [
        ("plain é 日本", "plain é 日本"), ("a\nb\u{1B}[2J\0", "a?b?[2J?"), ("a\u{202E}b", "a?b"),
        ("1234567890123", "1234567890…"), ("", ""),
    ])
    func aTextFromOutsideFitsOneLine(text: String, printable: String) {
        #expect(PrintableText.line(text, limit: 10) == printable)
    }
}
