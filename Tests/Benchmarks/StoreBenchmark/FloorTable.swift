/// The table that a floor writes: the store's columns, its key the primary key.
struct FloorTable {
    let name: String
    /// The key first.
    let columns: [String]
    /// The columns that lead to rows of other tables, and that those find their rows by.
    var references: [String] = []
    /// Whether rows have numbers of their own, besides the key.
    var isNumbered = false

    static let users = FloorTable(
        name: "User",
        columns: ["remoteID", "name", "email", "createdAt", "updatedAt", "score", "active", "tags", "city", "zip"])
    static let numberedUsers: Self = {
        var table = users
        table.isNumbered = true
        return table
    }()
    static let notes = FloorTable(
        name: "Note", columns: ["remoteID", "text", "createdAt", "user"], references: ["user"])

    static let orders = FloorTable(
        name: "\"Order\"",
        columns: ["remoteID", "number", "status", "createdAt", "total", "tags", "customer"],
        references: ["customer"])
    static let customers = FloorTable(name: "Customer", columns: ["remoteID", "name", "email", "city", "createdAt"])
    static let lines = FloorTable(
        name: "Line", columns: ["remoteID", "quantity", "price", "\"order\"", "product"],
        references: ["\"order\"", "product"])
    static let products = FloorTable(name: "Product", columns: ["remoteID", "sku", "name", "price", "category"])

    private var list: String { columns.joined(separator: ", ") }

    var creation: String {
        guard isNumbered else {
            return
                "CREATE TABLE \(name) (\(columns[0]) INTEGER PRIMARY KEY, \(columns.dropFirst().joined(separator: ", ")))"
        }
        return "CREATE TABLE \(name) (_id INTEGER PRIMARY KEY, \(list)); "
            + "CREATE UNIQUE INDEX \(name)_key ON \(name) (\(columns[0]))"
    }

    /// The statements that make indices of the references.
    var indices: [String] {
        references.enumerated().map { index, column in
            "CREATE INDEX \(name.filter(\.isLetter))_reference_\(index) ON \(name) (\(column))"
        }
    }

    /// Selects what a store has, in the order of the key.
    var selection: String { "SELECT \(list) FROM \(name) ORDER BY \(columns[0])" }

    var insertion: String {
        "INSERT INTO \(name) (\(list)) VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))"
    }

    /// Inserts, or updates where something differs.
    var upsertWhere: String {
        let others = columns.dropFirst()
        let assignments = others.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        let differences = others.map { "\($0) IS NOT excluded.\($0)" }.joined(separator: " OR ")
        return "\(insertion) ON CONFLICT (\(columns[0])) DO UPDATE SET \(assignments) WHERE \(differences)"
    }

    /// Makes the table equal to the rows.
    func synchronize(_ rows: FloorRows, in database: FloorDatabase) throws {
        try database.execute("CREATE TEMP TABLE seen (key INTEGER PRIMARY KEY)")
        try database.run(upsertWhere, for: rows)
        try database.run("INSERT INTO temp.seen VALUES (?)", for: rows, columnCount: 1)
        try database.execute("DELETE FROM \(name) WHERE \(columns[0]) NOT IN (SELECT key FROM temp.seen)")
        try database.execute("DROP TABLE temp.seen")
    }
}
