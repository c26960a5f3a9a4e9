import CoreDataModel
import Foundation
import JSONMapper
import OneWaySynchronizer
import OneWayTestLimits
import StoreSync
import ModelInference
import SyncModel
import SyncStore
import SyncStoreSQLite
import OneWayTestSupport
import Testing

/// The examples of models and JSON in the documentation, compiled and run.
@Suite(.endsInTime) struct JSONExample {
    private static func model() throws -> DataModel {
        let model = try DataModel {
            SyncEntity("User", identity: "remoteID") {
                SyncAttribute("remoteID", .int64, optional: false)
                SyncAttribute("firstName", .string)
                SyncAttribute("userDescription", .string)
                SyncAttribute("birthday", .date)
                SyncRelationship("notes", toMany: "Note", inverse: "user", deleteRule: .cascade)
            }
            SyncEntity("Note", identity: "remoteID") {
                SyncAttribute("remoteID", .int64, optional: false)
                SyncAttribute("text", .string)
                SyncRelationship("user", toOne: "User", inverse: "notes")
            }
        }
        return model
    }

    private let json = [UInt8](
        #"""
        [{"id": "7", "first_name": "Ada", "description": "wrote the first program", "birthday": "1815-12-10"},
         {"id": 8, "firstName": "Grace", "birthday": -1995753600}]
        """#.utf8)

    @Test func recordsComeFromJSON() throws {
        let model = try Self.model()
        let bytes = json
        let mapper = try RecordMapper(model)
        let users = try mapper.records(of: "User", bytes: bytes)
        let id = users[0]["remoteID"]  // .int(7), from "id": "7"
        let text = users[0]["userDescription"]  // from "description", which is a reserved word
        let name = users[1]["firstName"]  // from "firstName" as well as from "first_name"
        #expect(id == .int(7))
        #expect(text == .string("wrote the first program"))
        #expect(name == .string("Grace"))
        #expect(users[0]["birthday"] == .date(Timestamp(microseconds: -4_861_728_000_000_000)))
    }

    @Test func largeFilesAreReadInBatches() throws {
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(path: "users.json").path
        try Data(#"{"data": {"users": [{"id": 1}, {"id": [1]}]}}"#.utf8).write(to: URL(filePath: file))
        let model = try Self.model()
        var printed: [String] = []
        func print(_ problem: MappingError.Problem) { printed.append("\(problem)") }
        func print(_ value: AttributeValue) { #expect(value.isNull) }
        let strict = try RecordMapper(model, JSONMapping(contract: ValueContract(wrongType: .reject)))
        let reader = try strict.reader(of: "User", file: file, layout: .array(at: "data.users"))
        while let batch = try reader.nextRecords() {
            for record in batch.records { print(record["email"]) }  // a thousand at most
            for problem in batch.rejected { print(problem) }  // which element, which attribute, and why
        }
        #expect(printed.count == 1)
        #expect(printed.first?.contains("User.remoteID") == true)
    }

    @Test func recordsBecomeJSON() throws {
        let model = try Self.model()
        let users = try RecordMapper(model).records(of: "User", bytes: json)
        var options = RecordMapper.Exporter.Options()
        options.keyStyle = .camelCase
        options.dateFormat = .pattern("yyyy-MM-dd")
        let exporter = try RecordMapper.Exporter(model, options: options)
        let bytes = try exporter.bytes(ofRecords: users)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains(#""firstName":"Ada""#))
        #expect(text.contains(#""birthday":"1815-12-10""#))
    }

    @Test func aSampleMakesAModel() throws {
        let bytes = json
        let inferred = try DataModel.inferred(from: bytes, entity: "User")
        let file = try inferred.coreDataXML()  // a model file, to be changed by hand from here on
        #expect(inferred["User"]?.column(of: "firstName") != nil)
        #expect(try ModelFile(xml: file).model == inferred)
    }

    @Test func modelFilesAreRead() throws {
        let folder = try TemporaryDirectory()
        let url = folder.url.appending(path: "Contacts.xcdatamodel")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try Self.model().coreDataXML().write(to: url.appending(path: "contents"))
        let modelFile = try ModelFile(contentsOf: url)  // .xcdatamodeld, .xcdatamodel or the XML inside
        let attributes = modelFile.model["User"]?.attributes
        let warnings = modelFile.warnings  // what the file says and a model cannot, with lines
        #expect(modelFile.model == (try Self.model()))
        #expect(warnings.isEmpty)
        #expect(attributes?.count == 4)
    }

    @Test func aStoreBecomesEqualToJSON() async throws {
        let model = try Self.model()
        let bytes = Array(#"[{"id": 1, "first_name": "Ada", "notes": [{"id": 9, "text": "hello"}]}]"#.utf8)
        let store = try MemoryStore(model)
        let result = try await store.sync("User", .bytes(bytes))  // nested notes are synced too
        let ada = try await store.records(StoreQuery("User", where: PropertyPath("firstName") == "Ada"))
        let json = try await store.export(StoreQuery("User"))
        #expect(result.countsByEntity.mapValues(\.inserted) == ["User": 1, "Note": 1])
        #expect(ada.count == 1)
        #expect(String(decoding: json, as: UTF8.self).contains("hello"))
    }

    @Test func oneProcessKeepsADatabaseFresh() async throws {
        let folder = try TemporaryDirectory()
        let users = folder.url.appending(path: "users.json").path
        try Data(json).write(to: URL(filePath: users))
        let file = folder.url.appending(path: "data.sqlite").path
        let store = try await SQLiteStore(Self.model(), at: .file(file))
        let service = SyncService(schedule: SyncSchedule(interval: .seconds(60)), lease: SQLiteLease(for: file)) {
            try await store.sync("User", .file(users))
        }
        let run = Task { try await service.run() }
        while service.health.lastSuccess == nil { await Task.yield() }
        service.requestStop()
        try await run.value
        #expect(service.health.lastReport?.counts.inserted == 2)
    }

    @Test func observersSeeWhatCommitsChange() async throws {
        let model = try Self.model()
        let bytes = Array(#"[{"id": 1}]"#.utf8)
        let printed = Task {
            var printed: [Set<Record.Key>] = []
            func print(_ keys: Set<Record.Key>...) {
                printed += keys
                // The loop is done.
                withUnsafeCurrentTask { $0?.cancel() }
            }
            let store = try MemoryStore(model)
            let changes = store.changes()  // from now on
            try await store.sync("User", .bytes(bytes))
            for await change in changes {
                print(change["User"].inserted, change["User"].updated, change["User"].deleted)  // keys
            }
            return printed
        }
        #expect(try await printed.value == [[.identity(1)], [], []])
    }
}
