extension SQLMigration {
    /// What a database has beside the old schema.
    package struct Found: Sendable {
        /// A column that somebody added to a table of the store.
        package struct Column: Sendable {
            package let name: String
            /// The declaration after the name.
            package let declaration: String
            /// Whether it is computed from other columns.
            package let isGenerated: Bool

            package init(name: String, declaration: String, isGenerated: Bool = false) {
                self.name = name
                self.declaration = declaration
                self.isGenerated = isGenerated
            }
        }

        /// The columns of tables that are not the store's own, in lower case, by the name of the
        /// table.
        package var adopted: [String: Set<String>] = [:]
        /// The columns that others added to the store's tables, by the name of the table.
        package var additions: [String: [Column]] = [:]
        /// The present names of tables that were renamed for the migration, by the stored name.
        package var moved: [String: String] = [:]
        /// The names of all tables, indices and views, before any of them was renamed.
        package var names: Set<String> = []

        package init() {}
    }
}
