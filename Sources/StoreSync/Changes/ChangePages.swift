/// Changes that a source reported between passes, as the pages of a pass. Each change is applied to
/// what the earlier ones left.
actor ChangePages: RemotePass {
    private var pages: ArraySlice<RemotePage>

    init(_ pages: [RemotePage]) {
        self.pages = pages[...]
    }

    func next() async throws -> RemotePage? {
        pages.popFirst()
    }

    /// Never called, because the changes are read once.
    func rewind() async throws {}

    func end() async throws -> RemoteEnd {
        RemoteEnd(.changes, isSnapshot: true, bookmark: SyncBookmark())
    }
}
