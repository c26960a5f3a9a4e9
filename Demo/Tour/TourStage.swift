import Foundation
import OneWaySynchronizer
import SyncFolder

/// The shared environment of the chapters: server, folder, synchronizer and console.
final class TourStage: Sendable {
    let console: Console
    let server: CatalogueServer
    let synchronizer: Synchronizer<FolderMirror>
    private let root: URL

    init(console: Console) throws {
        self.console = console
        root = FileManager.default.temporaryDirectory.appending(path: "ows-demo-\(UUID().uuidString)")
        server = try CatalogueServer()
        server.entries = Self.catalogue
        synchronizer = Synchronizer(
            processor: FolderMirror(of: server.listURL, in: root.appending(path: "mirror")), options: Self.options)
    }

    /// Deletes the temporary folder.
    func close() {
        try? FileManager.default.removeItem(at: root)
    }

    /// The sync options at the beginning of the tour.
    static let options = SyncOptions(
        concurrency: 4, downloadPreview: true, retry: RetryPolicy(maxAttempts: 3, baseDelay: .milliseconds(50)))

    /// Twelve texts. One is slow, and one fails at first.
    private static var catalogue: [String: CatalogueServer.Entry] {
        var entries: [String: CatalogueServer.Entry] = [:]
        let names = [
            "alder", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine", "rowan", "willow",
        ]
        for (index, name) in names.enumerated() {
            entries[name] = CatalogueServer.Entry(content: "\(name.capitalized) is tree number \(index + 1).\n")
        }
        entries["maple"]?.isSlow = true
        entries["oak"]?.failureCount = 1
        entries["willow"]?.order = -1
        return entries
    }

    // MARK: Output

    func say(_ text: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) { console.print("   \(line)") }
    }

    /// Prints a claim if it is true.
    ///
    /// - Throws: ``TourFailure`` if it is false.
    func check(_ claim: String, _ isTrue: Bool) throws {
        guard isTrue else { throw TourFailure(claim: claim) }
        say("✓ \(claim)")
    }

    // MARK: Passes

    /// Runs a pass and shows its progress.
    func sync() async -> Result<SyncReport, SyncFailure> {
        await ProgressDisplay.showPass(of: synchronizer, on: console, indentation: "   ")
    }

    /// Runs a pass that must succeed, and prints its report.
    func syncSuccessfully() async throws -> SyncReport {
        let report = try await sync().get()
        say("report: \(report)")
        return report
    }

    /// Runs a pass that must fail, and prints its error.
    func syncUnsuccessfully() async throws -> SyncFailure {
        switch await sync() {
        case .success(let report):
            throw TourFailure(claim: "the pass fails; it reported \(report)")
        case .failure(let failure):
            say("failure: \(failure)")
            say("report: \(failure.report)")
            return failure
        }
    }

    // MARK: Checks

    private var mirror: FolderMirror { synchronizer.processor }

    /// Returns the contents of the folder, by catalogue key or, for other files, by file name.
    func mirroredContents() throws -> [String: String] {
        let folder = mirror.folder
        guard FileManager.default.fileExists(atPath: folder.path) else { return [:] }
        var contents: [String: String] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
        where !name.hasPrefix(".") {
            contents[name] = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        }
        return contents
    }

    /// Returns whether the folder contains exactly the contents and previews of the source.
    func isFolderEqualToSource() throws -> Bool {
        let entries = server.entries
        let previews = try entries.keys.allSatisfy { key in
            let file = mirror.previewFile(for: SyncKey(key))
            return try String(contentsOf: file, encoding: .utf8) == entries[key]?.preview
        }
        return try mirroredContents() == entries.mapValues(\.content) && previews
    }

    /// Returns whether no incomplete downloads are left.
    func hasNoLeftovers() throws -> Bool {
        let parts = mirror.folder.appending(path: ".mirror/parts")
        return try FileManager.default.contentsOfDirectory(atPath: parts.path).isEmpty
    }
}
