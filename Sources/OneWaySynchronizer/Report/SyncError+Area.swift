package import SyncBase

extension SyncError {
    /// Where the cause of an error lies: at the server, in the data, in the storage, or elsewhere.
    ///
    /// ```swift
    /// do {
    ///     try await store.sync(User.self, from: source)
    /// } catch {
    ///     switch SyncError.Area(of: error) {
    ///     case .cancelled: break
    ///     case .server: print("try again later: \(error)")
    ///     case .data, .storage, .lease, .program, .other: throw error
    ///     }
    /// }
    /// ```
    ///
    /// Each error of the framework has an area. Whether a retry may help is independent of it; see
    /// ``RetryableError``.
    public enum Area: String, Sendable, Hashable, Codable, CaseIterable {
        /// The server, or the way to it: no response, a refusal, or a response that HTTP or the
        /// pages do not allow.
        case server
        /// The data: JSON, lists or contents that are not as expected, or that the rules of the
        /// model, the store or the options refuse.
        case data
        /// The local side: the database, its tables, a file or a folder.
        case storage
        /// A lease that another process holds, that was lost, or that cannot be requested.
        case lease
        /// The program: its model, its settings, or a call that it must not make.
        case program
        /// The task or the pass was cancelled.
        case cancelled
        /// An error that does not state its area, such as one of a source or processor of your own.
        case other

        /// Determines the area of an error.
        ///
        /// An error that contains others, such as a ``SyncFailure``, has the area of the first one,
        /// and a cancelled pass has ``cancelled``. `DecodingError` and `EncodingError` are errors
        /// of the data.
        public init(of error: any Error) {
            self.init(ErrorArea(of: error))
        }

        init(_ area: ErrorArea) {
            self = Self(rawValue: area.rawValue) ?? .other
        }

        package var errorArea: ErrorArea { ErrorArea(rawValue: rawValue) ?? .other }
    }
}
