#if os(macOS) || os(Linux)
import OneWayBenchmarkSupport
import Foundation
import HTTPSource
import HTTPTransfer
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
    private static let session = "pages-by-urlsession"
    private static let smallSource = "small-pages-to-sqlite"
    private static let smallFile = "small-file-to-sqlite"
    private static let smallCurl = "small-curl-to-nothing"
    private static let pageSize = 1_000
    /// 2,000 pages of 10 users.
    private static let smallPageSize = 10
    private static let smallCount = 20_000

    static func main() async throws {
        if try await PageServer.runIfChild() { return }
        let memory = MemoryProbe([
            "memory-20000": { try await syncOnce(count: 20_000) },
            "memory-200000": { try await syncOnce(count: 200_000) },
            "memory-file-20000": { try await syncFileOnce(count: 20_000) },
            "memory-file-200000": { try await syncFileOnce(count: 200_000) },
        ])
        if try await memory.runIfChild() { return }

        let options = BenchmarkOptions.ofProcess()
        var report = BenchmarkReport(options: options)
        let count = options.isFull ? 1_000_000 : 200_000
        if options.includes("pages") { try await compare(count: count, &report) }
        if options.includes("small") { try await compareSmall(&report) }
        if options.includes("memory") {
            report.add(memory.row(of: "memory-20000", n: 20_000))
            report.add(memory.row(of: "memory-200000", n: 200_000))
            report.add(memory.row(of: "memory-file-20000", n: 20_000))
            report.add(memory.row(of: "memory-file-200000", n: 200_000))
        }
    }

    private static func compare(count: Int, _ report: inout BenchmarkReport) async throws {
        let folder = try TemporaryDirectory()
        let server = try PageServer(count: count, pageSize: pageSize)
        let json = try file(count: count, in: folder.url)
        let pageCount = (count + pageSize - 1) / pageSize
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
                BenchmarkCase(session, n: count) {
                    let client = HTTPClient(transport: HTTPClient.URLSessionTransport())
                    return try await sync(server.url, by: client, expecting: count, in: folder.url)
                },
            ])
        let larger = measurements[1...2].max { $0.seconds < $1.seconds }?.name
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

    /// Compares the sync of many small pages with that of a file, and with `curl` of the pages.
    private static func compareSmall(_ report: inout BenchmarkReport) async throws {
        let folder = try TemporaryDirectory()
        let server = try PageServer(count: smallCount, pageSize: smallPageSize)
        let json = try file(count: smallCount, in: folder.url)
        let pageCount = smallCount / smallPageSize
        let measurements = try await measure(
            runs: 3, warmup: 1,
            [
                BenchmarkCase(smallSource, n: smallCount) {
                    try await sync(server.url, expecting: smallCount, in: folder.url)
                },
                BenchmarkCase(smallFile, n: smallCount) {
                    try await store(in: folder.url).sync(.file(json), into: "User").counts.inserted
                },
                BenchmarkCase(smallCurl, n: smallCount) { try fetch(server.url, pageCount: pageCount) },
            ])
        // Each page is a request after another, so that neither of both alone is the floor.
        let floor = measurements[1].seconds + measurements[2].seconds
        for measurement in measurements {
            let isCompared = measurement.name == smallSource
            report.add(
                BenchmarkReport.Row(
                    name: measurement.name, n: smallCount, seconds: measurement.seconds,
                    ratio: isCompared ? measurement.seconds / floor : nil,
                    against: isCompared ? "\(smallFile) + \(smallCurl)" : nil,
                    extra: isCompared ? [("pages", .integer(pageCount))] : []))
        }
    }

    private static func syncOnce(count: Int) async throws -> Int {
        let folder = try TemporaryDirectory()
        let server = try PageServer(count: count, pageSize: pageSize)
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

    private static func sync(
        _ url: URL, by client: HTTPClient = HTTPClient(), expecting count: Int, in folder: URL
    ) async throws -> Int {
        let store = try await store(in: folder)
        let result = try await store.sync(from: .url(url, pages: .link, client: client), into: "User")
        let inserted = result.counts.inserted
        guard inserted == count else { throw UnexpectedResult(inserted: inserted) }
        return inserted
    }

    /// An empty store in a new file.
    private static func store(in folder: URL) async throws -> JSONStore {
        let path = folder.appending(path: "users.sqlite").path
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        let mapper = try RecordMapper(StoreUnderTest.mapper().model.adding([SyncEntity.bookmark]))
        return try JSONStore(try await SQLiteStore(exactly: mapper.model, at: .file(path)), mapper: mapper)
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
#else
/// Needs child processes, which the other systems do not have.
@main
enum SourceBenchmark {
    static func main() {}
}
#endif
