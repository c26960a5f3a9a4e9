package import SyncModel

/// A result row of a statement; columns are counted from 0.
package protocol SQLRow {
    /// A whole number; nil if the cell has none.
    func integer(at column: Int) -> Int64?
    /// A text; nil if the cell has none.
    func text(at column: Int) -> String?
    /// The value of an attribute.
    func value(at column: Int, as type: AttributeType) -> AttributeValue
}
