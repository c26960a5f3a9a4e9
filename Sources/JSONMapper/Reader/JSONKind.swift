/// The kind of a JSON value.
package enum JSONKind: UInt8, Sendable, CaseIterable {
    /// An object, such as `{"id":1}`.
    case object
    /// An array, such as `[1,2]`.
    case array
    /// A string, such as `"text"`.
    case string
    /// A number, such as `-1.5e3`.
    case number
    /// `true` or `false`.
    case boolean
    /// `null`.
    case null
}
