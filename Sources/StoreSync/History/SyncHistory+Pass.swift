public import Foundation
public import SyncModel
public import SyncStore

extension SyncHistory {
    /// A recorded pass.
    public struct Pass: Hashable, Sendable, Codable {
        /// The name of the synced entity, followed by the name of the source if it has one.
        public var name: String
        /// The number of the pass in the store, from 1; a pass that was recorded later has a higher
        /// one.
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
}

extension Store {
    /// Returns the recorded syncs of a type's objects, the latest first.
    ///
    /// - Parameters:
    ///   - type: The type of the synced objects.
    ///   - limit: The maximum number of passes; nil, the default, for all.
    /// - Throws: `ModelError.unknownEntity` if the store was opened without a history; errors of
    ///   the store.
    public func passes(of type: (some SyncObject).Type, limit: Int? = nil) async throws -> [SyncHistory.Pass] {
        try await passes(of: type.entityName, limit: limit)
    }

    /// Returns the recorded syncs of an entity, or of all entities, the latest first.
    ///
    /// - Parameters:
    ///   - entity: The synced entity; nil, the default, for all entities.
    ///   - limit: The maximum number of passes; nil, the default, for all.
    /// - Throws: As the typed call.
    public func passes(of entity: String? = nil, limit: Int? = nil) async throws -> [SyncHistory.Pass] {
        let history = try model.layout(of: SyncEntity.pass.name)
        let query = StoreQuery(
            history.name, where: entity.map { PropertyPath("entity") == $0 } ?? .constant(true),
            orderedBy: [Ordering("number", ascending: false)], limit: limit)
        return try await records(query).compactMap { SyncHistory.Pass($0.record) }
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
            // A `Duration` holds neither larger numbers nor NaN.
            seconds.magnitude < 1e18, let status = text("status").flatMap(SyncHistory.Status.init)
        else { return nil }
        self.init(
            name: name, number: number("number") ?? 0, entity: entity, started: started, finished: finished,
            duration: .seconds(seconds), status: status, rejectedCount: number("rejected") ?? 0,
            pageCount: number("pages"), byteCount: number("bytes"), error: text("error"))
        counts.inserted = number("inserted") ?? 0
        counts.updated = number("updated") ?? 0
        counts.unchanged = number("unchanged") ?? 0
        counts.deleted = number("deleted") ?? 0
        counts.kept = number("kept") ?? 0
    }

    /// Writes the pass into a record, apart from its number.
    func write(to record: inout Record) {
        record["name"] = .string(name)
        record["entity"] = .string(entity)
        record["started"] = .date(Timestamp(started))
        record["finished"] = .date(Timestamp(finished))
        record["seconds"] = .double(duration / .seconds(1))
        record["status"] = .string(status.rawValue)
        record["inserted"] = .int(Int64(counts.inserted))
        record["updated"] = .int(Int64(counts.updated))
        record["unchanged"] = .int(Int64(counts.unchanged))
        record["deleted"] = .int(Int64(counts.deleted))
        record["kept"] = .int(Int64(counts.kept))
        record["rejected"] = .int(Int64(rejectedCount))
        record["pages"] = pageCount.map { .int(Int64($0)) } ?? .null
        record["bytes"] = byteCount.map { .int(Int64($0)) } ?? .null
        record["error"] = error.map { .string($0) } ?? .null
    }
}
