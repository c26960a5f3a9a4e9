import JSONMapper
#if Postgres
import OneWayPostgresTestSupport
#endif
import OneWayTestLimits
import OneWayTestSupport
import Testing

@testable import Demo

/// `sync` into PostgreSQL and `export` out of it.
@Suite(.endsInTime) struct PostgresDatabaseTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    private func sync(_ json: String, into store: String, _ options: String...) async throws -> CommandRun {
        let file = try folder.write(json, to: "users.json")
        return await CommandRun(["sync", file, "--entity", "User", "--store", store] + options)
    }

    #if Postgres
    @Test(.enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"))
    func aDatabaseBecomesEqualAndKeepsItsModel() async throws {
        try await SharedPostgres.withDatabase { database in
            let users = #"[{"id": 1, "name": "Ada", "notes": [{"id": 7}]}, {"id": 2, "name": "Bob"}]"#
            let empty = await CommandRun(["export", "--entity", "User", "--store", database.url])
            #expect(empty.errors == "failed: no model is kept with the database; name one with --model\n")
            let planned = try await sync(users, into: database.url, "--plan")
            #expect(planned.counts(of: "User") == [2, 0, 0, 0], "\(planned.errors)")
            let first = try await sync(users, into: database.url)
            #expect(first.lines.contains { $0.hasSuffix(", inferred model") }, "\(first.errors)")
            let second = try await sync(#"[{"id": 1, "name": "Eve"}]"#, into: database.url)
            #expect(second.counts(of: "User") == [0, 1, 0, 1], "\(second.errors)")
            #expect(second.lines.contains { $0.hasSuffix(", kept model") })
            let store = try #require(StoreLocation(database.url))
            let word = ShellWord.quoted(store.description)
            #expect(second.lines.last == "Next: Demo query --store \(word) --entity User")
            let again = try await sync(#"[{"id": 1, "name": "Eve"}]"#, into: database.url, "--plan")
            #expect(again.counts(of: "User") == [0, 0, 1, 0], "\(again.errors)")
            // The note went with its user's list, and is a list of its own from now on.
            for options in [["--plan"], []] {
                let own = await CommandRun(
                    [
                        "sync", try folder.write(#"[{"id": 8}]"#, to: "notes.json"), "--entity", "Note", "--store",
                        database.url,
                    ]
                        + options)
                #expect(own.counts(of: "Note") == [1, 0, 0, 0], "\(own.output)\(own.errors)")
                #expect(own.output.contains("Note is a list of its own now") == options.isEmpty)
            }
            let export = await CommandRun(["export", "--entity", "User", "--store", database.url])
            #expect(try JSONValue(parsing: export.output)[0]?["name"] == .string("Eve"), "\(export.errors)")
        }
    }
    #else
    @Test func withoutTheTraitALineSaysHowToBuildItIn() async throws {
        let run = try await sync("[]", into: "postgres://localhost/none")
        #expect(run.code == 1)
        #expect(run.errors.contains("swift run --traits Postgres Demo"))
    }
    #endif
}
