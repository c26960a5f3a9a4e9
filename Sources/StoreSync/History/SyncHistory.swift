public import Foundation
public import SyncModel
public import SyncStore

/// A record of the last syncs of a `JSONStore`, kept in the store itself.
///
/// The record is a table that any SQL tool can read.
///
///     let mapper = try RecordMapper(model.adding([SyncHistory.entity]))
///     let store = try JSONStore(MemoryStore(mapper.model), mapper: mapper, history: SyncHistory())
///     try await store.sync(.file("users.json"), into: "User")
///     try await SyncHistory.passes(in: store.store).first?.status  // .succeeded
///
/// The record of a successful sync is committed with its changes. The record of a failed or
/// cancelled sync is written in a transaction of its own, after the sync was rolled back. Plans and
/// changes of single objects are not recorded.
public struct SyncHistory: Sendable {
    /// How many passes of each name are kept, at least 1; 100 by default.
    public var limit: Int
    /// Whether syncs without changes are recorded; true by default.
    ///
    /// If not, such a sync leaves the store's files unchanged to the last byte.
    public var recordsUnchanged: Bool

    /// Creates a history.
    ///
    /// - Parameters:
    ///   - limit: How many passes of each name are kept, at least 1.
    ///   - recordsUnchanged: Whether syncs without changes are recorded.
    public init(limit: Int = 100, recordsUnchanged: Bool = true) {
        self.limit = max(limit, 1)
        self.recordsUnchanged = recordsUnchanged
    }

    /// The entity that passes are objects of, for the model of the store.
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

    /// How a pass ended.
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
        /// The entity that was synced, with the source's name if it has one.
        public var name: String
        /// The number of the pass among those of its name, from 1.
        public var number: Int
        /// The entity that was synced.
        public var entity: String
        /// When the pass began.
        public var started: Date
        /// When the pass ended; for a success, just before the commit.
        public var finished: Date
        /// How long the pass took, by a clock that is never set.
        public var duration: Duration
        /// How the pass ended.
        public var status: Status
        /// The counts of the entity's objects; zero unless the pass succeeded.
        public var counts = StoreSyncResult.Counts()
        /// The number of objects that were left out.
        public var rejectedCount = 0
        /// The number of pages that were read; nil if unknown.
        public var pageCount: Int?
        /// The number of bytes that were read, decompressed; nil if unknown.
        public var byteCount: Int?
        /// The error in at most 1,000 characters; nil if there was none.
        public var error: String?
    }

    /// Reads the recorded passes of a store, latest first.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - entity: The entity that was synced; nil, the default, for all.
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
    /// Creates a pass from a record; nil if others wrote something else into the table.
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
