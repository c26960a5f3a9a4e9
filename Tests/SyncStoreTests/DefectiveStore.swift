import SyncBase
import SyncModel
import SyncStore

/// What a store does wrong.
enum Defect: Sendable {
    /// New objects are reported as updated ones.
    case insertionsAreUpdates
    /// New objects are reported as updated ones if others are known already.
    case insertionsAmongKnownObjectsAreUpdates
    /// The objects of a merge are reported in the order of their numbers.
    case objectsAreSorted
    /// Objects without an identity that are merged together are reported as one.
    case namelessObjectsAreOne
    /// A row that may not be written is reported as an update.
    case forbiddenWritesAreUpdates
    /// After a link, the answers of counts are in another order.
    case countsAfterLinksAreReversed
    /// A change of entity does nothing.
    case entitiesStay
    /// An object that gets its own entity is deleted.
    case sameEntityDeletes
    /// The links of ordered relationships have the order of the numbers.
    case listsAreSorted
    /// The links of a relationship are not read a second time.
    case linksAreReadOnce
    /// All links are said to begin at the first source.
    case linksHaveOneSource
    /// A badge without an owner has one.
    case badgesAreOwned
    /// Sources that are said to be new are not reported.
    case newSourcesAreNotReported
    /// A removal does not count what is deleted by a cascade.
    case cascadesAreNotCounted
    /// A removal that deletes the last album counts no photos.
    case lastPhotosAreNotCounted
    /// Events are not deleted.
    case eventsStay
    /// A denied deletion is no error.
    case denialsAreIgnored
    /// Conditions do not apply.
    case predicatesAreIgnored
    /// Objects are found although a query excepts them.
    case exceptionsAreIgnored
    /// A batch has one object.
    case batchesAreSmall
    /// Limits and offsets do not apply to counts.
    case countsHaveNoLimit
    /// An offset that overflows together with a limit counts as 0, except for the greatest offset.
    case offsetsOverflow
    /// Links are made even if the transaction fails.
    case failuresLeaveLinks
    /// What a cancelled transaction has merged is merged with the next one.
    case cancellationsLeaveMerges
}

/// A store that passes its calls on to another one, with a defect.
struct DefectiveStore: Store {
    private let base: any Store
    private let defect: Defect
    /// The merges that the last cancelled transaction has left.
    private let left = Locked<[MergeRequest]>([])

    var model: DataModel { base.model }

    init(_ base: any Store, _ defect: Defect) {
        self.base = base
        self.defect = defect
    }

    @discardableResult
    func transaction<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        let log = Locked(DefectiveTransaction.Log())
        do {
            return try await base.transaction { transaction in
                for request in left.withLock({ $0 }) { _ = try await transaction.merge(request) }
                return try await body(DefectiveTransaction(base: transaction, defect: defect, log: log))
            }
        } catch {
            let made = log.withLock { $0 }
            switch defect {
            case .failuresLeaveLinks:
                try await base.transaction { transaction in
                    for batch in made.links { _ = try await transaction.link(batch) }
                }
            case .cancellationsLeaveMerges: left.withLock { $0 = made.merges }
            default: break
            }
            throw error
        }
    }

    func read<Result: Sendable>(
        _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result {
        try await base.read { reader in
            try await body(DefectiveReader(base: reader, defect: defect))
        }
    }
}

/// A reader with a defect.
private struct DefectiveReader: StoreReader {
    let base: any StoreReader
    let defect: Defect

    var model: DataModel { base.model }

    /// The query that the store behind gets.
    private func passed(_ query: StoreQuery) -> StoreQuery {
        var passed = query
        switch defect {
        case .offsetsOverflow:
            guard let limit = query.limit, limit < 10, query.offset < Int.max else { break }
            if query.offset > Int.max - max(limit, 0) { passed.offset = 0 }
        case .predicatesAreIgnored: passed.predicate = .constant(true)
        case .exceptionsAreIgnored: if case .except = query.objects { passed.objects = .all }
        default: break
        }
        return passed
    }

    func fetch(
        _ query: StoreQuery, batchRowCount: Int, _ body: ([StoredRecord]) async throws -> Void
    ) async throws {
        let rowCount = defect == .batchesAreSmall ? 1 : batchRowCount
        try await base.fetch(passed(query), batchRowCount: rowCount, body)
    }

    func count(_ query: StoreQuery) async throws -> Int {
        var counted = passed(query)
        if defect == .countsHaveNoLimit {
            counted.limit = nil
            counted.offset = 0
        }
        return try await base.count(counted)
    }

    func links(_ relationship: EntityLayout.Relationship, of sources: [ObjectID]) async throws -> [LinkBatch.Link] {
        let links = try await base.links(relationship, of: sources)
        switch defect {
        case .listsAreSorted where relationship.isOrdered:
            return links.sorted { ($0.source, $0.target) < ($1.source, $1.target) }
        case .linksHaveOneSource:
            return links.map { LinkBatch.Link(source: sources[0], target: $0.target) }
        case .badgesAreOwned where links.isEmpty && relationship.name == "owner":
            return sources.map { LinkBatch.Link(source: $0, target: $0) }
        default: return links
        }
    }
}

/// A transaction with a defect.
private struct DefectiveTransaction: StoreTransaction {
    /// What was done in a transaction.
    struct Log: Sendable {
        var merges: [MergeRequest] = []
        var links: [LinkBatch] = []
        /// Whether something was linked after the last merge.
        var isLinkedLast = false
        /// The links by what was asked for.
        var known: [String: [LinkBatch.Link]] = [:]
    }

    let base: any StoreTransaction
    let defect: Defect
    let log: Locked<Log>

    var model: DataModel { base.model }
    private var reader: DefectiveReader { DefectiveReader(base: base, defect: defect) }

    func fetch(
        _ query: StoreQuery, batchRowCount: Int, _ body: ([StoredRecord]) async throws -> Void
    ) async throws {
        try await reader.fetch(query, batchRowCount: batchRowCount, body)
    }

    func count(_ query: StoreQuery) async throws -> Int {
        try await reader.count(query)
    }

    func counts(of queries: [StoreQuery]) async throws -> [Int] {
        var counts: [Int] = []
        for query in queries { counts.append(try await count(query)) }
        let isReversed = defect == .countsAfterLinksAreReversed && log.withLock { $0.isLinkedLast }
        return isReversed ? counts.reversed() : counts
    }

    func links(_ relationship: EntityLayout.Relationship, of sources: [ObjectID]) async throws -> [LinkBatch.Link] {
        let name = "\(relationship.name) of \(sources)"
        if defect == .linksAreReadOnce, let known = log.withLock({ $0.known[name] }) { return known }
        let links = try await reader.links(relationship, of: sources)
        log.withLock { $0.known[name] = links }
        return links
    }

    func find(_ records: RecordBatch) async throws -> [ObjectID?] {
        try await base.find(records)
    }

    func merge(_ request: MergeRequest) async throws -> MergeRequest.Result {
        var result = try await base.merge(request)
        log.withLock { log in
            log.merges.append(request)
            log.isLinkedLast = false
        }
        switch defect {
        case .insertionsAreUpdates: result.report(.inserted, as: .updated)
        case .insertionsAmongKnownObjectsAreUpdates:
            if result.rows.contains(where: { $0?.change == .unchanged }) { result.report(.inserted, as: .updated) }
        case .objectsAreSorted:
            let objects = result.objects.compactMap { $0 }.sorted()
            for (index, object) in zip(result.rows.indices, objects) { result.rows[index]?.object = object }
        case .namelessObjectsAreOne where request.records.layout?.identityColumns.isEmpty == true:
            for index in result.rows.indices.dropFirst() { result.rows[index]?.change = .unchanged }
        case .forbiddenWritesAreUpdates where !request.policy.writes: result.report(.unchanged, as: .updated)
        default: break
        }
        return result
    }

    func changeEntity(of objects: [ObjectID], from former: String, to entity: String) async throws {
        switch defect {
        case .entitiesStay: break
        case .sameEntityDeletes where former == entity:
            _ = try await base.remove(StoreQuery(former, objects: .only(objects)), reportsKeys: false)
        default: try await base.changeEntity(of: objects, from: former, to: entity)
        }
    }

    func link(_ batch: LinkBatch) async throws -> LinkBatch.Result {
        var result = try await base.link(batch)
        log.withLock { log in
            log.links.append(batch)
            log.isLinkedLast = true
        }
        if defect == .newSourcesAreNotReported, batch.hasNewSources { result.changed = [] }
        return result
    }

    func remove(_ query: StoreQuery, reportsKeys: Bool) async throws -> RemovalResult {
        if defect == .eventsStay, query.entity == "Event" { return RemovalResult() }
        var result = RemovalResult()
        do {
            result = try await base.remove(query, reportsKeys: reportsKeys)
        } catch {
            guard case StoreError.deletionDenied = error, defect == .denialsAreIgnored else { throw error }
        }
        switch defect {
        case .cascadesAreNotCounted: result.counts = result.counts.filter { $0.key == query.entity }
        case .lastPhotosAreNotCounted:
            if try await base.count(StoreQuery("Album")) == 0 { result.counts["Photo"] = nil }
        default: break
        }
        return result
    }
}

extension MergeRequest.Result {
    /// Reports a change of objects as another one.
    fileprivate mutating func report(_ change: Change, as other: Change) {
        for index in rows.indices where rows[index]?.change == change { rows[index]?.change = other }
    }
}
