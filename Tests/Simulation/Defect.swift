import StoreSync

/// Mistakes that the parts of a simulation can be given, to see whether it notices.
enum Defect: String, CaseIterable {
    /// The source says of pages that changed while they were read that they are of one moment.
    case claimsSnapshot
    /// The source keeps a bookmark that is ahead of what it has handed out.
    case bookmarkAhead
    /// The store keeps what a transaction has done that then failed.
    case keepsFailures
    /// The store loses some of what it is given.
    case losesBatches

    var ofStore: FaultyStore.Defect? {
        switch self {
        case .keepsFailures: .keepsFailures
        case .losesBatches: .losesBatches
        case .claimsSnapshot, .bookmarkAhead: nil
        }
    }
}

/// A source that may have a defect.
struct AnySource: RemoteSource {
    let base: any RemoteSource
    let defect: Defect?

    var name: String { base.name }
    var keyPath: String { base.keyPath }
    var fingerprint: String { get async throws { try await base.fingerprint } }

    func begin(after bookmark: SyncBookmark?, keyPath: String) async throws -> RemoteAnswer {
        let answer = try await base.begin(after: bookmark, keyPath: keyPath)
        guard let defect, case .changed(let run) = answer else { return answer }
        return .changed(DefectiveRun(base: run, defect: defect))
    }
}

private struct DefectiveRun: RemotePass {
    let base: any RemotePass
    let defect: Defect

    func next() async throws -> RemotePage? { try await base.next() }
    func recover(from error: any Error) async throws { try await base.recover(from: error) }
    func rewind() async throws { try await base.rewind() }

    func end() async throws -> RemoteEnd {
        var end = try await base.end()
        if defect == .claimsSnapshot { end.isSnapshot = true }
        if defect == .bookmarkAhead, end.bookmark.cursor != nil { end.bookmark.cursor = "2199-01-01T00:00:00Z" }
        return end
    }
}
