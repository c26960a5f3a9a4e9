import SyncBase

/// The least that a pass has to do, by hand: the key sets compared with `Set` operations, and the
/// processor's calls made by a bare pool of workers. Nothing is ordered, counted, reported, retried
/// or cancelled.
enum Floor {
    static func run(_ processor: InstantProcessor, width: Int) async throws -> Int {
        let items = processor.items
        let local = processor.localKeys
        let source = Set(items.lazy.map(\.owsPrimaryKey))
        let absent = local.subtracting(source)
        let stored = source.intersection(local)
        var downloads = items
        if !stored.isEmpty {
            // One at a time, as a pass asks: a pool of one worker is a loop.
            downloads.removeAll(keepingCapacity: true)
            for item in items where try await processor.owsShouldUpdateItem(forKey: item.owsPrimaryKey, with: item) {
                downloads.append(item)
            }
        }
        let chosen = downloads
        try await pool(chosen.count, width: width) { index in
            try await processor.owsDownloadItem(for: chosen[index])
        }
        return chosen.count + absent.count
    }

    /// The calls alone, where they are all that takes time.
    static func run(_ processor: SlowProcessor, width: Int) async throws -> Int {
        let items = processor.items
        try await pool(items.count, width: width) { try await processor.owsDownloadItem(for: items[$0]) }
        return items.count
    }

    /// `width` workers of one task group over a shared position.
    private static func pool(
        _ count: Int, width: Int, _ call: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        let position = Position()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<width {
                group.addTask {
                    while let index = position.take(below: count) { try await call(index) }
                }
            }
            try await group.waitForAll()
        }
    }

    private final class Position: Sendable {
        private let next = Locked(0)

        func take(below count: Int) -> Int? {
            next.withLock { next in
                guard next < count else { return nil }
                defer { next += 1 }
                return next
            }
        }
    }
}
