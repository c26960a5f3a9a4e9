import SyncBase
import JSONMapper
import SyncModel
import SyncStore

extension JSONStore {
    /// Makes the objects of an entity equal to those of a source: all of them, or by what has changed since the last time.
    ///
    /// The source's bookmark is kept in the store where its model has ``SyncBookmark/entity``, and committed with the objects. Where the source says
    /// that nothing has changed, nothing is written, and no transaction is begun unless there is something new to remember or a run to record. A bookmark is void
    /// once the source, the options or the model are others.
    ///
    /// All pages are read inside of one transaction: it happens in whole or not at all, in bounded memory, readers see the old state until
    /// then, and other writers wait.
    ///
    /// What is absent is deleted only if it is known to be gone. Where the source was read page by page, the pages are read once more
    /// before anything is deleted, and again if they had other objects then; what is not sure after the third time is kept, counted as withheld,
    /// and looked at in the next run. Pages of changes are read more than once in the same way, so that no change is passed over that moved from one
    /// page to another; where that is not sure after the third time, the next run asks for them again.
    ///
    /// - Parameters:
    ///   - source: Where the objects come from.
    ///   - entity: Their entity; objects of sub-entities are meant as well.
    ///   - options: What may be done, and how. The removal limit counts objects that the source names as gone, too.
    ///   - usesBookmark: Whether the source is asked for what has changed alone, if it can tell; false reads everything anew.
    ///   - progress: Called with each batch of objects; must not block.
    /// - Returns: What was done.
    /// - Throws: As `sync(_:into:childrenOf:options:)`, and what the source throws; then nothing has been done.
    @discardableResult
    public func sync(
        from source: some RemoteSource, into entity: String, options: StoreSyncOptions = StoreSyncOptions(),
        usesBookmark: Bool = true, progress: @escaping @Sendable (RemoteSyncProgress) -> Void = { _ in }
    ) async throws -> RemoteSyncResult {
        let session = SyncSession(mapper: mapper, entity: entity, parent: nil, options: options)
        let place = session.bookmarkPlace(of: source)
        return try await recorded(into: entity, from: source.name) { recorder in
            while true {
                let kept = try await store.read { try await place.read($0) }
                let run: any RemoteRun
                switch try await source.begin(after: usesBookmark ? kept : nil, keyPath: options.keyPath) {
                case .unchanged(let bookmark):
                    try await keep(bookmark, at: place, insteadOf: kept, recorder)
                    return RemoteSyncResult()
                case .changed(let begun): run = begun
                }
                let result = try await change { transaction -> RemoteSyncResult? in
                    // Another sync of the same source may have been ahead in the queue: what this run begins after is old then.
                    guard try await place.read(transaction) == kept else { return nil }
                    let (result, bookmark) = try await session.run(run, in: transaction, progress: progress)
                    // What was withheld must be looked at again, and only a run over everything does.
                    let isSettled = result.result.countsByEntity.values.allSatisfy { $0.withheld == 0 }
                    try await place.write(isSettled ? bookmark : nil, transaction)
                    let transfer = RunRecorder.Transfer(pageCount: result.pageCount, byteCount: result.byteCount)
                    try await recorder?.succeed(result.result, transfer: transfer, in: transaction)
                    return result
                }
                if let result { return result }
            }
        }
    }

    /// Ends a run in which nothing had changed: writes what there is to write, if anything.
    private func keep(
        _ bookmark: SyncBookmark, at place: BookmarkPlace, insteadOf kept: SyncBookmark?, _ recorder: RunRecorder?
    ) async throws {
        let isRecorded = recorder?.recordsUnchanged ?? false
        guard bookmark != kept || isRecorded else { return }
        try await change { transaction in
            if bookmark != kept { try await place.write(bookmark, transaction) }
            if isRecorded { try await recorder?.succeed(StoreSyncResult(), in: transaction) }
        }
    }

    /// Says what a sync from a source would do, by the same code; nothing is written, the bookmark included.
    ///
    /// - Returns: What would be done.
    /// - Throws: What ``sync(from:into:options:usesBookmark:progress:)`` would.
    public func plan(
        from source: some RemoteSource, into entity: String, options: StoreSyncOptions = StoreSyncOptions(),
        usesBookmark: Bool = true, progress: @escaping @Sendable (RemoteSyncProgress) -> Void = { _ in }
    ) async throws -> RemoteSyncResult {
        let session = SyncSession(mapper: mapper, entity: entity, parent: nil, options: options)
        let place = session.bookmarkPlace(of: source)
        let kept = usesBookmark ? try await store.read { try await place.read($0) } : nil
        guard case .changed(let run) = try await source.begin(after: kept, keyPath: options.keyPath) else {
            return RemoteSyncResult()
        }
        return try await planned { transaction in
            try await session.run(run, in: transaction, progress: progress).0
        }
    }
}

extension SyncSession {
    /// The place of a source's bookmark, with the fingerprint of all that the bookmark depends on.
    func bookmarkPlace(of source: some RemoteSource) -> BookmarkPlace {
        var fingerprint = Fingerprint()
        fingerprint.combine(source.fingerprint)
        fingerprint.combine(options.keyPath)
        fingerprint.combine(options.operations.rawValue)
        fingerprint.combine(options.scope)
        fingerprint.combine("\(mapper.dialect)")
        fingerprint.combine(mapper.model)
        return BookmarkPlace(name: "\(entity) from \(source.name)", fingerprint: fingerprint.text)
    }
}
