/// The six kinds of JSON value.
package enum JSONKind: UInt8, Sendable, CaseIterable {
    /// `{…}`
    case object
    /// `[…]`
    case array
    /// `"…"`
    case string
    /// `-1.5e3`
    case number
    /// `true` or `false`
    case boolean
    /// `null`
    case null
}
