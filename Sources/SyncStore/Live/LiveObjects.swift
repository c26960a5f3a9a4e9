import SyncBase
public import SyncModel

/// The objects of a query, now and after each commit that changes them.
///
///     for try await users in store.values(
///         of: User.self, where: \.age > 30, including: \.company)
///     {
///         show(users)
///     }
///
/// The first element comes at once. Another one follows a commit only if the objects, their order
/// or their included objects differ. Each element is read from one snapshot. While the loop is
/// busy, commits are merged: the next element is the latest state, and nothing else waits. The
/// sequence sees commits of other processes and hosts as the store does; see
/// ``CommitSignals/Source``.
///
/// Each loop observes on its own. It ends when its task is cancelled.
public struct LiveObjects<Object: SyncObject>: AsyncSequence, Sendable {
    /// All objects of the query.
    public typealias Element = [Object]
    /// The errors of ``StoreReader/all(_:)``.
    public typealias Failure = any Error

    private let store: any Store
    private let query: ObjectQuery<Object>

    init(_ store: any Store, _ query: ObjectQuery<Object>) {
        self.store = store
        self.query = query
    }

    /// Creates an iterator, which observes the store from its first element on.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(store: store, query: query)
    }

    /// An iterator over the states of the query.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let store: any Store
        fileprivate let query: ObjectQuery<Object>
        private var signals: CommitSignals?
        private var roots: Set<Int> = []
        private var fingerprint: UInt64?

        fileprivate init(store: any Store, query: ObjectQuery<Object>) {
            self.store = store
            self.query = query
        }

        /// Waits for the next state; nil when the task is cancelled.
        ///
        /// - Throws: ``ObjectReadingError/notObservable`` for a store that does not report commits,
        ///   and the errors of ``StoreReader/all(_:)``.
        public mutating func next() async throws -> [Object]? {
            try await next(isolation: nil)
        }

        /// Waits for the next state; nil when the task is cancelled.
        ///
        /// - Throws: As ``next()``.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> [Object]? {
            do { return try await nextState(isolation: actor) } catch is CancellationError where Task.isCancelled {
                return nil
            }
        }

        private mutating func nextState(isolation actor: isolated (any Actor)?) async throws -> [Object]? {
            guard let signals else {
                guard let store = store as? any CommitSignals.Source else { throw ObjectReadingError.notObservable }
                let signals = try await store.commits()
                roots = try query.roots(in: store.model)
                let state = try await Self.read(query, from: store)
                // Set only now, so that the first state is read again after an error.
                self.signals = signals
                fingerprint = state.fingerprint
                return state.objects
            }
            while let signal = await signals.next() {
                guard signal.concerns(roots) else { continue }
                let state = try await Self.read(query, from: store)
                guard state.fingerprint != fingerprint else { continue }
                fingerprint = state.fingerprint
                return state.objects
            }
            return nil
        }

        private static func read(
            _ query: ObjectQuery<Object>, from store: any Store
        ) async throws -> (objects: [Object], fingerprint: UInt64) {
            try await store.readAtOnce { reader in
                let log = ReadLog()
                let objects = try await ObjectLoader(reader: reader, log: log).all(query)
                return (objects, log.value)
            }
        }
    }
}

extension ObjectQuery {
    /// The root entities whose objects or links the result depends on.
    func roots(in model: DataModel) throws -> Set<Int> {
        let query = try storeQuery()
        let layout = try model.layout(of: query.entity)
        var roots: Set<Int> = [layout.root]
        var paths = query.ordering.map(\.key.components)
        for path in includes { paths.append(try path.components()) }
        for path in paths { roots.formUnion(path.roots(from: layout, in: model)) }
        query.predicate.addRoots(from: layout, in: model, to: &roots)
        return roots
    }
}

extension [String] {
    /// The root entities that a path leads to.
    fileprivate func roots(from layout: EntityLayout, in model: DataModel) -> Set<Int> {
        var layout = layout
        var roots: Set<Int> = []
        for name in self {
            guard let relationship = layout.relationship(name) else { break }
            layout = model.layouts[relationship.destination]
            roots.insert(layout.root)
        }
        return roots
    }
}

extension RecordPredicate {
    fileprivate func addRoots(from layout: EntityLayout, in model: DataModel, to roots: inout Set<Int>) {
        switch self {
        case .constant: break
        case .comparison(let path, _, _), .isIn(let path, _), .isNull(let path), .text(let path, _, _):
            roots.formUnion(path.components.roots(from: layout, in: model))
        case .related(let path, _, let predicate):
            roots.formUnion(path.components.roots(from: layout, in: model))
            var destination = layout
            for name in path.components {
                guard let relationship = destination.relationship(name) else { return }
                destination = model.layouts[relationship.destination]
            }
            predicate.addRoots(from: destination, in: model, to: &roots)
        case .and(let parts), .or(let parts):
            for part in parts { part.addRoots(from: layout, in: model, to: &roots) }
        case .not(let part): part.addRoots(from: layout, in: model, to: &roots)
        }
    }
}

/// The fingerprint of everything that a read returned. Used only by the task that reads.
final class ReadLog {
    private var fingerprint = Fingerprint()

    var value: UInt64 { fingerprint.value }

    func add(_ batch: RecordBatch) {
        batch.combineContent(into: &fingerprint)
    }

    func add(_ links: [LinkBatch.Link]) {
        fingerprint.combine(links.count)
        for link in links {
            fingerprint.combine(link.source)
            fingerprint.combine(link.target)
        }
    }
}

extension Store {
    /// Returns the objects of a type that satisfy a condition, now and after each commit that
    /// changes them; see ``LiveObjects``.
    ///
    /// - Parameters:
    ///   - type: The type of the objects.
    ///   - predicate: The condition for each object; nil, the default, for none.
    ///   - ordering: The order, such as `\.name` or `\.age.descending`.
    ///   - limit: The maximum number of objects; nil, the default, for all.
    ///   - includes: The relationships whose objects are loaded with the result.
    public func values<Object: SyncObject, each Order: ObjectParts.Criterion, each Included: ObjectParts.IncludedValue>(
        of type: Object.Type, where predicate: ObjectPredicate<Object>? = nil,
        orderedBy ordering: repeat KeyPath<ObjectParts.Fields<Object>, each Order>, limit: Int? = nil,
        including includes: repeat ObjectParts.Path<Object, each Included>
    ) -> LiveObjects<Object> {
        values(
            of: ObjectQuery(
                type, where: predicate, orderedBy: repeat each ordering, limit: limit, including: repeat each includes))
    }

    /// Returns the objects of a query, now and after each commit that changes them.
    public func values<Object>(of query: ObjectQuery<Object>) -> LiveObjects<Object> {
        LiveObjects(self, query)
    }
}
