#if Postgres
import OneWayPostgresTestSupport
import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStorePostgres
import SyncStoreSQL
import Testing

/// What keeps an object from getting another entity.
@Suite(.enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .endsInTime)
struct PostgresEntityChangeTests {
    @Test(
        arguments: [
            (
                """
                CREATE FUNCTION kept() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; \
                CREATE TRIGGER guard BEFORE UPDATE ON "Person" FOR EACH ROW WHEN (OLD.id = 1) EXECUTE FUNCTION kept()
                """, nil
            ),
            (#"ALTER TABLE "Person" ADD CONSTRAINT single CHECK (id > 1 OR _entity <> 'Employee')"#, "single"),
            (#"CREATE UNIQUE INDEX single ON "Person" (_entity)"#, "single"),
        ] as [(String, String?)])
    func whatKeepsAnEntityIsAnError(guarding: String, constraint: String?) async throws {
        try await SharedPostgres.withDatabase { database in
            let model = try DataModel {
                SyncEntity("Person", identity: "id") { SyncAttribute("id", .int64) }
                SyncEntity("Employee", parent: "Person") {}
                SyncEntity("Guest", parent: "Person") {}
            }
            let store = try await PostgresStore(exactly: model, at: database.url, options: .patient)
            let objects = try await store.transaction { transaction in
                var person = Record(of: try model.layout(of: "Person"))
                person["id"] = .int(1)
                var guest = Record(of: try model.layout(of: "Guest"))
                guest["id"] = .int(2)
                return [try await transaction.insert(person), try await transaction.insert(guest)]
            }
            try await database.run(guarding)
            let error = await #expect(throws: (any Error).self) {
                try await store.transaction { transaction in
                    try await transaction.changeEntity(of: [objects[1]], from: "Guest", to: "Employee")
                    try await transaction.changeEntity(of: [objects[0]], from: "Person", to: "Employee")
                }
            }
            if constraint == nil {
                let reason = "the trigger guard kept 1 of 1 rows from changing their entity"
                #expect(error as? SQLSchemaError == .unsuitableTable(table: "Person", reason: reason))
            } else if case .refused(let refusal)? = error as? StoreError {
                #expect(
                    refusal.entity == "Employee" && refusal.constraint == constraint && refusal.key != nil, "\(refusal)"
                )
            } else {
                Issue.record("\(String(describing: error))")
            }
            #expect(try await store.count(StoreQuery("Guest")) == 1)
            #expect(try await store.count(StoreQuery("Employee")) == 0)
        }
    }
}
#endif
