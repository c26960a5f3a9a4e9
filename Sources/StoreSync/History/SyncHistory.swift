public import Foundation
public import SyncModel
public import SyncStore

/// A history of the latest syncs of a `JSONStore`, kept in the store itself.
///
/// The history is a table that any SQL tool can read.
///
///     let mapper = try RecordMapper(model.adding([SyncHistory.entity]))
///     let store = try JSONStore(MemoryStore(mapper.model), mapper: mapper, history: SyncHistory())
///     try await store.sync(.file("users.json"), into: "User")
///     try await SyncHistory.passes(in: store.store).first?.status  // .succeeded
///
/// The record of a successful sync is committed with its changes. The record of a failed or
/// cancelled sync is written in a separate transaction after the rollback. Plans and changes of
/// single objects are not recorded.
public struct SyncHistory: Sendable {
    /// The number of passes kept for each name, at least 1; 100 by default.
    public var limit: Int
    /// Whether syncs without changes are recorded; true by default.
    ///
    /// If false, a sync without changes leaves the store's files unchanged to the last byte.
    public var recordsUnchanged: Bool

    /// Creates a history.
    ///
    /// - Parameters:
    ///   - limit: The number of passes kept for each name, at least 1.
    ///   - recordsUnchanged: Whether syncs without changes are recorded.
    public init(limit: Int = 100, recordsUnchanged: Bool = true) {
        self.limit = max(limit, 1)
        self.recordsUnchanged = recordsUnchanged
    }

    /// The entity of recorded passes, to be added to the store's model.
    public static let entity = SyncEntity(
        "SyncPass", identity: "name", "number", userInfo: [SyncEntity.bookkeepingAnnotation: "true"]
    ) {
        SyncAttribute("name", .string, optional: false)
        SyncAttribute("number", .int64, optional: false)
        SyncAttribute("entity", .string)
        SyncAttribute("started", .date)
        SyncAttribute("finished", .date)
        SyncAttribute("seconds", .double)
        SyncAttribute("status", .string)
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

    /// The outcome of a pass.
    public enum Status: String, Hashable, Sendable, Codable {
        /// It wrote changes.
        case succeeded
        /// It succeeded without changes.
        case unchanged
        /// It failed, and nothing was written.
        case failed
        /// It was cancelled, and nothing was written.
        case cancelled
    }

    /// A recorded pass.
    public struct Pass: Hashable, Sendable, Codable {
        /// The name of the synced entity, followed by the name of the source if it has one.
        public var name: String
        /// The number of the pass among the passes of its name, from 1.
        public var number: Int
        /// The entity that was synced.
        public var entity: String
        /// When the pass began.
        public var started: Date
        /// When the pass ended; for a success, shortly before the commit.
        public var finished: Date
        /// The duration of the pass, measured by a monotonic clock.
        public var duration: Duration
        /// The outcome of the pass.
        public var status: Status
        /// The counts of the entity's objects; zero unless the pass succeeded.
        public var counts = StoreSyncResult.Counts()
        /// The number of rejected objects.
        public var rejectedCount = 0
        /// The number of pages that were read; nil if unknown.
        public var pageCount: Int?
        /// The number of bytes that were read, decompressed; nil if unknown.
        public var byteCount: Int?
        /// The error, cut to 1,000 characters; nil if there was none.
        public var error: String?
    }

    /// Reads the recorded passes of a store, the latest first.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - entity: The synced entity; nil, the default, for all entities.
    ///   - limit: The maximum number of passes; nil, the default, for all.
    /// - Throws: `ModelError.unknownEntity` if the store's model lacks ``entity``; errors of the
    ///   store.
    public static func passes(
        in store: any Store, into entity: String? = nil, limit: Int? = nil
    ) async throws -> [Pass] {
        _ = try store.model.layout(of: Self.entity.name)
        let query = StoreQuery(
            Self.entity.name, where: entity.map { PropertyPath("entity") == $0 } ?? .constant(true),
            orderedBy: [Ordering("started", ascending: false), Ordering("number", ascending: false)], limit: limit)
        return try await store.records(query).compactMap { Pass($0.record) }
    }
}

extension SyncHistory.Pass {
    /// Creates a pass from a record; nil if another tool changed the table.
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
            let status = text("status").flatMap(SyncHistory.Status.init)
        else { return nil }
        self.init(
            name: name, number: number("number") ?? 0, entity: entity, started: started, finished: finished,
            duration: .seconds(seconds), status: status, rejectedCount: number("rejected") ?? 0,
            pageCount: number("pages"), byteCount: number("bytes"), error: text("error"))
        counts.inserted = number("inserted") ?? 0
        counts.updated = number("updated") ?? 0
        counts.unchanged = number("unchanged") ?? 0
        counts.deleted = number("deleted") ?? 0
        counts.withheld = number("withheld") ?? 0
    }

    /// Writes the pass into a record.
    func write(to record: inout Record) {
        record["name"] = .string(name)
        record["number"] = .int(Int64(number))
        record["entity"] = .string(entity)
        record["started"] = .date(Timestamp(started))
        record["finished"] = .date(Timestamp(finished))
        record["seconds"] = .double(duration / .seconds(1))
        record["status"] = .string(status.rawValue)
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
