package import Foundation
package import SyncModel

/// A value of a parameter, in one of the forms that a database keeps.
package enum SQLBinding: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob(Data)
    /// The text of a value of a type that the database names so.
    case typed(String, as: String)
    /// Object numbers, in any quantity.
    case objects([ObjectID])
    /// Blobs, in any quantity.
    case blobs([Data])
}
