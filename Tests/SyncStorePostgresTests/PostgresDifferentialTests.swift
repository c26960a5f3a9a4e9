#if Postgres
import OneWayPostgresTestSupport
import OneWayStoreLives
import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStorePostgres
import Testing

/// Random models, payloads, operations and migrations, on a PostgreSQL store beside one in memory,
/// and a plain expectation beside both.
@Suite(.enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .endsInTime)
struct PostgresDifferentialTests {
    @Test(arguments: StoreLife.seeds(count: 16))
    func bothStoresHoldWhatIsExpected(seed: UInt64) async throws {
        try await SharedPostgres.withSchemas { schemas in
            // A far server gets other messages.
            let database = PostgresLifeDatabase(schemas, isFar: seed % 2 == 0)
            var life = try await StoreLife(seed: seed, in: database)
            try await life.live(stepCount: 12, "seed \(seed)")
        }
    }
}

/// A schema of a test.
private struct PostgresLifeDatabase: LifeDatabase {
    private let schemas: TestSchemas
    private let options: PostgresStore.Options

    init(_ schemas: TestSchemas, isFar: Bool) {
        self.schemas = schemas
        var options = schemas.emptyStore()
        options.farRoundTrip = isFar ? .zero : .seconds(60)
        self.options = options
    }

    let isExisting = false

    func prepare(_ fields: [String: [Field]]) {}

    func open(_ model: DataModel, version: Int) async throws -> any Store {
        var options = options
        options.modelVersion = version
        return try await PostgresStore(exactly: model, at: schemas.url, options: options)
    }

    func rebuild(
        _ model: DataModel, version: Int, _ fill: @escaping @Sendable (any Store) async throws -> Void
    ) -> (any Store)? {
        nil
    }

    /// The place and the transaction of each row.
    func writtenState() async throws -> [String] {
        try await schemas.run(
            """
            SELECT query_to_xml(format('SELECT ctid, xmin FROM %I', relname), true, true, '')::text FROM pg_class \
            WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' ORDER BY relname
            """, in: options
        ).map { $0[0] ?? "" }
    }

    func check(_ place: String) async throws {
        let invalid = try await schemas.run(
            "SELECT indexrelid::regclass FROM pg_index WHERE NOT indisvalid", in: options)
        #expect(invalid.isEmpty, "\(place)")
    }
}
#endif
