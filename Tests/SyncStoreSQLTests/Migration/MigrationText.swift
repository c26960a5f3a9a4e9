import SyncModel
import SyncStorePostgres
import SyncStoreSQL

/// What turns the tables of one model into those of another.
struct MigrationText {
    let plan: SQLMigration.Plan

    var statements: [String] { (plan.preparations + plan.statements).withoutSchema }

    /// The tables that the database records afterwards.
    var tables: [String] { plan.description.tables.map { $0.creation(.postgres(schema: "public")).withoutSchema } }

    /// - Parameters:
    ///   - naming: The names of the new tables; the old ones have those of their model.
    ///   - keepsRemoved: Whether everything stays that the new model lacks.
    init(
        from old: DataModel, to new: DataModel, naming: SQLNaming = SQLNaming(),
        dialect: any SQLDialect = .postgres(schema: "public"), found: SQLMigration.Found = .init(),
        keepsRemoved: Bool = true
    ) throws {
        plan = try SQLMigration.plan(
            from: SQLSchemaDescription(SQLSchema(old, dialect: dialect)),
            to: SQLSchema(new, naming: naming, dialect: dialect), found: found, keepsRemoved: keepsRemoved)
    }
}
