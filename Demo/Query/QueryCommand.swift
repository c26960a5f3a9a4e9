import HTTPTransfer
import JSONMapper
import StoreSync
import SyncModel
import SyncStore

/// The command `Demo query`, which shows objects of a store as a table or as JSON.
struct QueryCommand: Command {
    let arguments: QueryArguments
    let console: Console

    /// The number of rows of a table unless `--limit` is given.
    private static let defaultLimit = 50

    func perform() async throws {
        let store = try await arguments.store.openForReading(
            model: arguments.model, dialect: arguments.dialect, warn: console.printWarning)
        guard let entity = arguments.entity else { return try await listEntities(of: store) }
        let layout = try store.mapper.model.required(entity)
        do {
            if let json = arguments.json {
                try await printJSON(json, from: store)
            } else {
                try await printTable(of: layout, from: store.store)
            }
        } catch {
            throw NameError.explaining(error, in: store.mapper.model)
        }
    }

    // MARK: Entities

    private func listEntities(of store: JSONStore) async throws {
        var table = TextTable(columns: [.init(title: "entity"), .init(title: "objects", isNumeric: true)])
        for entity in store.mapper.model.dataEntities {
            let count = try await store.store.count(StoreQuery(entity.name))
            table.add([
                TextTable.Cell(PrintableText.line(entity.name)), TextTable.Cell("\(count)", count == 0 ? .faint : nil),
            ])
        }
        show(table)
        if case .sqlite(let path) = arguments.store {
            console.print()
            console.print(console.style("The tables can also be read with: sqlite3 \(ShellWord.quoted(path))", .faint))
        }
    }

    // MARK: Objects

    private func printJSON(_ layout: JSONOutput.Layout, from store: JSONStore) async throws {
        let output = JSONOutput(layout, console: console)
        var options = RecordMapper.Exporter.Options()
        options.relationships = .none
        options.style = output.style
        try await store.export(query(limit: arguments.limit), options: options) { try await output.write($0) }
        try await output.finish()
    }

    private func printTable(of layout: EntityLayout, from store: any Store) async throws {
        let limit = arguments.limit ?? Self.defaultLimit
        let properties = try self.properties(of: layout)
        let relationships = properties.filter { layout.relationship($0) != nil }
        let (records, total) = try await store.read { reader in
            let records = try await reader.records(query(limit: limit), with: relationships)
            return (records, try await reader.count(query(limit: nil)))
        }
        guard !records.isEmpty else { return console.print("no objects") }
        var table = TextTable(
            columns: properties.map {
                .init(title: PrintableText.line($0), isNumeric: layout.isNumeric($0), isFixed: layout.isDate($0))
            })
        for stored in records { table.add(properties.map { RecordText.cell($0, of: stored.record) }) }
        show(table)
        guard total > records.count else { return }
        let note = "\(Quantity.grouped(records.count)) of \(Quantity.count(total, "object")); --limit N shows more"
        console.print(console.style(note, .faint))
    }

    /// The columns: those of the command line, or all attributes and to-one relationships.
    private func properties(of layout: EntityLayout) throws -> [String] {
        guard let properties = arguments.properties else {
            return layout.dataProperties.filter { layout.relationship($0)?.isToMany != true }
        }
        for name in properties where layout.column(of: name) == nil && layout.relationship(name) == nil {
            throw NameError(property: name, of: layout)
        }
        return properties
    }

    private func query(limit: Int?) -> StoreQuery {
        StoreQuery(
            arguments.entity ?? "", where: arguments.predicate, orderedBy: arguments.ordering, limit: limit)
    }

    /// Prints a table, and which columns do not fit.
    private func show(_ table: TextTable) {
        let (lines, omitted) = table.lines(width: console.width, style: console.style)
        for line in lines { console.print(line) }
        guard !omitted.isEmpty else { return }
        let names = PrintableText.line(omitted.joined(separator: ", "), limit: 200)
        let note = "The terminal is too narrow for: \(names). --columns selects."
        console.print(console.style(note, .faint))
    }
}
