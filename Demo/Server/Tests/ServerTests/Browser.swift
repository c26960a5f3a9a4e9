import Foundation
import Synchronization

/// A headless Chromium, driven by the DevTools protocol over pipes.
///
/// Chromium reads commands from file descriptor 3 and writes answers to 4, each ended by a zero
/// byte.
final class Browser: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private struct State {
        var nextID = 1
        var waiting: [Int: CheckedContinuation<Data, any Error>] = [:]
        var hasEnded = false
    }

    private let process = Process()
    /// Written to under the lock of `state`, so that commands do not mix.
    private let commands: FileHandle
    private let state = Mutex(State())

    /// The program, if it is installed.
    static let path = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    init(profile: URL) throws {
        guard let path = Self.path else { throw Failure(description: "Chromium is not installed") }
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = [
            "-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", path, "--headless=new", "--no-sandbox",
            "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--user-data-dir=\(profile.path)",
            "--remote-debugging-pipe", "--window-size=900,1000", "about:blank",
        ]
        process.standardInput = input
        process.standardOutput = output
        commands = input.fileHandleForWriting
        try process.run()
        let answers = output.fileHandleForReading
        Thread.detachNewThread { [weak self] in
            var buffer = Data()
            while true {
                let data = answers.availableData
                guard !data.isEmpty else { break }
                buffer.append(data)
                while let end = buffer.firstIndex(of: 0) {
                    self?.receive(buffer[buffer.startIndex..<end])
                    buffer = Data(buffer[(end + 1)...])
                }
            }
            self?.end()
        }
    }

    deinit { process.terminate() }

    private func receive(_ message: Data) {
        struct Answer: Decodable {
            var id: Int?
        }
        guard let id = (try? JSONDecoder().decode(Answer.self, from: message))?.id else { return }
        state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(returning: Data(message))
    }

    private func end() {
        let waiting = state.withLock { state in
            state.hasEnded = true
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for command in waiting { command.resume(throwing: Failure(description: "Chromium has ended")) }
    }

    /// Sends a command and returns its result.
    func send<Result: Decodable>(
        _ method: String, _ parameters: [String: any Sendable] = [:], session: String? = nil, as type: Result.Type
    ) async throws -> Result {
        let data = try await withCheckedThrowingContinuation { continuation in
            let failure: (any Error)? = state.withLock { state in
                guard !state.hasEnded else { return Failure(description: "Chromium has ended") }
                let id = state.nextID
                state.nextID += 1
                var message: [String: Any] = ["id": id, "method": method, "params": parameters]
                if let session { message["sessionId"] = session }
                do {
                    var data = try JSONSerialization.data(withJSONObject: message)
                    data.append(0)
                    state.waiting[id] = continuation
                    try commands.write(contentsOf: data)
                    return nil
                } catch {
                    state.waiting[id] = nil
                    return error
                }
            }
            if let failure { continuation.resume(throwing: failure) }
        }
        let answer = try JSONDecoder().decode(BrowserAnswer<Result>.self, from: data)
        guard let result = answer.result else {
            throw Failure(description: "\(method): \(answer.error?.message ?? "no result")")
        }
        return result
    }

    /// Opens a page.
    func open(_ url: URL) async throws -> BrowserPage {
        struct Target: Decodable {
            var targetId: String
        }
        struct Session: Decodable {
            var sessionId: String
        }
        struct Navigation: Decodable {
            var errorText: String?
        }
        let target = try await send("Target.createTarget", ["url": "about:blank"], as: Target.self)
        let session = try await send(
            "Target.attachToTarget", ["targetId": target.targetId, "flatten": true], as: Session.self)
        let page = BrowserPage(browser: self, session: session.sessionId)
        // Answered when the new document has replaced the empty one.
        let navigation = try await send(
            "Page.navigate", ["url": url.absoluteString], session: page.session, as: Navigation.self)
        if let error = navigation.errorText { throw Failure(description: "\(url): \(error)") }
        _ = try await page.text(
            "document.readyState === 'complete' || new Promise(resolve => addEventListener('load', resolve))")
        return page
    }
}

private struct BrowserAnswer<Result: Decodable>: Decodable {
    struct Problem: Decodable {
        var message: String
    }

    var result: Result?
    var error: Problem?
}

/// A page of a browser.
struct BrowserPage: Sendable {
    let browser: Browser
    let session: String

    /// The value of an expression, as text.
    func text(_ expression: String) async throws -> String {
        struct Answer: Decodable {
            struct Value: Decodable {
                var value: String?
            }
            struct Details: Decodable {
                var text: String
            }
            var result: Value
            var exceptionDetails: Details?
        }
        let answer = try await browser.send(
            "Runtime.evaluate",
            [
                "expression": "(async () => String(await (\(expression))))()", "awaitPromise": true,
                "returnByValue": true,
            ],
            session: session, as: Answer.self)
        if let problem = answer.exceptionDetails { throw Browser.Failure(description: problem.text) }
        return answer.result.value ?? ""
    }

    /// Waits until a condition is true, which is checked whenever the document changes.
    func wait(until condition: String) async throws {
        _ = try await text(
            """
            new Promise(resolve => {
              const check = () => (\(condition)) ? (resolve(true), true) : false;
              if (check()) return;
              const observer = new MutationObserver(() => { if (check()) observer.disconnect(); });
              observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
            })
            """)
    }

    /// A picture of the page, as PNG.
    func screenshot() async throws -> Data {
        struct Picture: Decodable {
            var data: Data
        }
        return try await browser.send("Page.captureScreenshot", ["format": "png"], session: session, as: Picture.self)
            .data
    }

    /// Shows the page as on a phone, or in the dark.
    func emulate(width: Int, height: Int, isDark: Bool) async throws {
        struct Nothing: Decodable {}
        _ = try await browser.send(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": height, "deviceScaleFactor": 2, "mobile": width < 600], session: session,
            as: Nothing.self)
        _ = try await browser.send(
            "Emulation.setEmulatedMedia",
            ["features": [["name": "prefers-color-scheme", "value": isDark ? "dark" : "light"]]], session: session,
            as: Nothing.self)
    }
}
