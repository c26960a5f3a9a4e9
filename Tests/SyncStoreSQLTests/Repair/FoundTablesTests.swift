import OneWayStoreTestSupport
import OneWayTestLimits
import SyncModel
import SyncStorePostgres
import SyncStoreSQL
import Testing

/// What a database lacks of a store's tables.
@Suite(.endsInTime) struct FoundTablesTests {
    private typealias Part = SQLSchemaError.Defect.Part

    private let dialect: any SQLDialect = .postgres(schema: "public")
    /// The table of notes, which refers to users.
    private let table: SQLSchema.Table
    private let index: SQLSchema.Index

    init() throws {
        let schema = SQLSchema(try UserModel.withNotes(), dialect: .postgres(schema: "public"))
        table = try #require(schema.tables.first { $0.name == "Note" })
        index = try #require(table.indices.first { $0.isUnique })
    }

    private var parts: [Part] {
        table.columns.map(Part.column) + table.indices.map { .index($0.name) }
            + (table.foreignKeys ?? []).map { .foreignKey($0.name) } + [.primaryKey]
    }

    private func defects(
        _ parts: [Part], and others: [(SQLFoundTables.Part, String)] = [], hasSeparateKeys: Bool = true,
        isExisting: Bool = false
    ) -> [Part] {
        var found = SQLFoundTables(dialect, hasSeparateKeys: hasSeparateKeys)
        for part in parts {
            switch part {
            case .column(let name): found.add(.column, name, of: table.name)
            case .index(let name): found.add(.index, name, of: table.name)
            case .foreignKey(let name): found.add(.foreignKey, name, of: table.name)
            case .primaryKey: found.add(.primaryKey, "", of: table.name)
            case .table: break
            }
        }
        for (part, name) in others { found.add(part, name, of: table.name) }
        let defects = found.defects(of: [table], existing: isExisting ? [table.name] : [])
        #expect(defects.allSatisfy { $0.table == table.name })
        return defects.map(\.part)
    }

    @Test func eachLostPartIsADefect() {
        #expect(parts.count == table.columns.count + table.indices.count + 2)
        #expect(defects(parts) == [])
        #expect(defects([]) == [.table])
        for lost in parts {
            let left = parts.filter { $0 != lost }
            #expect(defects(left) == [lost])
            // Keys that are part of the table's definition cannot be lost.
            let (isKey, isIndex) =
                switch lost {
                case .foreignKey, .primaryKey: (true, false)
                case .index: (false, true)
                case .table, .column: (false, false)
                }
            #expect(defects(left, hasSeparateKeys: false) == (isKey ? [] : [lost]))
            // The columns and keys of a table of others are their own.
            #expect(defects(left, isExisting: true) == (isIndex ? [lost] : []))
        }
    }

    /// In a table of others, their index of the same columns or of the same name is good enough.
    @Test func anotherIndexIsGoodEnoughInATableOfOthers() {
        let lost: [Part] = [.index(index.name)]
        let left = parts.filter { $0 != lost[0] }
        let cases: [(found: (SQLFoundTables.Part, String), isLost: Bool, isLostOfOthers: Bool)] = [
            ((.index, index.name), false, false), ((.otherIndex, index.name), true, false),
            ((.uniqueColumns, index.columns), true, false), ((.uniqueColumns, "(\"text\")"), true, true),
            ((.invalidIndex, index.name), true, true), ((.index, "another"), true, true),
        ]
        for (found, isLost, isLostOfOthers) in cases {
            #expect(defects(left, and: [found]) == (isLost ? lost : []), "\(found)")
            #expect(defects(left, and: [found], isExisting: true) == (isLostOfOthers ? lost : []), "\(found)")
        }
    }
}
