#if Postgres
import OneWayPostgresClient
import OneWayPostgresTestSupport
import OneWayTestLimits
import Testing

@Suite(.enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .endsInTime)
struct PostgresConnectionTests {
    @Test func valuesComeAsTheyWereSent() async throws {
        try await SharedPostgres.withDatabase { database in
            let session = try await PostgresSession(database.url)
            try await session.use { connection in
                for isBinary in [false, true] {
                    let result = try connection.query(
                        "SELECT $1::bigint, $2::text, $3::bytea, $4::int, cardinality($5), true",
                        [
                            .integer(.min), .text("it's \u{1F600} \\ \""), .bytes([0, 1, 255]), .null,
                            .integers([1, .max, -1]),
                        ], isPrepared: true, binaryResult: isBinary)
                    #expect(result.integer(0, 0) == .min)
                    #expect(result.text(0, 1) == "it's \u{1F600} \\ \"")
                    #expect(result.withBytes(0, 2) { $0.count } == (isBinary ? 3 : 8))
                    #expect(result.isNull(0, 3))
                    #expect(result.integer(0, 4) == 3)
                    #expect(result.boolean(0, 5) == true)
                }
            }
        }
    }

    @Test func moreStatementsArePreparedThanAreKept() async throws {
        try await SharedPostgres.withDatabase { database in
            let session = try await PostgresSession(database.url)
            try await session.use { connection in
                var largest: Int64 = 0
                for number in [Int64](0..<450) + [Int64](0..<450) {
                    let result = try connection.query(
                        "SELECT \(number) + $1::int, (SELECT count(*) FROM pg_prepared_statements)", [.integer(1)],
                        isPrepared: true)
                    #expect(result.integer(0, 0) == number + 1)
                    largest = max(largest, result.integer(0, 1) ?? 0)
                }
                #expect(largest == 200)
            }
        }
    }

    @Test func aTextWithNULIsAnErrorNotCutShort() async throws {
        try await SharedPostgres.withDatabase { database in
            let session = try await PostgresSession(database.url)
            let error = await #expect(throws: PostgresError.self) {
                try await session.use { _ = try $0.query("SELECT $1::text", [.text("a\0b")]) }
            }
            #expect(error?.code == "22021")
        }
    }

    // MARK: Several statements

    @Test func statementsOfOneMessageRunInOrder() async throws {
        try await SharedPostgres.withDatabase { database in
            let session = try await PostgresSession(database.url)
            try await session.use { connection in
                try connection.execute("BEGIN")
                connection.executeLater(["CREATE TEMP TABLE t (a bigint)", "SAVEPOINT s"])
                var places: [Int] = []
                let results = try connection.run([
                    PostgresStatement("INSERT INTO t SELECT unnest($1::bigint[])", [.integers([3, 4])]),
                    PostgresStatement("SELECT sum(a)::bigint FROM t", binaryResult: true),
                    PostgresStatement("ROLLBACK TO s"),
                ]) { place, _ in places.append(place) }
                #expect(results.count == 3)
                #expect(results[0].affectedCount == 2)
                #expect(results[1].integer(0, 0) == 7)
                #expect(places == [0, 1, 2])
                #expect(try connection.query("SELECT count(*) FROM t").integer(0, 0) == 0)
                try connection.execute("COMMIT")
                // Nothing of the message is left.
                #expect(try connection.execute("SELECT 1; SELECT 2").integer(0, 0) == 2)
            }
        }
    }

    @Test func afterAnErrorNoFurtherStatementOfTheMessageRuns() async throws {
        try await SharedPostgres.withDatabase { database in
            let session = try await PostgresSession(database.url)
            try await session.use { connection in
                try connection.execute("CREATE TABLE t (a int PRIMARY KEY); BEGIN; SAVEPOINT s")
                var places: [Int] = []
                let statements = ["INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)"]
                let error = #expect(throws: PostgresError.self) {
                    _ = try connection.run(statements.map { PostgresStatement($0) }) { place, _ in places.append(place)
                    }
                }
                #expect(error?.code == "23505")
                #expect(error?.statement == statements[1])
                #expect(places == [0])
                try connection.execute("ROLLBACK TO s")
                // What the client finds wrong comes before what the server refuses later.
                #expect(throws: CancellationError.self) {
                    _ = try connection.run(statements.map { PostgresStatement($0) }) { place, _ in
                        if place == 0 { throw CancellationError() }
                    }
                }
                try connection.execute("ROLLBACK TO s; COMMIT")
                #expect(try connection.execute("SELECT count(*) FROM t").integer(0, 0) == 0)
            }
        }
    }

    @Test func aMessageAndItsAnswersAreLargerThanAnyBuffer() async throws {
        try await SharedPostgres.withDatabase { database in
            let session = try await PostgresSession(database.url)
            try await session.use { connection in
                let text = String(repeating: "x", count: 1 << 20)
                let statement = PostgresStatement("SELECT $1::text", [.text(text)])
                let results = try connection.run(Array(repeating: statement, count: 40))
                #expect(results.allSatisfy { $0.text(0, 0)?.utf8.count == 1 << 20 })
            }
        }
    }

    @Test func cancellingTheTaskEndsAllStatementsOfAMessage() async throws {
        try await SharedPostgres.withDatabase { database in
            let session = try await PostgresSession(database.url)
            let lock = PostgresStatement("SELECT pg_advisory_lock(1)")
            let holder = try await PostgresSession(database.url)
            try await holder.use { _ = try $0.run([lock]) }
            for _ in 0..<10 {
                let task = Task {
                    try await session.use { _ = try $0.run([PostgresStatement("SELECT 1"), lock, lock]) }
                }
                try await database.waitForWaiter()
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                #expect(try await session.use { try $0.execute("SELECT 1").integer(0, 0) } == 1)
            }
        }
    }

    /// libpq does not leave the message of a COPY.
    @Test func aCopyAmongTheStatementsOfAMessageGivesTheConnectionUp() async throws {
        try await SharedPostgres.withDatabase { database in
            try await PostgresSession(database.url).use { connection in
                try connection.execute("CREATE TABLE t (a int)")
                _ = try? connection.run([PostgresStatement("SELECT 1"), PostgresStatement("COPY t FROM STDIN")])
                #expect(connection.isClosed)
            }
        }
    }

    // MARK: Beginnings of transactions

    @Test(arguments: [false, true])
    func aTransactionBeginsTogetherWithItsFirstStatement(hasParameters: Bool) async throws {
        try await SharedPostgres.withDatabase { database in
            try await PostgresSession(database.url).use { connection in
                #expect(!connection.isBeginning)
                var selected: [Int64?] = []
                connection.beginLater(["BEGIN"], lock: "SELECT pg_advisory_xact_lock(1)", selection: "SELECT 7") {
                    selected.append($0.integer(0, 0))
                }
                #expect(connection.isBeginning && !connection.isInTransaction)
                let result =
                    try hasParameters
                    ? connection.query("SELECT $1::bigint", [.integer(8)]) : connection.execute("SELECT 8")
                #expect(result.integer(0, 0) == 8)
                #expect(selected == [7])
                #expect(!connection.isBeginning && connection.isInTransaction)
                connection.rollback()
                #expect(!connection.isInTransaction && !connection.isClosed)
            }
        }
    }

    // MARK: Errors

    @Test func errorsSayTheStatementAndTheCodeButNoValues() async throws {
        try await SharedPostgres.withDatabase { database in
            try await database.run("CREATE TABLE t (a text PRIMARY KEY); INSERT INTO t VALUES ('secret')")
            let session = try await PostgresSession(database.url)
            let duplicate = await #expect(throws: PostgresError.self) {
                try await session.use { _ = try $0.query("INSERT INTO t VALUES ($1)", [.text("secret")]) }
            }
            #expect(duplicate?.code == "23505")
            #expect(duplicate?.description.contains("INSERT INTO t VALUES ($1)") == true)
            #expect(duplicate?.description.contains("secret") == false)
            #expect(duplicate.debugDescription.contains("secret"))

            let number = await #expect(throws: PostgresError.self) {
                try await session.use { _ = try $0.query("SELECT $1::int", [.text("secret")]) }
            }
            #expect(number?.code == "22P02")
            #expect(number?.description.contains("secret") == false)
            // A server in another language quotes values in other ways.
            #expect(number?.description == "PostgreSQL: a value does not fit (SQLSTATE 22P02) in: SELECT $1::int")
            #expect(number?.debugDescription.contains("secret") == true)

            try await database.run("CREATE SEQUENCE numbers MAXVALUE 2 START 2; SELECT nextval('numbers')")
            for (text, code) in [("SELECT 1 / 0", "22012"), ("SELECT nextval('numbers')", "2200H")] {
                let error = await #expect(throws: PostgresError.self) {
                    try await session.use { _ = try $0.query(text) }
                }
                let message = try #require(error).message
                #expect(error?.description == "PostgreSQL: \(message) (SQLSTATE \(code)) in: \(text)")
            }

            try await database.run(
                """
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN RAISE EXCEPTION 'no %', NEW.a USING ERRCODE = '23514'; END $$;
                CREATE TRIGGER refuse BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION refuse()
                """)
            let raised = await #expect(throws: PostgresError.self) {
                try await session.use { _ = try $0.query("INSERT INTO t VALUES ($1)", [.text("other secret")]) }
            }
            #expect(raised?.code == "23514")
            #expect(raised?.description.contains("a function or trigger of the database raised an error") == true)
            #expect(raised?.description.contains("secret") == false)
            #expect(raised?.debugDescription.contains("no other secret") == true)
            // The connection is as good as before.
            #expect(try await session.use { try $0.execute("SELECT 1").rowCount } == 1)
        }
    }

    @Test(arguments: [
        ("postgres://nobody@/x?host=%2Fnonexistent", "08001"),
        ("host=/nonexistent dbname=x", "08001"),
        ("no keyword", "08001"),
        ("postgres://u:pass%zzword@/x", "08001"),
    ])
    func aServerThatIsNotThereIsAClearError(url: String, code: String) async throws {
        let error = await #expect(throws: PostgresError.self) { try await PostgresSession(url) }
        #expect(error?.code == PostgresError.Code(rawValue: code))
        #expect(error.debugDescription.contains("pass") == false)
    }

    @Test func aMissingDatabaseAndRoleHaveTheServersCode() async throws {
        try await SharedPostgres.withDatabase { database in
            let noDatabase = await #expect(throws: PostgresError.self) {
                try await PostgresSession(database.url + "&dbname=missing")
            }
            #expect(noDatabase?.code == "3D000")
            let noRole = await #expect(throws: PostgresError.self) {
                try await PostgresSession(database.url + "&user=missing")
            }
            #expect(noRole?.code == "28000")
        }
    }

    @Test func anErrorThatEndsTheConnectionIsKnownAsSuch() async throws {
        try await SharedPostgres.withDatabase { database in
            let session = try await PostgresSession(database.url)
            let process = try await session.use { $0.serverProcess }
            try await database.run("SELECT pg_terminate_backend(\(process))")
            let error = await #expect(throws: PostgresError.self) {
                try await session.use { _ = try $0.execute("SELECT 1") }
            }
            #expect(error?.isConnectionFailure == true)
            #expect(error?.isRetryable == true)
            try await session.use { #expect($0.isClosed) }
        }
    }

    // MARK: Ends of transactions

    @Test func aTransactionEndsWithoutTheAnswerOfTheServer() async throws {
        try await SharedPostgres.withDatabase { database in
            try await PostgresSession(database.url).use { connection in
                for statement in ["SELECT 1", "SELECT 1 / 0"] {
                    try connection.execute("BEGIN")
                    _ = try? connection.execute(statement)
                    connection.endWithoutChanges()
                    #expect(!connection.isInTransaction && !connection.isClosed)
                    connection.endWithoutChanges()
                    #expect(try connection.execute("SELECT 2").integer(0, 0) == 2)
                    #expect(!connection.isInTransaction)
                    try connection.execute("BEGIN")
                    connection.endWithoutChanges()
                    #expect(try connection.query("SELECT $1::bigint", [.integer(3)]).integer(0, 0) == 3)
                }
            }
        }
    }

    @Test func aSessionThatIsLostAfterATransactionIsNoticedByTheNextStatement() async throws {
        try await SharedPostgres.withDatabase { database in
            let session = try await PostgresSession(database.url)
            let process = try await session.use { connection in
                try connection.execute("BEGIN")
                connection.endWithoutChanges()
                return connection.serverProcess
            }
            try await database.run("SELECT pg_terminate_backend(\(process), 10000)")
            let error = await #expect(throws: PostgresError.self) {
                try await session.use { _ = try $0.execute("SELECT 1") }
            }
            #expect(error?.isConnectionFailure == true)
        }
    }

    // MARK: Cancelling

    @Test func cancellingTheTaskCancelsTheStatementOnTheServer() async throws {
        try await SharedPostgres.withDatabase { database in
            let session = try await PostgresSession(database.url)
            let lock = "SELECT pg_advisory_lock(1)"
            let holder = try await PostgresSession(database.url)
            try await holder.use { _ = try $0.execute(lock) }
            for _ in 0..<20 {
                let task = Task { try await session.use { _ = try $0.execute(lock) } }
                try await database.waitForWaiter()
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                // Nothing of it hits the next statement.
                #expect(try await session.use { try $0.execute("SELECT 1").integer(0, 0) } == 1)
            }
        }
    }

    @Test func aStatementOfACancelledTaskIsNotSent() async throws {
        try await SharedPostgres.withDatabase { database in
            let session = try await PostgresSession(database.url)
            let gate = AsyncStream<Void>.makeStream()
            let task = Task {
                for await _ in gate.stream {}
                try await session.use { _ = try $0.execute("CREATE TABLE t ()") }
            }
            task.cancel()
            gate.continuation.finish()
            await #expect(throws: CancellationError.self) { try await task.value }
            let tables = try await database.run("SELECT count(*) FROM pg_class WHERE relname = 't'")
            #expect(tables == [["0"]])
        }
    }

    @Test func onlyInterruptibleCallsEndWithTheTask() async throws {
        try await SharedPostgres.withDatabase { database in
            let session = try await PostgresSession(database.url)
            let gate = AsyncStream<Void>.makeStream()
            let task = Task {
                for await _ in gate.stream {}
                return try await session.useToTheEnd { try $0.execute("SELECT 1").integer(0, 0) }
            }
            task.cancel()
            gate.continuation.finish()
            let answer = try await task.value
            #expect(answer == 1)
        }
    }

    // MARK: COPY

    @Test func copyTakesMoreThanFitsInAnyBuffer() async throws {
        try await SharedPostgres.withDatabase { database in
            let session = try await PostgresSession(database.url)
            try await session.use { connection in
                try connection.execute("CREATE TABLE t (a bigint, b text)")
                let result = try connection.copyIn("COPY t FROM STDIN") { writer in
                    let lines = (0..<1000).map { "\($0)\t\(String(repeating: "x", count: 100))\n" }.joined()
                    for _ in 0..<200 { try Array(lines.utf8).withUnsafeBytes(writer.write) }
                }
                #expect(result.affectedCount == 200_000)
                #expect(try connection.execute("SELECT count(*) FROM t").integer(0, 0) == 200_000)
            }
        }
    }

    @Test func aServerThatAsksForNoDataIsAnError() async throws {
        try await SharedPostgres.withDatabase { database in
            try await PostgresSession(database.url).use { connection in
                let error = #expect(throws: PostgresError.self) { try connection.copyIn("SELECT 1") { _ in } }
                #expect(error?.code == "08P01")
            }
        }
    }

    @Test func copyOfWrongDataFailsAndChangesNothing() async throws {
        try await SharedPostgres.withDatabase { database in
            let session = try await PostgresSession(database.url)
            try await session.use { connection in
                try connection.execute("CREATE TABLE t (a bigint)")
                let error = #expect(throws: PostgresError.self) {
                    try connection.copyIn("COPY t FROM STDIN") { writer in
                        for _ in 0..<100 { try Array("1\nx\n".utf8).withUnsafeBytes(writer.write) }
                    }
                }
                #expect(error?.code == "22P02")
                #expect(throws: CancellationError.self) {
                    try connection.copyIn("COPY t FROM STDIN") { writer in
                        try Array("1\n".utf8).withUnsafeBytes(writer.write)
                        throw CancellationError()
                    }
                }
                #expect(try connection.execute("SELECT count(*) FROM t").integer(0, 0) == 0)
            }
        }
    }

    // MARK: Notifications

    @Test func notificationsWakeTheWaitingConnection() async throws {
        try await SharedPostgres.withDatabase { database in
            let session = try await PostgresSession(database.url)
            try await session.use { _ = try $0.execute("LISTEN a") }
            let waiting = Task { try await session.use { try $0.notifications(until: nil) } }
            try await database.run("NOTIFY a, 'hello'")
            let received = try await waiting.value
            #expect(received == [PostgresNotification(channel: "a", payload: "hello")])
            #expect(try await session.use { try $0.notifications(until: .now) } == [])

            let cancelled = Task { try await session.use { try $0.notifications(until: nil) } }
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
        }
    }
}
#endif
