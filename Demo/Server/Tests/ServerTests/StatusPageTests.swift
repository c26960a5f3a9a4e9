import Foundation
import Testing

/// The status page in a real browser.
@Suite(.enabled(if: Browser.path != nil, "needs Chromium"), .serialized, .timeLimit(.minutes(3)))
struct StatusPageTests {
    private func withFolder<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "StatusPage-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(folder)
    }

    /// Keeps a picture where `SCREENSHOTS` says.
    private func keep(_ name: String, of page: BrowserPage) async throws {
        guard let folder = ProcessInfo.processInfo.environment["SCREENSHOTS"] else { return }
        try await page.screenshot().write(to: URL(filePath: folder).appending(path: "\(name).png"))
    }

    @Test func aSyncAndAFailureAreShownAsTheyHappen() async throws {
        try await withFolder { folder in
            let server = try await ServerProcess(
                "--database", folder.appending(path: "data.sqlite").path, "--interval", "1")
            let browser = try Browser(profile: folder.appending(path: "profile"))
            let page = try await browser.open(server.page)
            try await page.wait(until: "document.getElementById('counts').textContent.includes('5,0')")
            try await page.wait(until: "document.body.dataset.state === 'waiting'")
            try await keep("fresh", of: page)

            #expect(try await server.request("upstream/fault/slow", method: "POST", isAuthorized: true).0 == 204)
            #expect(try await server.request("upstream/change", method: "POST", isAuthorized: true).0 == 204)
            try await page.wait(until: "!document.getElementById('progress').hidden")
            try await keep("progress", of: page)
            try await page.wait(until: "document.querySelectorAll('#changes tr').length > 0")

            #expect(try await server.request("upstream/fault/truncated", method: "POST", isAuthorized: true).0 == 204)
            try await page.wait(until: "!document.getElementById('failure').hidden")
            try await page.wait(until: "document.getElementById('state').textContent.includes('in a row')")
            #expect(try await page.text("document.getElementById('failure-text').textContent").count > 20)
            try await keep("failure", of: page)
            try await page.emulate(width: 390, height: 844, isDark: true)
            #expect(try await page.text("document.documentElement.scrollWidth <= window.innerWidth") == "true")
            try await keep("failure-phone-dark", of: page)

            #expect(try await server.request("upstream/fault/none", method: "POST", isAuthorized: true).0 == 204)
            try await page.wait(until: "document.getElementById('failure').hidden")
        }
    }

    @Test func aServerThatStoodByTakesOverAfterAKill() async throws {
        try await withFolder { folder in
            let database = folder.appending(path: "data.sqlite").path
            let first = try await ServerProcess("--database", database, "--interval", "1")
            let browser = try Browser(profile: folder.appending(path: "profile"))
            let firstPage = try await browser.open(first.page)
            try await firstPage.wait(until: "document.body.dataset.state === 'waiting'")

            let second = try await ServerProcess("--database", database, "--interval", "1")
            let page = try await browser.open(second.page)
            try await page.wait(until: "document.body.dataset.state === 'standingBy'")
            try await page.wait(until: "document.getElementById('detail').textContent.includes('held by')")
            // It serves what the first one has synced.
            #expect(try await second.request("users/1").0 == 200)
            try await keep("standby", of: page)

            first.kill()
            try await firstPage.wait(until: "document.body.dataset.state === 'disconnected'")
            try await page.wait(until: "['syncing', 'waiting'].includes(document.body.dataset.state)")
            try await keep("takeover", of: page)
        }
    }
}
