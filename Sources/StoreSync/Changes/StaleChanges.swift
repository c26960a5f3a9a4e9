import JSONMapper
import SyncModel
import SyncStore

/// Removes changes that are older than the stored objects.
final class StaleChanges {
    private let attribute: String
    private let request: SyncRequest
    private let transaction: any StoreTransaction
    /// The latest version of each object met so far, stored or in a change, by the object's
    /// identity.
    private var latest: [Record.Key: AttributeValue] = [:]
    /// The number of older objects that were removed.
    private(set) var count = 0
    /// The number of changes that were not compared, because they are not in memory.
    private(set) var uncomparedCount = 0

    /// Creates a filter for one `apply` call.
    ///
    /// - Throws: ``StoreSyncError/unknownVersion(entity:attribute:)``.
    init(_ attribute: String, _ request: SyncRequest, _ transaction: any StoreTransaction) throws {
        self.attribute = attribute
        self.request = request
        self.transaction = transaction
        guard try transaction.model.layout(of: request.entity).slot(of: attribute) != nil else {
            throw StoreSyncError.unknownVersion(entity: request.entity, attribute: attribute)
        }
    }

    /// Returns the changes without older objects. Other parts of a change, such as its tombstones,
    /// stay.
    func removed(from changes: [RemoteChange]) async throws -> [RemoteChange] {
        var kept: [RemoteChange] = []
        for change in changes {
            guard let document = try change.document() else {
                uncomparedCount += 1
                kept.append(change)
                continue
            }
            let place = JSONKeyPath.list(at: change.keyPath)
            guard let value = document.value(at: place.list) else {
                kept.append(change)
                continue
            }
            var elements = [value]
            if case .array(let list) = value { elements = list }
            let objects = elements.map { $0.value(at: place.object) }
            let stale = try await staleIndices(of: objects, areGone: change.areGone)
            guard !stale.isEmpty else {
                kept.append(change)
                continue
            }
            count += stale.count
            let rest = elements.indices.filter { !stale.contains($0) }.map { elements[$0] }
            if !rest.isEmpty || change.hasListBeside { kept.append(change.listing(rest, in: document)) }
        }
        return kept
    }

    /// - Parameter elements: The objects of the elements; nil for an element without one.
    private func staleIndices(of elements: [JSONValue?], areGone: Bool) async throws -> Set<Int> {
        var options = request.readerOptions(for: transaction)
        // An object that is gone may be named by its identifier only.
        if areGone { options.acceptsIdentifiers = true }
        var collector = try RecordCollector(request.mapper, entity: request.entity, options: options)
        for (index, element) in elements.enumerated() {
            guard let element else { continue }
            var writer = JSONWriter()
            try writer.value(element)
            try collector.add(writer.bytes, index: index)
        }
        var stale: Set<Int> = []
        for group in try collector.takeBatch()?.groups ?? [] {
            try await noteStored(group.records, of: group.mapping.layout)
            for (index, record) in zip(group.elementIndices, group.makeRecords()) {
                guard let key = record.key, areGone || !record[attribute].isNull else { continue }
                if let known = latest[key], record[attribute].precedes(known) {
                    stale.insert(index)
                } else {
                    // A later change of an object that is gone inserts it, whatever its version.
                    latest[key] = areGone ? .null : record[attribute]
                }
            }
        }
        return stale
    }

    /// Notes the versions of stored objects that were not met before.
    private func noteStored(_ records: RecordBatch, of layout: EntityLayout) async throws {
        let objects = try await transaction.find(records).compactMap { $0 }
        let stored = try await transaction.records(
            StoreQuery(layout.name, objects: .only(Array(Set(objects)).sorted())))
        for object in stored where !object.record[attribute].isNull && latest[object.key] == nil {
            latest[object.key] = object.record[attribute]
        }
    }
}
