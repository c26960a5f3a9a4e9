extension SQLMigration {
    /// How a column of a table is filled.
    struct Filling {
        let column: String
        /// The declared type.
        let type: String
        /// The expression that fills it from a row of the old table.
        let expression: String
        /// The old column whose values it takes, converted or not; nil for none.
        var former: String?
        var isMandatory = false

        /// Whether the values stay as they are.
        var isCopy: Bool { expression == former.map(SQLText.name) }
        /// Whether the column and its values stay as they are.
        var isSame: Bool { isCopy && former == column }
    }
}
