/// The names of a batch's columns in statements.
enum SQLiteBatchColumns {
    /// The index of the row in the batch.
    static let place = "place"
    /// The object of the row.
    static let object = "object"
    /// The maximum number of targets of a new object.
    static let targetLimit = 4
    /// A target of a new object; null for none.
    static func target(_ index: Int) -> String {
        "target\(index)"
    }
    /// The position of a new object among the objects of its first target; null for none.
    static let position = "position"

    /// The cell of a column, or of a column if the batch has no entity.
    static func cell(_ column: Int) -> String {
        "c\(column)"
    }

    /// Whether to write the cell of a column.
    static func isWritten(_ column: Int) -> String {
        "w\(column)"
    }
}
