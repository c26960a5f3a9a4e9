import OneWayBenchmarkSupport
import Foundation
import HTTPSource
import JSONMapper
import OneWayStoreBenchmarkSupport
import StoreSync
import SyncModel
import SyncStoreSQLite
import OneWayTestSupport

/// A list in pages from a server into SQLite, beside the same JSON from a file, and beside `curl`
/// of the same pages into nothing.
@main
enum SourceBenchmark {
    private static let source = "pages-to-sqlite"
    private static let file = "file-to-sqlite"
    private static let curl = "curl-to-nothing"

    static func main() async throws {
        if try await PageServer.runIfChild() { return }
        let memory = MemoryProbe([
            "memory-20000": { try await syncOnce(count: 20_000) },
            "memory-200000": { try await syncOnce(count: 200_000) },
            "memory-file-20000": { try await syncFileOnce(count: 20_000) },
            "memory-file-200000": { try await syncFileOnce(count: 200_000) },
        ])
        if try await memory.runIfChild() { return }

        let options = try BenchmarkOptions()
        var report = BenchmarkReport(options: options)
        let count = options.isFull ? 1_000_000 : 200_000
        if options.includes("pages") { try await compare(count: count, &report) }
        if options.includes("memory") {
            report.add(memory.row(of: "memory-20000", n: 20_000))
            report.add(memory.row(of: "memory-200000", n: 200_000))
            report.add(memory.row(of: "memory-file-20000", n: 20_000))
            report.add(memory.row(of: "memory-file-200000", n: 200_000))
        }
    }

    private static func compare(count: Int, _ report: inout BenchmarkReport) async throws {
        let folder = try TemporaryDirectory()
        let server = try PageServer(count: count)
        let json = try file(count: count, in: folder.url)
        let pageCount = (count + PageServer.pageSize - 1) / PageServer.pageSize
        let measurements = try await measure(
            runs: 3, warmup: 1,
            [
                BenchmarkCase(source, n: count) {
                    try await sync(server.url, expecting: count, in: folder.url)
                },
                BenchmarkCase(file, n: count) {
                    try await store(in: folder.url).sync(.file(json), into: "User").counts.inserted
                },
                BenchmarkCase(curl, n: count) { try fetch(server.url, pageCount: pageCount) },
            ])
        let larger = measurements.dropFirst().max { $0.seconds < $1.seconds }?.name
        for measurement in measurements {
            let isCompared = measurement.name == source
            let base = measurements.first { $0.name == larger }?.seconds
            report.add(
                BenchmarkReport.Row(
                    name: measurement.name, n: count, seconds: measurement.seconds,
                    ratio: isCompared ? base.map { measurement.seconds / $0 } : nil, against: isCompared ? larger : nil,
                    extra: isCompared ? [("pages", .integer(pageCount))] : []))
        }
    }

    private static func syncOnce(count: Int) async throws -> Int {
        let folder = try TemporaryDirectory()
        let server = try PageServer(count: count)
        return try await sync(server.url, expecting: count, in: folder.url)
    }

    private static func syncFileOnce(count: Int) async throws -> Int {
        let folder = try TemporaryDirectory()
        let json = try file(count: count, in: folder.url)
        return try await store(in: folder.url).sync(.file(json), into: "User").counts.inserted
    }

    /// Writes all users into a file, a piece at a time.
    private static func file(count: Int, in folder: URL) throws -> String {
        let url = folder.appending(path: "users.json")
        try Data().write(to: url)
        let file = try FileHandle(forWritingTo: url)
        var generator = UserGenerator(count: count)
        while let chunk = generator.nextChunk() { try file.write(contentsOf: chunk) }
        try file.close()
        return url.path
    }

    struct UnexpectedResult: Error {
        let inserted: Int
    }

    private static func sync(_ url: URL, expecting count: Int, in folder: URL) async throws -> Int {
        let store = try await store(in: folder)
        let result = try await store.sync(from: HTTPJSONSource(url, pages: .link), into: "User")
        let inserted = result.result.counts.inserted
        guard inserted == count else { throw UnexpectedResult(inserted: inserted) }
        return inserted
    }

    /// An empty store in a new file.
    private static func store(in folder: URL) async throws -> JSONStore {
        let path = folder.appending(path: "users.sqlite").path
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        let mapper = try RecordMapper(StoreUnderTest.mapper().model.adding([SyncBookmark.entity]))
        return try JSONStore(try await SQLiteStore(mapper.model, at: .file(path)), mapper: mapper)
    }

    struct NoCurl: Error {}

    /// Fetches all pages over one connection, one after another, as the source does.
    private static func fetch(_ url: URL, pageCount: Int) throws -> Int {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/curl")
        let pages = url.absoluteString.replacing("page=1", with: "page=[1-\(pageCount)]")
        process.arguments = ["--silent", "--fail", "--output", "/dev/null", pages]
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw NoCurl() }
        return pageCount
    }
}
