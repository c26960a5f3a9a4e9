public import Foundation
package import SyncBase

/// Why objects of a type cannot be read as requested.
public enum ObjectReadingError: Error, Hashable, Sendable {
    /// A property holds related objects that the query does not include.
    ///
    /// Name it in `including:`, or declare it as `Related`. The type is that of the query. The
    /// property is a path from it, such as `company.city`.
    case notIncluded(type: String, property: String)
    /// A path of `including` leads through a property that the type does not have.
    case unknownInclude(type: String, property: String)
    /// The type cannot hold a stored object, which the error names with its key and property.
    ///
    /// ``StoreReader/readable(_:)`` reads the other objects.
    case unreadable(ObjectReadingError.UnreadableObject)
    /// A page key belongs to a query with another order.
    case foreignPageKey
    /// The store of a live query does not report commits. Wrap it in an `ObservedStore`.
    case notObservable
}

extension ObjectReadingError: CustomStringConvertible, CustomDebugStringConvertible, LocalizedError {
    /// The sentence with the value that cannot be read, which may be personal data.
    public var debugDescription: String {
        if case .unreadable(let object) = self { String(reflecting: object) } else { description }
    }

    /// The error as a readable sentence.
    public var description: String {
        switch self {
        case .notIncluded(let type, let property):
            "\(type).\(property) holds related objects: add including: \\.\(property), or declare it as Related"
        case .unknownInclude(let type, let property): "\(type) has no related objects \(property) to include"
        case .notObservable: "the store does not report commits; wrap it in an ObservedStore"
        case .unreadable(let object): "\(object)"
        case .foreignPageKey: "the page key belongs to a query with another order"
        }
    }

    /// The same text as `description`.
    public var errorDescription: String? { description }
}

extension ObjectReadingError: AreaError {
    package var errorArea: ErrorArea {
        switch self {
        case .unreadable: .data
        case .notIncluded, .unknownInclude, .foreignPageKey, .notObservable: .program
        }
    }
}
