public import Foundation
public import SyncModel
public import SyncStore

/// Has a `JSONStore` keep a record of its last syncs in the store itself, where any SQL tool can read it.
///
///     let mapper = try RecordMapper(model.adding([SyncHistory.entity]))
///     let store = try JSONStore(MemoryStore(mapper.model), mapper: mapper, history: SyncHistory())
///     try await store.sync(.file("users.json"), into: "User")
///     try await SyncHistory.runs(in: store.store).first?.outcome  // .succeeded
///
/// The record of a sync that succeeded is committed with what it did; that of one that failed or was cancelled in a transaction of its own, after
/// nothing remained of the sync. Plans are not recorded, nor is what is done to single objects.
public struct SyncHistory: Sendable {
    /// How many runs of each name are kept, the latest; at least 1.
    public var limit: Int
    /// Whether syncs are recorded that had nothing to write. Without that, such a sync leaves the store untouched to the last byte.
    public var recordsUnchanged: Bool

    /// Makes a history.
    ///
    /// - Parameters:
    ///   - limit: How many runs of each name are kept; 100 where it is not said.
    ///   - recordsUnchanged: Whether syncs are recorded that had nothing to write; true where it is not said.
    public init(limit: Int = 100, recordsUnchanged: Bool = true) {
        self.limit = max(limit, 1)
        self.recordsUnchanged = recordsUnchanged
    }

    /// The entity that runs are objects of, for the model of the store.
    public static let entity = SyncEntity("SyncRun", identity: "name", "number") {
        SyncAttribute("name", .string, optional: false)
        SyncAttribute("number", .int64, optional: false)
        SyncAttribute("entity", .string)
        SyncAttribute("started", .date)
        SyncAttribute("finished", .date)
        SyncAttribute("seconds", .double)
        SyncAttribute("outcome", .string)
        SyncAttribute("inserted", .int64)
        SyncAttribute("updated", .int64)
        SyncAttribute("unchanged", .int64)
        SyncAttribute("deleted", .int64)
        SyncAttribute("withheld", .int64)
        SyncAttribute("rejected", .int64)
        SyncAttribute("pages", .int64)
        SyncAttribute("bytes", .int64)
        SyncAttribute("error", .string)
    }

    /// How a run ended.
    public enum Outcome: String, Hashable, Sendable {
        /// It wrote something.
        case succeeded
        /// It succeeded, and there was nothing to write.
        case unchanged
        /// It failed, and nothing was written.
        case failed
        /// It was cancelled, and nothing was written.
        case cancelled
    }

    /// A sync, as it is recorded.
    public struct Run: Hashable, Sendable {
        /// What was synced: the entity, and where its objects came from if that has a name.
        public var name: String
        /// Counts the runs of a name, from 1.
        public var number: Int
        /// The entity that was synced.
        public var entity: String
        /// When it began.
        public var started: Date
        /// When it was over: before the commit, for one that succeeded.
        public var finished: Date
        /// How long it took, however the clock was set meanwhile.
        public var duration: Duration
        /// How it ended.
        public var outcome: Outcome
        /// What became of the entity's objects; of a run that did not succeed, nothing.
        public var counts = StoreSyncResult.Counts()
        /// How many objects were left out.
        public var rejectedCount = 0
        /// How many pages were read; nil where it is not known.
        public var pageCount: Int?
        /// How many bytes were read, decompressed; nil where it is not known.
        public var byteCount: Int?
        /// What went wrong, in at most 1,000 characters; nil if nothing did.
        public var error: String?
    }

    /// The runs that a store remembers, the latest first.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - entity: The entity that was synced; nil, the default, for all.
    ///   - limit: How many runs at most; nil, the default, for all.
    /// - Throws: `ModelError.unknownEntity` where the store's model lacks ``entity``; what the store throws.
    public static func runs(
        in store: any Store, into entity: String? = nil, limit: Int? = nil
    ) async throws -> [Run] {
        _ = try store.model.layout(of: Self.entity.name)
        let query = StoreQuery(
            Self.entity.name, where: entity.map { PropertyPath("entity") == $0 } ?? .constant(true),
            orderedBy: [Ordering("started", ascending: false), Ordering("number", ascending: false)], limit: limit)
        return try await store.records(query).compactMap { Run($0.record) }
    }
}

extension SyncHistory.Run {
    /// Reads a run; nil for an object that is none, which only others make.
    fileprivate init?(_ record: Record) {
        func text(_ attribute: String) -> String? {
            if case .string(let text) = record[attribute] { text } else { nil }
        }
        func number(_ attribute: String) -> Int? {
            if case .int(let number) = record[attribute] { Int(number) } else { nil }
        }
        func date(_ attribute: String) -> Date? {
            if case .date(let moment) = record[attribute] { moment.date } else { nil }
        }
        guard let name = text("name"), let entity = text("entity"), let started = date("started"),
            let finished = date("finished"), case .double(let seconds) = record["seconds"],
            let outcome = text("outcome").flatMap(SyncHistory.Outcome.init)
        else { return nil }
        self.init(
            name: name, number: number("number") ?? 0, entity: entity, started: started, finished: finished,
            duration: .seconds(seconds), outcome: outcome, rejectedCount: number("rejected") ?? 0,
            pageCount: number("pages"), byteCount: number("bytes"), error: text("error"))
        counts.inserted = number("inserted") ?? 0
        counts.updated = number("updated") ?? 0
        counts.unchanged = number("unchanged") ?? 0
        counts.deleted = number("deleted") ?? 0
        counts.withheld = number("withheld") ?? 0
    }

    /// Writes the run into a record.
    func write(to record: inout Record) {
        record["name"] = .string(name)
        record["number"] = .int(Int64(number))
        record["entity"] = .string(entity)
        record["started"] = .date(Timestamp(started))
        record["finished"] = .date(Timestamp(finished))
        record["seconds"] = .double(duration / .seconds(1))
        record["outcome"] = .string(outcome.rawValue)
        record["inserted"] = .int(Int64(counts.inserted))
        record["updated"] = .int(Int64(counts.updated))
        record["unchanged"] = .int(Int64(counts.unchanged))
        record["deleted"] = .int(Int64(counts.deleted))
        record["withheld"] = .int(Int64(counts.withheld))
        record["rejected"] = .int(Int64(rejectedCount))
        record["pages"] = pageCount.map { .int(Int64($0)) } ?? .null
        record["bytes"] = byteCount.map { .int(Int64($0)) } ?? .null
        record["error"] = error.map { .string($0) } ?? .null
    }
}
