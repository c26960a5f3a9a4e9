package import Foundation
package import SyncModel

/// The value of a parameter, in a form that a database can store.
package enum SQLBinding: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob(Data)
    /// The text of a value of a named database type.
    case typed(String, as: String)
    /// Any number of object numbers.
    case objects([ObjectID])
    /// Any number of blobs.
    case blobs([Data])
}
