public import Foundation
package import SyncBase

extension LiveSync {
    /// The failures of a pass of several lists. The other lists were synced.
    public struct PassFailure: Error, Sendable {
        /// The failure of a list.
        public struct Failure: Sendable {
            /// The entity of the list.
            public let entity: String
            /// Why its sync failed.
            public let error: any Error
        }

        /// The failures, in the order of the lists; at least one.
        public let failures: [Failure]
    }
}

extension LiveSync.PassFailure: CustomStringConvertible, LocalizedError {
    /// Each entity with the `description` of its error.
    public var description: String {
        failures.map { "\($0.entity): \(ErrorText.describing($0.error))" }.joined(separator: "; ")
    }

    /// The same text as ``description``.
    public var errorDescription: String? { description }
}

extension LiveSync.PassFailure: AreaError {
    package var errorArea: ErrorArea { failures.first.map { ErrorArea(of: $0.error) } ?? .other }
}
