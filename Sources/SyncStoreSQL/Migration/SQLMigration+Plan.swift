extension SQLMigration {
    /// The steps and the result of a migration.
    package struct Plan {
        /// The statements to run first, which keep nobody from reading.
        package let preparations: [String]
        /// The existing tables to lock before the statements run.
        package let locks: Locks
        /// The values that the store converts before the statements run.
        package let conversions: [SQLValueConversion]
        /// Queries that must find nothing before the migration, each with the error to throw if it
        /// does.
        package let checks: [(query: String, error: SQLSchemaError)]
        /// The tables to rename before the statements run; empty if the statements rename them.
        ///
        /// After the renaming, a second plan with these tables in ``Found/moved`` has the
        /// statements to run.
        package let moves: [Move]
        /// The old tables that no new table continues, which the statements drop.
        package let dropped: [String]
        /// The statements, in order. If the dialect can change tables, they create no other indices
        /// than unique ones on existing tables, and do not validate foreign keys. Both can follow
        /// when the tables are no longer locked; see `SQLRepair`.
        package let statements: [String]
        /// The names of other tools' columns that statements create, by statement.
        package let additions: [String: String]
        /// The tables after the migration.
        package let description: SQLSchemaDescription
    }

    /// The names of tables that statements lock.
    package struct Locks: Hashable, Sendable {
        /// Tables that nobody can read meanwhile.
        package var exclusive: Set<String> = []
        /// Tables that nobody can change meanwhile.
        package var shared: Set<String> = []

        package init(exclusive: Set<String> = [], shared: Set<String> = []) {
            self.exclusive = exclusive
            self.shared = shared
        }
    }

    /// A table and its new name.
    package typealias Move = (from: String, to: String)
}
