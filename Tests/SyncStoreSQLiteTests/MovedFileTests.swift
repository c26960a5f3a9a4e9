import Foundation
import JSONMapper
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQLite
import Testing

/// Files that somebody moves, and places where no file can be.
@Suite(.endsInTime) struct MovedFileTests {
    private let folder: TemporaryDirectory
    private let url: URL

    init() throws {
        folder = try TemporaryDirectory()
        url = folder.url.appending(path: "store.sqlite")
    }

    private static func model() throws -> DataModel {
        try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("text", .string)
            }
        }
    }

    private func open(_ options: SQLiteStore.Options = .init()) async throws -> JSONStore {
        let mapper = try RecordMapper(try Self.model())
        return try JSONStore(
            try await SQLiteStore(exactly: mapper.model, at: .file(url.path), options: options), mapper: mapper)
    }

    @Test(arguments: ["removed", "moved", "replaced"])
    func aFileThatIsGoneIsNoticedByTheNextTransaction(how: String) async throws {
        let store = try await open()
        try await store.sync(.bytes(Array(#"[{"id":1}]"#.utf8)), into: "User")
        _ = try await store.store.count(StoreQuery("User"))
        let away = folder.url.appending(path: "away.sqlite")
        if how == "removed" {
            try FileManager.default.removeItem(at: url)
        } else {
            try FileManager.default.moveItem(at: url, to: away)
            if how == "replaced" { try FileManager.default.copyItem(at: away, to: url) }
        }
        let error = await #expect(throws: SQLiteError.self) {
            try await store.sync(.bytes(Array(#"[{"id":2}]"#.utf8)), into: "User")
        }
        #expect(error?.code == SQLiteError.Code.fileMoved)
        let other = await #expect(throws: SQLiteError.self) { try await store.store.count(StoreQuery("User")) }
        #expect(other?.code == SQLiteError.Code.fileMoved)
    }

    @Test(arguments: [true, false])
    func aFileThatIsReplacedBeforeTheFirstTransactionIsNoticed(isRead: Bool) async throws {
        let store = try await open()
        let away = folder.url.appending(path: "away.sqlite")
        try FileManager.default.moveItem(at: url, to: away)
        try FileManager.default.copyItem(at: away, to: url)
        if isRead {
            let error = await #expect(throws: SQLiteError.self) { try await store.store.count(StoreQuery("User")) }
            #expect(error?.code == SQLiteError.Code.fileMoved)
        }
        let error = await #expect(throws: SQLiteError.self) {
            try await store.sync(.bytes(Array(#"[{"id":1}]"#.utf8)), into: "User")
        }
        #expect(error?.code == SQLiteError.Code.fileMoved)
        await #expect(throws: SQLiteError.self) {
            try await store.store.transaction { _ in Issue.record("a transaction began") }
        }
        #expect(
            error?.message
                == "the database file was moved, replaced or removed while it was open; open the store again")
    }

    /// The log holds what is committed; SQLite would go on to write into the removed file.
    @Test(arguments: ["-wal", "-shm"], [true, false])
    func aFileBesideTheDatabaseThatIsGoneIsNoticed(suffix: String, isReplaced: Bool) async throws {
        let store = try await open()
        try await store.sync(.bytes(Array(#"[{"id":1}]"#.utf8)), into: "User")
        let beside = URL(filePath: url.path + suffix)
        let bytes = try Data(contentsOf: beside)
        try FileManager.default.moveItem(at: beside, to: folder.url.appending(path: "away"))
        if isReplaced { try bytes.write(to: beside) }
        let error = await #expect(throws: SQLiteError.self) {
            try await store.sync(.bytes(Array(#"[{"id":2}]"#.utf8)), into: "User")
        }
        #expect(error?.code == SQLiteError.Code.fileMoved && error?.description.contains(suffix) == true)
        await #expect(throws: SQLiteError.self) { try await store.store.count(StoreQuery("User")) }
    }

    /// Nothing has looked at the log since the store was opened.
    @Test(arguments: ["-wal", "-shm"], [true, false])
    func aFileBesideTheDatabaseThatIsGoneIsNoticedByTheFirstTransaction(suffix: String, isReplaced: Bool) async throws {
        do {
            let earlier = try await open()
            try await earlier.sync(.bytes(Array(#"[{"id":1}]"#.utf8)), into: "User")
        }
        let store = try await open()
        let beside = URL(filePath: url.path + suffix)
        let bytes = try Data(contentsOf: beside)
        try FileManager.default.moveItem(at: beside, to: folder.url.appending(path: "away"))
        if isReplaced { try bytes.write(to: beside) }
        let reading = await #expect(throws: SQLiteError.self) { try await store.store.count(StoreQuery("User")) }
        #expect(reading?.code == SQLiteError.Code.fileMoved && reading?.description.contains(suffix) == true)
        for _ in 0..<2 {
            let writing = await #expect(throws: SQLiteError.self) {
                try await store.sync(.bytes(Array(#"[{"id":2}]"#.utf8)), into: "User")
            }
            #expect(writing?.code == SQLiteError.Code.fileMoved)
        }
    }

    @Test(arguments: [true, false])
    func aDatabaseThatIsOverwrittenInPlaceIsNoticed(isReading: Bool) async throws {
        let other = folder.url.appending(path: "other.sqlite")
        let store = try await open()
        try await store.sync(Self.objects("x"), into: "User")
        _ = try await store.store.count(StoreQuery("User"))
        do {
            let mapper = try RecordMapper(try Self.model())
            let copied = try JSONStore(
                try await SQLiteStore(exactly: mapper.model, at: .file(other.path)), mapper: mapper)
            try await copied.sync(.bytes(Array(#"[{"id":7}]"#.utf8)), into: "User")
        }
        let bytes = try Data(contentsOf: other)
        let file = try FileHandle(forWritingTo: url)
        // The descriptor stays open: to close one would take SQLite's locks off the file.
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: bytes)
        let error = await #expect(throws: SQLiteError.self) {
            if isReading {
                _ = try await store.store.count(StoreQuery("User"))
            } else {
                try await store.sync(.bytes(Array(#"[{"id":2}]"#.utf8)), into: "User")
            }
        }
        #expect(error?.code == SQLiteError.Code.fileMoved, "\(String(describing: error))")
        withExtendedLifetime(file) {}
    }

    /// Without a transaction in between, and after a commit that SQLite copied into the file.
    @Test(arguments: [0, 6000])
    func aDatabaseThatIsOverwrittenBeforeTheNextTransactionIsNoticed(objectCount: Int) async throws {
        let other = folder.url.appending(path: "other.sqlite")
        _ = try await open()
        try FileManager.default.copyItem(at: url, to: other)
        let store = try await open()
        if objectCount > 0 { try await store.sync(Self.objects("x", count: objectCount), into: "User") }
        let file = try FileHandle(forWritingTo: url)
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: Data(contentsOf: other))
        let error = await #expect(throws: SQLiteError.self) {
            try await store.sync(.bytes(Array(#"[{"id":2}]"#.utf8)), into: "User")
        }
        #expect(error?.code == SQLiteError.Code.fileMoved, "\(String(describing: error))")
        #expect(error?.message.hasPrefix("another program than SQLite wrote into the database file") == true)
        withExtendedLifetime(file) {}
    }

    /// Checkpoints of other connections write into the file as well.
    @Test func whatOtherConnectionsWriteIsNoDamage() async throws {
        let stores = [try await open(), try await open(), try await open()]
        for round in 0..<(isThorough ? 20 : 6) {
            for (number, store) in stores.enumerated() {
                let text = String(repeating: "\(number)", count: 60_000)
                let objects = (0..<10).map { #"{"id":\#(number * 100 + $0),"text":"\#(text)\#(round)"}"# }
                try await store.sync(
                    .bytes(Array("[\(objects.joined(separator: ","))]".utf8)), into: "User",
                    options: StoreSyncOptions(operations: [.insert, .update]))
                _ = try await store.store.count(StoreQuery("User"))
            }
        }
        #expect(try await stores[0].store.count(StoreQuery("User")) == 30)
    }

    @Test func aLinkThatLeadsElsewhereIsNoticed() async throws {
        let files = FileManager.default
        let (link, other) = (folder.url.appending(path: "link.sqlite"), folder.url.appending(path: "other.sqlite"))
        _ = try await open()
        try files.copyItem(at: url, to: other)
        try files.createSymbolicLink(at: link, withDestinationURL: url)
        let mapper = try RecordMapper(try Self.model())
        let store = try JSONStore(try await SQLiteStore(exactly: mapper.model, at: .file(link.path)), mapper: mapper)
        try await store.sync(.bytes(Array(#"[{"id":1}]"#.utf8)), into: "User")
        try files.removeItem(at: link)
        try files.createSymbolicLink(at: link, withDestinationURL: other)
        let error = await #expect(throws: SQLiteError.self) {
            try await store.sync(.bytes(Array(#"[{"id":2}]"#.utf8)), into: "User")
        }
        #expect(error?.code == SQLiteError.Code.fileMoved)
        await #expect(throws: SQLiteError.self) { try await store.store.count(StoreQuery("User")) }
    }

    @Test func theLogBesideTheTargetOfALinkShrinks() async throws {
        let link = folder.url.appending(path: "link.sqlite")
        _ = try await open()
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url)
        let mapper = try RecordMapper(try Self.model())
        let store = try JSONStore(try await SQLiteStore(exactly: mapper.model, at: .file(link.path)), mapper: mapper)
        try await store.sync(Self.objects("x"), into: "User")
        #expect(try logSize() == 0)
    }

    /// A commit into a file that nobody can open any more is not one.
    @Test(arguments: ["removed", "replaced"])
    func aFileThatGoesDuringATransactionFailsItsCommit(how: String) async throws {
        let store = try await open()
        try await store.sync(.bytes(Array(#"[{"id":1}]"#.utf8)), into: "User")
        let (url, away) = (url, folder.url.appending(path: "away.sqlite"))
        let error = await #expect(throws: SQLiteError.self) {
            try await store.store.transaction { transaction in
                _ = try await transaction.remove(StoreQuery("User"))
                try FileManager.default.moveItem(at: url, to: away)
                if how == "replaced" { try FileManager.default.copyItem(at: away, to: url) }
            }
        }
        #expect(error?.code == SQLiteError.Code.fileMoved)
        if how == "replaced" { try FileManager.default.removeItem(at: url) }
        try FileManager.default.moveItem(at: away, to: url)
        #expect(try await store.store.count(StoreQuery("User")) == 1)
    }

    @Test(arguments: [true, false])
    func aPlaceWithoutAFileIsExplained(isReadOnly: Bool) async throws {
        let device = FileManager.default.fileExists(atPath: "/dev/null") ? ["/dev/null": "not an ordinary file"] : [:]
        let cases = [
            folder.url.path: "is a folder", url.path + "/": "is a folder",
            url.path + "/none/store.sqlite": "there is no folder", "~/nowhere/x.sqlite": "there is no folder ~/nowhere",
            ":memory:": "SQLiteStore.Location.memory", "sqlite::memory:": "SQLiteStore.Location.memory",
            "": "SQLiteStore.Location.memory", "file:\(url.path)": "is a URI", url.absoluteString: "is a URI",
            url.path + "\0.old": "a null character",
            url.path + String(repeating: "x", count: 300): "name too long",
        ].merging(device) { $1 }
        for (path, words) in cases {
            let error = await #expect(throws: SQLiteError.self, "\(path)") {
                try await SQLiteStore(exactly: try Self.model(), at: isReadOnly ? .readOnlyFile(path) : .file(path))
            }
            #expect(error?.description.contains(words) == true, "\(path): \(String(describing: error))")
            guard !path.hasPrefix("~"), !path.contains("/none/"), path != "/dev/null" else { continue }
            await #expect(throws: SQLiteError.self, "the lease of \(path)") {
                _ = try await SQLiteLease(for: path).tryAcquire(for: SyncLeaseHolder())
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
        guard isReadOnly else { return }
        let error = await #expect(throws: SQLiteError.self) {
            try await SQLiteStore(exactly: try Self.model(), at: .readOnlyFile(url.path))
        }
        #expect(error?.description.contains("there is no file") == true)
    }

    /// A superuser may write anywhere.
    @Test(.enabled(if: getuid() != 0, "the system lets root write everywhere"))
    func aPlaceWithoutPermissionIsExplained() async throws {
        let files = FileManager.default
        _ = try await open()
        func refusal(_ location: SQLiteStore.Location) async -> String? {
            let error = await #expect(throws: SQLiteError.self) {
                try await SQLiteStore(exactly: try Self.model(), at: location)
            }
            return error?.description
        }
        try files.setAttributes([.posixPermissions: 0o400], ofItemAtPath: url.path)
        #expect(await refusal(.file(url.path))?.contains("readOnlyFile") == true)
        try files.setAttributes([.posixPermissions: 0], ofItemAtPath: url.path)
        #expect(await refusal(.readOnlyFile(url.path))?.contains("cannot be read") == true)
        try files.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder.url.path)
        defer { try? files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.url.path) }
        let words = "the folder \(folder.url.path) cannot be written"
        #expect(await refusal(.file(folder.url.path + "/new.sqlite"))?.contains(words) == true)
        let lease = await #expect(throws: SQLiteError.self) {
            _ = try await SQLiteLease(for: folder.url.path + "/new.sqlite").tryAcquire(for: SyncLeaseHolder())
        }
        #expect(lease?.description.contains(words) == true)
    }

    private static func objects(_ text: Character, count: Int = 24_000) -> JSONSource {
        let text = String(repeating: text, count: 1000)
        let objects = (0..<count).map { #"{"id":\#($0),"text":"\#(text)"}"# }
        return .bytes(Array("[\(objects.joined(separator: ","))]".utf8))
    }

    private func logSize() throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: url.path + "-wal")[.size] as? Int)
    }

    @Test func theLogShrinksWhileTheStoreStaysOpen() async throws {
        let store = try await open()
        try await store.sync(Self.objects("x"), into: "User")
        #expect(try logSize() == 0)
        #expect(try await store.store.count(StoreQuery("User")) == 24_000)
    }

    /// A reader is in the way of a commit; then its end empties the log.
    @Test func theLogShrinksWhenTheLastReaderEnds() async throws {
        var options = SQLiteStore.Options()
        options.busyTimeout = .seconds(3600)
        let store = try await open(options)
        let isReading = Gate()
        let mayEnd = Gate()
        let reader = Task {
            try await store.store.read { reader in
                let count = try await reader.count(StoreQuery("User"))
                isReading.open()
                try await mayEnd.pass()
                return count
            }
        }
        try await isReading.pass(orEndOf: reader)
        try await store.sync(Self.objects("x"), into: "User")
        #expect(try logSize() > 20_000_000)
        mayEnd.open()
        #expect(try await reader.value == 0)
        #expect(try logSize() == 0)
    }

    @Test func theLogShrinksAfterAMigration() async throws {
        let store = try await open()
        try await store.sync(Self.objects("x"), into: "User")
        // The table is written anew.
        let changed = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("words", .string, formerName: "text")
            }
        }
        let other = try await SQLiteStore(exactly: changed, at: .file(url.path))
        #expect(try logSize() == 0)
        #expect(try await other.count(StoreQuery("User")) == 24_000)
    }
}
