#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
package import SyncBase

/// Why a ``SyncService`` does not run.
public enum SyncServiceError: Error, Hashable, Codable {
    /// ``SyncService/run()`` was called while it was running.
    case alreadyRunning
}

extension SyncServiceError: LocalizedError, CustomStringConvertible {
    /// The error as a readable sentence.
    public var description: String {
        switch self {
        case .alreadyRunning: "the sync service is running already"
        }
    }

    /// The same as `description`.
    public var errorDescription: String? { description }
}

extension SyncServiceError: AreaError {
    package var errorArea: ErrorArea { .program }
}
