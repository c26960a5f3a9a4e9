package import SyncModel

/// A row that a statement gives; its columns are counted from 0.
package protocol SQLRow {
    /// A whole number; nil where there is none.
    func integer(at column: Int) -> Int64?
    /// A text; nil where there is none.
    func text(at column: Int) -> String?
    /// The value of an attribute.
    func value(at column: Int, as type: AttributeType) -> AttributeValue
}
