import OneWayTestLimits
import SyncBase
// The system's SQLite of Apple's platforms lets nobody watch connections that others open.
#if !canImport(Darwin)
import COneWaySQLite
import Foundation
import JSONMapper
import StoreSync
import OneWayStoreTestSupport
import SyncModel
import SyncStore
import SyncStoreSQLite
import OneWayTestSupport
import Testing

/// How many statements syncs run, each counted when it starts; what a statement starts itself is a
/// part of it.
@Suite(.endsInTime) struct StatementCountTests {
    /// Parents with children, with objects that they share, and with one that others may have as
    /// well.
    private static let model = Result { try UserModel.withEverything() }

    /// The state before, and one in which every object is another, has another child and other
    /// tags.
    private static func payload(_ generation: Int, parentCount: Int) -> [UInt8] {
        var text = "["
        for id in 1...parentCount {
            text += """
                \(id == 1 ? "" : ","){"id":\(id),"age":\(generation),"notes":[{"id":\(2 * id),"text":"\(generation)"},\
                {"id":\(2 * id + generation)}],"tags":[{"name":"a\(id % 5)"},{"name":"b\(generation)"}],\
                "company":{"id":\(generation)}}
                """
        }
        return Array((text + "]").utf8)
    }

    /// A batch is of 3,000 parents.
    @Test func theNumberOfStatementsDependsOnBatchesAlone() async throws {
        let one = try await statementCounts(parentCount: 1000)
        let two = try await statementCounts(parentCount: 6000)
        let batchCount = isThorough && caseStride == 1 ? 34 : 4
        let many = try await statementCounts(parentCount: 3_000 * batchCount)
        for (place, count) in one.enumerated() {
            #expect(count > 0 && count < 100, "sync \(place)")
            #expect(many[place] == count + (batchCount - 1) * (two[place] - count), "sync \(place)")
        }
    }

    /// A further batch of a payload without changes takes three statements: one that looks whether
    /// any city may be stored, one that finds and compares the cities, and one that compares their
    /// names. The links from cities to names are read with the cities.
    @Test func toOneLinksOfUnchangedObjectsTakeNoStatement() async throws {
        let model = try DataModel {
            SyncEntity("City", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("names", toOne: "Names", inverse: "city")
            }
            SyncEntity("Names") {
                SyncAttribute("fr", .string)
                SyncRelationship("city", toOne: "City", inverse: "names")
            }
        }
        func count(cityCount: Int) async throws -> Int {
            let cities = (1...cityCount).map { #"{"id":\#($0),"names":{"fr":"\#($0)"}}"# }
            let payload = Array("[\(cities.joined(separator: ","))]".utf8)
            let folder = try TemporaryDirectory()
            let path = folder.url.resolvingSymlinksInPath().appending(path: "store.sqlite").path
            let counter = StatementCounter(path: path)
            let mapper = try RecordMapper(model)
            let store = try JSONStore(try await SQLiteStore(exactly: mapper.model, at: .file(path)), mapper: mapper)
            _ = try await store.sync(.bytes(payload), into: "City")
            let before = counter.count
            #expect(try await store.sync(.bytes(payload), into: "City").isUnchanged)
            return counter.count - before
        }
        let two = try await count(cityCount: 6_000)
        #expect(try await count(cityCount: 9_000) == two + 3)
    }

    /// How many statements each of two syncs runs: into an empty store, and one that changes all.
    private func statementCounts(parentCount: Int) async throws -> [Int] {
        let folder = try TemporaryDirectory()
        let path = folder.url.resolvingSymlinksInPath().appending(path: "store.sqlite").path
        let counter = StatementCounter(path: path)
        let mapper = try RecordMapper(try Self.model.get())
        let store = try JSONStore(try await SQLiteStore(exactly: mapper.model, at: .file(path)), mapper: mapper)
        var counts: [Int] = []
        for generation in [0, 1] {
            let before = counter.count
            let result = try await store.sync(
                .bytes(Self.payload(generation, parentCount: parentCount)), into: "User")
            #expect(result.counts.inserted + result.counts.updated + result.counts.unchanged == parentCount)
            counts.append(counter.count - before)
        }
        return counts
    }
}

/// Counts the statements that connections to one file run.
private struct StatementCounter {
    private let path: String

    /// By file.
    private static let counts = Locked<[String: Int]>([:])

    /// Has every connection that is opened from now on report its statements.
    private static let isWatching: Bool = {
        let watch: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeRawPointer?) -> Int32 = {
            connection, _, _ in
            sqlite3_trace_v2(
                connection, UInt32(SQLITE_TRACE_STMT),
                { _, _, statement, text in
                    // What triggers run is reported as a comment.
                    guard let text = text?.assumingMemoryBound(to: CChar.self), text[0] != 45 || text[1] != 45,
                        let path = sqlite3_db_filename(sqlite3_db_handle(OpaquePointer(statement)), nil)
                    else { return 0 }
                    StatementCounter.counts.withLock { $0[String(cString: path)]? += 1 }
                    return 0
                }, nil)
        }
        return sqlite3_auto_extension(unsafeBitCast(watch, to: (@convention(c) () -> Void).self)) == SQLITE_OK
    }()

    init(path: String) {
        self.path = path
        _ = Self.isWatching
        Self.counts.withLock { $0[path] = 0 }
    }

    var count: Int {
        Self.counts.withLock { $0[path] ?? 0 }
    }
}
#endif
