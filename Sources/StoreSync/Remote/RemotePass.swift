/// One pass through the pages of a source, used by one task at a time.
public protocol RemotePass: Sendable {
    /// Returns the next page; nil after the last.
    ///
    /// - Throws: An error if the page cannot be fetched after all retries; `CancellationError`.
    func next() async throws -> RemotePage?

    /// Decides whether to retry a page that could not be read to its end.
    ///
    /// If this method returns, ``next()`` returns the same page again from its start.
    ///
    /// - Throws: The error, if a retry is pointless.
    func recover(from error: any Error) async throws

    /// Returns to the first page, so that a second reading can be compared with the first.
    func rewind() async throws

    /// Ends the pass after the last page.
    func end() async throws -> RemoteEnd
}

extension RemotePass {
    /// Rethrows the error: no page is read again.
    public func recover(from error: any Error) async throws {
        throw error
    }
}
