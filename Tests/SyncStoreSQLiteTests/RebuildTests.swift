import Foundation
import OneWayTestLimits
import OneWayTestSupport
import SyncModel
import SyncStoreSQL
import Testing

@testable import SyncStoreSQLite

/// What others have in and beside a file that is rebuilt.
@Suite(.endsInTime) struct RebuildTests {
    @Test func aRebuildNamesTheColumnsOfOthersThatItDrops() async throws {
        let world = try MigrationWorld()
        try await world.fill(.people(), #"[{"id":1,"name":"a"}]"#)
        try SQLiteConnection(path: world.path, isReadOnly: false, busyTimeout: 0).execute(
            "ALTER TABLE Person ADD COLUMN mine TEXT; UPDATE Person SET mine = 'kept by hand'; "
                + "ALTER TABLE Person ADD COLUMN other INTEGER")
        let rebuilt = try await SQLiteStore.rebuild(exactly: .people(), at: world.path) { _ in }
        #expect(
            rebuilt.warnings == [
                "the rebuild dropped columns that are not the store's, with their values: Person.mine, Person.other"
            ])
        #expect(try !world.columns("Person").contains("mine"))
        let again = try await SQLiteStore.rebuild(exactly: .people(), at: world.path) { _ in }
        #expect(again.warnings == [])
        #expect(try SQLiteConnection.count("Person", at: world.path) == 0)
    }

    @Test func aRebuildRefusesForeignKeysOfOthersAndKeepsFilesOfOthers() async throws {
        let world = try MigrationWorld()
        func texts(_ statement: String) throws -> [String] {
            try SQLiteConnection.texts(statement, at: world.path)
        }
        try await world.fill(.people(), #"[{"id":1,"name":"a"},{"id":2,"name":"b"}]"#)
        try SQLiteConnection(path: world.path, isReadOnly: false, busyTimeout: 0).execute(
            """
            CREATE TABLE notes (person INTEGER REFERENCES Person (_id), text TEXT);
            INSERT INTO notes VALUES (1, 'about a')
            """)
        let beside = world.path + "-rebuild"
        try Data("mine".utf8).write(to: URL(filePath: beside))
        await #expect(
            throws: SQLSchemaError.unfitDependentObject(
                name: "notes", reason: "its foreign key refers to Person, whose objects get new numbers; drop it before"
            )
        ) {
            try await SQLiteStore.rebuild(exactly: .people(), at: world.path) { _ in
                Issue.record("the store was filled")
            }
        }
        #expect(try texts("SELECT name FROM Person") == ["a", "b"])
        _ = try texts("DROP TABLE notes")
        _ = try await SQLiteStore.rebuild(exactly: .people(), at: world.path) { _ in }
        #expect(try texts("SELECT name FROM Person") == [])
        #expect(try Data(contentsOf: URL(filePath: beside)) == Data("mine".utf8))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: world.folder.url.path).filter { $0.contains("rebuild") }
                == ["store.sqlite-rebuild"])
    }
}
