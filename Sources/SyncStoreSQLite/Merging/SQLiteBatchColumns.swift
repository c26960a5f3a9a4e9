/// The columns of a batch that statements select from.
enum SQLiteBatchColumns {
    /// The place of the row in the batch.
    static let place = "place"
    /// The object that the row is of.
    static let object = "object"
    /// How many objects a new object can lead to.
    static let targetLimit = 4
    /// An object that a new object leads to; null for none.
    static func target(_ index: Int) -> String {
        "target\(index)"
    }

    /// The cell of a slot, or of a column of a batch that is of no entity.
    static func cell(_ slot: Int) -> String {
        "c\(slot)"
    }

    /// Whether the cell of a slot is to be written.
    static func isWritten(_ slot: Int) -> String {
        "w\(slot)"
    }
}
