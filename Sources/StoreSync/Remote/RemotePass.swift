/// One pass through the pages of a source. It is used by one task at a time.
public protocol RemotePass: Sendable {
    /// Returns the next page; nil after the last.
    ///
    /// - Throws: An error if the page cannot be fetched after all attempts; `CancellationError`.
    func next() async throws -> RemotePage?

    /// Decides about a page that could not be read to its end.
    ///
    /// If this returns, ``next()`` hands the page out again from its start.
    ///
    /// - Throws: The error, if trying again is pointless.
    func recover(from error: any Error) async throws

    /// Returns to the first page, so that the pages can be compared with those already read.
    func rewind() async throws

    /// Ends the pass after the last page.
    func end() async throws -> RemoteEnd
}

extension RemotePass {
    /// Rethrows the error: no page is handed out twice.
    public func recover(from error: any Error) async throws {
        throw error
    }
}
