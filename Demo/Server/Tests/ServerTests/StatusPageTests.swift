import Foundation
import ServerTestLimits
import Testing

/// The status page in a real browser.
@Suite(.enabled(if: Browser.path != nil, "needs Chromium"), .serialized, .endsInTime)
struct StatusPageTests {
    private func withFolder<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "StatusPage-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(folder)
    }

    /// Keeps a picture in the folder `SCREENSHOTS`, if the environment names one.
    private func keep(_ name: String, of page: BrowserPage) async throws {
        guard let path = ProcessInfo.processInfo.environment["SCREENSHOTS"] else { return }
        let folder = URL(filePath: path)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try await page.screenshot().write(to: folder.appending(path: "\(name).png"))
    }

    @Test func aSyncAndAFailureAreShownAsTheyHappen() async throws {
        try await withFolder { folder in
            let server = try await ServerProcess([
                "--database", folder.appending(path: "data.sqlite").path, "--interval", "1", "--fault", "stalled",
            ])
            func fault(_ kind: String) async throws {
                #expect(
                    try await server.request("upstream/fault/\(kind)", method: "POST", isAuthorized: true).0 == 204)
            }
            let browser = try Browser(profile: folder.appending(path: "profile"))
            let page = try await browser.open(server.page)
            // The first sync reads 5 of 50 pages, and then hangs for as long as this test looks at
            // it.
            let share = "Number(document.querySelector('[role=progressbar]').getAttribute('aria-valuenow'))"
            try await page.wait(until: "!document.getElementById('progress').hidden && \(share) > 3")
            #expect(try await page.text("document.body.dataset.state") == "syncing")
            #expect(try await page.text("\(share) < 100") == "true")
            try await keep("progress", of: page)

            try await fault("none")
            try await page.wait(until: "document.getElementById('counts').textContent.includes('users')")
            try await page.wait(until: "document.body.dataset.state === 'waiting'")
            try await page.wait(until: "document.querySelectorAll('#changes tr').length > 0")
            // The next sync may have begun.
            try await page.wait(until: "document.getElementById('progress').hidden")
            #expect(try await page.text("document.getElementById('failure').hidden") == "true")
            #expect(try await server.request("upstream/change", method: "POST", isAuthorized: true).0 == 204)
            try await page.wait(until: "document.querySelectorAll('#passes tr').length > 1")
            try await keep("fresh", of: page)

            try await fault("truncated")
            try await page.wait(until: "!document.getElementById('failure').hidden")
            try await page.wait(until: "document.getElementById('state').textContent.includes('in a row')")
            #expect(try await page.text("document.getElementById('failure-text').textContent").count > 20)
            try await keep("failure", of: page)
            try await page.emulate(width: 390, height: 1400, isDark: true)
            #expect(try await page.text("document.documentElement.scrollWidth <= window.innerWidth") == "true")
            // Nothing hangs out of a box either.
            let boxes = "[...document.querySelectorAll('section')]"
            #expect(try await page.text("\(boxes).every(box => box.scrollWidth <= box.clientWidth)") == "true")
            try await keep("failure-phone-dark", of: page)

            try await fault("none")
            try await page.wait(until: "document.getElementById('failure').hidden")
            // With the page open.
            #expect(await server.stop() == 0)
        }
    }

    @Test func aServerThatStoodByTakesOverAfterAKill() async throws {
        try await withFolder { folder in
            let upstream = try await ServerProcess([], command: "upstream")
            let arguments = [
                "--database", folder.appending(path: "data.sqlite").path, "--interval", "1",
                "--upstream", upstream.page.absoluteString,
            ]
            let first = try await ServerProcess(arguments)
            let browser = try Browser(profile: folder.appending(path: "profile"))
            let firstPage = try await browser.open(first.page)
            try await firstPage.wait(until: "document.body.dataset.state === 'waiting'")

            let second = try await ServerProcess(arguments)
            let page = try await browser.open(second.page)
            try await page.wait(until: "document.body.dataset.state === 'standingBy'")
            try await page.wait(until: "document.getElementById('detail').textContent.includes('held by')")
            // It serves and shows what the first one has synced.
            #expect(try await second.request("users/1").0 == 200)
            try await page.wait(until: "document.querySelectorAll('#changes tr').length > 0")
            try await keep("standby", of: page)

            await first.kill()
            try await firstPage.wait(until: "document.body.dataset.state === 'disconnected'")
            try await page.wait(until: "['syncing', 'waiting'].includes(document.body.dataset.state)")
            try await page.wait(until: "document.body.dataset.state === 'waiting'")
            try await page.wait(until: "document.querySelectorAll('#passes tr').length > 1")
            try await keep("takeover", of: page)
            #expect(await second.stop() == 0)
            #expect(await upstream.stop() == 0)
        }
    }
}
