package import SyncBase
package import SyncModel

extension CommitSignals {
    /// A notice that transactions were committed.
    public struct Signal: Hashable, Sendable {
        /// The indices of the root entities whose objects or links may have changed; nil if any may
        /// have.
        public private(set) var roots: Set<Int>?

        /// Creates a notice.
        public init(roots: Set<Int>?) {
            self.roots = roots
        }

        /// Whether objects of any of the root entities may have changed.
        func concerns(_ others: Set<Int>) -> Bool {
            roots.map { !$0.isDisjoint(with: others) } ?? true
        }

        fileprivate mutating func add(_ next: CommitSignals.Signal) {
            guard let known = roots, let more = next.roots else {
                roots = nil
                return
            }
            roots = known.union(more)
        }
    }
}

extension CommitSignals {
    /// A store that reports every commit that may have changed it, including commits of other
    /// programs.
    ///
    /// Live queries need it; see ``Store/values(of:where:orderedBy:limit:including:)``.
    public protocol Source: Store {
        /// Begins to observe commits.
        ///
        /// - Returns: The notices of all commits from now on. Waiting notices are merged into one.
        /// - Throws: The store's own errors if commits of other programs cannot be observed.
        func commits() async throws -> CommitSignals
    }
}

/// The notices of commits for one observer. At most one notice waits.
public struct CommitSignals: Sendable {
    private let subscription: Subscription<CommitSignals.Signal>

    package init(_ broadcaster: Broadcaster<CommitSignals.Signal>) {
        subscription = broadcaster.subscribe(capacity: 1)
    }

    /// Waits for the next notice; nil when the task is cancelled or the store is deallocated.
    public func next() async -> CommitSignals.Signal? {
        await subscription.next()
    }
}

extension Broadcaster<CommitSignals.Signal> {
    /// Creates a broadcaster that merges all waiting notices.
    package static func ofCommits() -> Broadcaster {
        Broadcaster { queue, capacity in
            while queue.count > capacity, let next = queue.popLast(), var last = queue.popLast() {
                last.add(next)
                queue.append(last)
            }
            return []
        }
    }
}

/// The root entities whose objects or links a transaction has changed.
package struct ChangedRoots: Sendable {
    /// The indices of the entities.
    package private(set) var roots: Set<Int> = []

    package init() {}

    package mutating func add(
        _ result: MergeRequest.Result, _ layout: EntityLayout?, linking links: [MergeRequest.InitialLinks],
        in model: DataModel
    ) {
        guard let layout, result.rows.contains(where: { $0.map { $0.change != .unchanged } ?? false }) else { return }
        roots.insert(layout.root)
        for links in links { roots.insert(model.layouts[links.relationship.destination].root) }
    }

    package mutating func add(
        _ result: LinkBatch.Result, _ relationship: EntityLayout.Relationship, in model: DataModel
    ) {
        guard !result.changed.isEmpty || !result.detached.isEmpty else { return }
        roots.insert(model.layouts[relationship.source].root)
        roots.insert(model.layouts[relationship.destination].root)
    }

    /// Adds a change of the entity of objects, which lose links.
    package mutating func add(_ former: EntityLayout, becoming layout: EntityLayout, in model: DataModel) {
        roots.insert(former.root)
        let lost = model.relationships(of: former, lostBy: layout)
        for relationship in lost.own { roots.insert(model.layouts[relationship.destination].root) }
        for relationship in lost.leading { roots.insert(model.layouts[relationship.source].root) }
    }

    package mutating func add(_ result: RemovalResult, in model: DataModel) {
        for (entity, count) in result.counts where count > 0 {
            if let layout = model[entity] { roots.insert(layout.root) }
        }
    }
}
