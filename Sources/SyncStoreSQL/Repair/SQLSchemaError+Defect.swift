extension SQLSchemaError {
    /// A part of a store's tables that the store created and that somebody has dropped or renamed.
    public struct Defect: Hashable, Sendable {
        /// The kind of a part, with its name.
        public enum Part: Hashable, Sendable {
            /// The whole table.
            case table
            /// A column.
            case column(String)
            /// An index that is missing, whose name another index of the table has, or, in SQLite,
            /// that disagrees with the rows.
            case index(String)
            /// A foreign key.
            case foreignKey(String)
            /// The primary key.
            case primaryKey
        }

        /// The table.
        public let table: String
        /// The missing part.
        public let part: Part

        package init(table: String, part: Part) {
            self.table = table
            self.part = part
        }

        /// Whether the part held data, which a repair cannot bring back.
        ///
        /// Opening a store creates other parts again.
        public var heldData: Bool {
            switch part {
            case .table, .column: true
            case .index, .foreignKey, .primaryKey: false
            }
        }
    }
}

extension SQLSchemaError.Defect: CustomStringConvertible {
    /// The part, such as `the column User.name`.
    public var description: String {
        switch part {
        case .table: "the table \(table)"
        case .column(let name): "the column \(table).\(name)"
        case .index(let name): "the index \(name) of \(table)"
        case .foreignKey(let name): "the foreign key \(name) of \(table)"
        case .primaryKey: "the primary key of \(table)"
        }
    }
}
