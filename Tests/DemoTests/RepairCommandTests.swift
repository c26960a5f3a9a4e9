import Foundation
#if Postgres
import OneWayPostgresTestSupport
#endif
import OneWayTestLimits
import OneWayTestSupport
import OneWaySynchronizer
import Testing

@testable import Demo
@testable import SyncStoreSQLite

@Suite(.endsInTime) struct RepairCommandTests {
    private static let users = #"[{"id": 1, "name": "Ada", "notes": [{"id": 7}]}, {"id": 2, "name": "Bob"}]"#
    private let folder: TemporaryDirectory
    private let path: String
    private var store: String { "sqlite:\(path)" }

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.url.appending(path: "data.sqlite").path
    }

    private func sync(into store: String, _ options: String...) async throws -> CommandRun {
        let file = try folder.write(Self.users, to: "users.json")
        return await CommandRun(["sync", file, "--entity", "User", "--store", store] + options)
    }

    private func repair(_ options: String...) async -> CommandRun {
        await CommandRun(["repair", "--store", store] + options)
    }

    private func execute(_ statement: String) throws {
        try SQLiteConnection(path: path, isReadOnly: false, busyTimeout: 0)
            .execute("PRAGMA foreign_keys = OFF; \(statement)")
    }

    @Test func aCompleteDatabaseStaysAsItIs() async throws {
        #expect(try await sync(into: store).code == 0)
        for run in await [repair("--plan"), repair()] {
            #expect(run.code == 0 && run.output == "nothing is missing\n", "\(run.errors)")
        }
    }

    @Test func aDroppedTableIsNamedAndCreatedAgain() async throws {
        #expect(try await sync(into: store).code == 0)
        try execute(#"DROP TABLE "Note""#)
        let failed = try await sync(into: store)
        #expect(failed.code == 1 && failed.errors.contains("the table Note"), "\(failed.errors)")
        #expect(failed.errors.contains("with Demo repair"), "\(failed.errors)")
        for _ in 1...2 {
            let plan = await repair("--plan")
            #expect(plan.code == 0 && plan.lines.prefix(2) == ["missing:", "  the table Note"], "\(plan.errors)")
        }
        let repaired = await repair()
        #expect(repaired.lines.prefix(2) == ["created again:", "  the table Note"], "\(repaired.errors)")
        #expect(repaired.lines.last == "The values of lost tables and columns come back with the next sync.")
        let again = try await sync(into: store)
        // The user gets its note back, and counts as updated.
        #expect(again.counts(of: "User") == [0, 1, 1, 0], "\(again.errors)")
        #expect(again.counts(of: "Note") == [1, 0, 0, 0], "\(again.errors)")
        #expect(await repair().output == "nothing is missing\n")
    }

    @Test func aColumnOfObjectNumbersNeedsARebuild() async throws {
        #expect(try await sync(into: store).code == 0)
        try execute(#"ALTER TABLE "Note" RENAME COLUMN "_id" TO "other""#)
        let run = await repair()
        #expect(run.code == 1 && run.output.isEmpty)
        #expect(run.errors.contains("the column Note._id cannot be created again"), "\(run.errors)")
        let rebuilt = try await sync(into: store, "--rebuild")
        #expect(rebuilt.code == 0 && rebuilt.counts(of: "Note") == [1, 0, 0, 0], "\(rebuilt.errors)")
    }

    @Test(arguments: [[], ["--plan"]]) func whatIsNoStoreStaysAsItIs(options: [String]) async throws {
        let missing = await CommandRun(["repair", "--store", store] + options)
        #expect(missing.code == 1 && missing.errors == "failed: there is no database at \(store)\n")
        #expect(!FileManager.default.fileExists(atPath: path))
        try execute("CREATE TABLE other(a)")
        let other = await CommandRun(["repair", "--store", store] + options)
        #expect(other.code == 1 && other.errors.contains("no record of a store's tables"), "\(other.errors)")
        let memory = await CommandRun(["repair", "--store", "memory:"] + options)
        #expect(memory.code == 64 && memory.errors.contains("a store in memory has no tables to repair"))
    }

    @Test func aRepairWaitsForNoSync() async throws {
        #expect(try await sync(into: store).code == 0)
        try await SQLiteLease(for: path).withLease {
            let run = await repair()
            #expect(run.code == 1 && run.output.isEmpty && !run.errors.isEmpty)
            #expect(await repair("--plan").code == 0)
        }
    }

    #if Postgres
    @Test(.enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"))
    func aColumnOfPostgreSQLIsCreatedAgain() async throws {
        try await SharedPostgres.withDatabase { database in
            #expect(try await sync(into: database.url).code == 0)
            _ = try await database.run(#"ALTER TABLE "User" DROP COLUMN "name""#)
            let plan = await CommandRun(["repair", "--store", database.url, "--plan"])
            #expect(plan.lines.prefix(2) == ["missing:", "  the column User.name"], "\(plan.errors)")
            let repaired = await CommandRun(["repair", "--store", database.url])
            #expect(repaired.lines.prefix(2) == ["created again:", "  the column User.name"], "\(repaired.errors)")
            #expect(try await sync(into: database.url).counts(of: "User") == [0, 2, 0, 0])
        }
    }
    #endif
}
