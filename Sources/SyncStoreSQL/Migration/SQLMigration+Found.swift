extension SQLMigration {
    /// The contents of a database that the old schema does not describe.
    package struct Found: Sendable {
        /// A column that another tool added to a table of the store.
        package struct Column: Sendable {
            package let name: String
            /// The declaration, without the name.
            package let declaration: String
            /// Whether it is computed from other columns.
            package let isGenerated: Bool

            package init(name: String, declaration: String, isGenerated: Bool = false) {
                self.name = name
                self.declaration = declaration
                self.isGenerated = isGenerated
            }
        }

        /// The names of the columns of tables that the store did not create, by table.
        package var existing: [String: Set<String>] = [:]
        /// The columns that other tools added to the store's tables, by table.
        package var additions: [String: [Column]] = [:]
        /// The current names of tables that were renamed for the migration, by their stored names.
        package var moved: [String: String] = [:]
        /// The names of all tables, indices and views before the renaming.
        package var names: Set<String> = []

        package init() {}
    }
}
