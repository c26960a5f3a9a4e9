import Synchronization

/// The least that a pass has to do, by hand: the key sets compared with `Set` operations, and the processor's calls made
/// by a bare pool of workers. Nothing is ordered, counted, reported, retried or cancelled.
enum Floor {
    static func run(_ processor: InstantProcessor, width: Int) async throws -> Int {
        let items = processor.items
        let local = processor.localKeys
        let source = Set(items.lazy.map(\.owsPrimaryKey))
        let absent = local.subtracting(source)
        let stored = source.intersection(local)
        var downloads = items
        if !stored.isEmpty {
            let wanted = Mutex<[Int]>([])
            try await pool(items.count, width: 1) { index in
                let item = items[index]
                if try await processor.owsShouldUpdateItem(forKey: item.owsPrimaryKey, with: item) {
                    wanted.withLock { $0.append(index) }
                }
            }
            downloads = wanted.withLock { $0.map { items[$0] } }
        }
        let chosen = downloads
        try await pool(chosen.count, width: width) { index in
            try await processor.owsDownloadItem(for: chosen[index])
        }
        return chosen.count + absent.count
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
        private let next = Mutex(0)

        func take(below count: Int) -> Int? {
            next.withLock { next in
                guard next < count else { return nil }
                defer { next += 1 }
                return next
            }
        }
    }
}
