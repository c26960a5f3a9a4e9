/// Where the cause of an error lies. `SyncError.Area` of the core has the same cases, documented.
package enum ErrorArea: String, Sendable, CaseIterable {
    case server, data, storage, lease, program, cancelled, other

    /// The area of any error; ``other`` for one that does not state it.
    package init(of error: any Error) {
        self =
            switch error {
            case let error as any AreaError: error.errorArea
            case is CancellationError: .cancelled
            case is DecodingError, is EncodingError: .data
            default: .other
            }
    }
}

/// An error that states its area, as each public error of the package does.
package protocol AreaError: Error {
    var errorArea: ErrorArea { get }
}
