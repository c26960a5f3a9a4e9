import Foundation
import JSONMapper
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
import Testing

/// A folder of JSON files, each of which is a page.
struct FolderSource: RemoteSource {
    let folder: URL

    var name: String { "folder" }
    var fingerprint: String { folder.path }

    func begin(after bookmark: SyncBookmark?, keyPath: String) async throws -> RemoteAnswer {
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".json") }.sorted().map { folder.appending(path: $0).path }
        let state = try files.map { file in
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            let modified = attributes[.modificationDate] as? Date ?? .distantPast
            return "\(file) \(modified.timeIntervalSince1970)"
        }.joined(separator: "\n")
        if state == bookmark?.cursor { return .unchanged(SyncBookmark(cursor: state)) }
        return .changed(FolderPass(files: files, state: state))
    }
}

/// One pass through the files.
actor FolderPass: RemotePass {
    private let files: [String]
    private let state: String
    private var index = 0

    init(files: [String], state: String) {
        self.files = files
        self.state = state
    }

    func next() async throws -> RemotePage? {
        guard index < files.count else { return nil }
        index += 1
        return RemotePage(.file(files[index - 1]))
    }

    func rewind() async throws {
        index = 0
    }

    func end() async throws -> RemoteEnd {
        RemoteEnd(.everything, isSnapshot: false, bookmark: SyncBookmark(cursor: state))
    }
}

/// A CSV file of cities. Its first line has the names of the columns: id, name, country.
struct CitySource: RemoteSource {
    let file: URL

    var name: String { "cities" }
    var fingerprint: String { file.path }

    func begin(after bookmark: SyncBookmark?, keyPath: String) async throws -> RemoteAnswer {
        .changed(CityPass(file: file))
    }
}

/// One pass through the lines.
actor CityPass: RemotePass {
    struct Malformed: Error {
        let line: String
    }

    private let file: URL
    private var isRead = false

    init(file: URL) {
        self.file = file
    }

    func next() async throws -> RemotePage? {
        guard !isRead else { return nil }
        isRead = true
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").dropFirst()
        let cities = JSONSource.records(lines) { line, city in
            let fields = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            guard fields.count == 3 else { throw Malformed(line: String(line)) }
            try city.set("id", to: Int(fields[0]))
            try city.set("name", to: fields[1])
            try city.relate("country", to: fields[2].isEmpty ? nil : fields[2])
        }
        return RemotePage(cities)
    }

    func rewind() async throws {
        isRead = false
    }

    func end() async throws -> RemoteEnd {
        RemoteEnd(.everything, isSnapshot: false, bookmark: SyncBookmark())
    }
}

/// The guide about writing a source.
@Suite(.endsInTime) struct SourceAuthorExamples {
    @Test func aFolderIsASource() async throws {
        let directory = try TemporaryDirectory()
        let folder = directory.url
        func write(_ json: String, to file: String) throws {
            try Data(json.utf8).write(to: folder.appending(path: file))
        }
        try write(#"[{"id": 1}, {"id": 2}]"#, to: "a.json")
        try write(#"[{"id": 3}]"#, to: "b.json")
        let model = try DataModel {
            SyncEntity("User", identity: "id") { SyncAttribute("id", .int64, optional: false) }
        }
        let store = try MemoryStore(model)
        let result = try await store.sync("User", from: FolderSource(folder: folder))
        print(result.coverage, result.counts.inserted)
        #expect(result.counts.inserted == 3)

        #expect(try await store.sync("User", from: FolderSource(folder: folder)).isUnchanged)
        try FileManager.default.removeItem(at: folder.appending(path: "b.json"))
        let next = try await store.sync("User", from: FolderSource(folder: folder))
        #expect(next.counts.deleted == 1)
        #expect(try await store.count(StoreQuery("User")) == 2)
    }

    @Test func aCSVFileIsASource() async throws {
        struct Country: SyncObject {
            var id: String
        }
        struct City: SyncObject {
            var id: Int
            var name: String
            var country: Country?
        }
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(path: "cities.csv")
        func write(_ lines: String...) throws {
            try Data(("id,name,country\n" + lines.joined(separator: "\n")).utf8).write(to: file)
        }
        let store = try MemoryStore(City.self)
        try await store.sync(Country.self, .text(#"[{"id": "NO"}]"#))
        try write("1,Oslo,NO", "2,Rome,")
        #expect(try await store.sync(City.self, from: CitySource(file: file)).counts.inserted == 2)
        #expect(try await store.count(City.self, where: \.country.id == "NO") == 1)
        #expect(try await store.sync(City.self, from: CitySource(file: file)).isUnchanged)
        try write("1,Oslo,NO")
        #expect(try await store.sync(City.self, from: CitySource(file: file)).counts.deleted == 1)
        try write("1;Oslo;NO")
        await #expect(throws: CityPass.Malformed.self) {
            try await store.sync(City.self, from: CitySource(file: file))
        }
    }
}
