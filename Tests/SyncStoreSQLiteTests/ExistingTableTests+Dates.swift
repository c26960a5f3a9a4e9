import SyncModel
import SyncStoreSQL
import Testing

// Dates in columns of others that identify objects.
extension ExistingTableTests {
    @Test(arguments: [
        ("NULL", "'2024-05-06T10:00:00.000000Z'", true), ("'2024-05-06T10:00:00.000000Z'", "1", true),
        ("NULL", "-62167219200000001", true), ("NULL", "-62167219200000000", false), ("NULL", "0", false),
        ("NULL", "x'7000000000000000'", true), ("NULL", "x'70'", false), ("NULL", "1.5", false),
        ("'2024-05-06 10:00:00'", "NULL", false), ("CURRENT_TIMESTAMP", "NULL", false),
        ("(strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'))", "NULL", true),
    ])
    func datesThatIdentifyObjectsHaveTheFormOfTheStore(
        defaultValue: String, value: String, isSuitable: Bool
    ) async throws {
        let constraint = defaultValue == "NULL" ? "" : "NOT NULL DEFAULT \(defaultValue)"
        try await SQLiteShell.run("CREATE TABLE days (at DATETIME \(constraint))", at: path)
        if defaultValue == "NULL" { try await SQLiteShell.run("INSERT INTO days VALUES (\(value))", at: path) }
        let model = try DataModel { SyncEntity("Day", identity: "at") { SyncAttribute("at", .date) } }
        do {
            _ = try await open(model, tables: ["Day": "days"], rowColumn: "rowid")
            #expect(isSuitable)
        } catch SQLSchemaError.unsuitableTable(let table, let reason) {
            #expect(table == "days")
            #expect(!isSuitable, "\(reason)")
            #expect(
                defaultValue == "NULL"
                    ? reason.hasPrefix("at holds dates in another form than the store's; ")
                    : reason == "the default of at, which is NOT NULL, is a date in another form")
        }
    }
}
