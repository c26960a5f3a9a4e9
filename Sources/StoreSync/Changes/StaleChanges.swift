import SyncModel
import SyncStore

/// Removes changes that are older than the stored objects.
final class StaleChanges {
    private let attribute: String
    private let transaction: any StoreTransaction
    /// The latest version of each object met so far, stored or in a change, by the object's
    /// identity.
    private var latest: [Record.Key: AttributeValue] = [:]
    /// The number of older objects that were removed.
    private(set) var count = 0
    /// The number of changes that were not compared, because they are not in memory.
    private(set) var uncomparedCount = 0

    /// Creates a filter for the changes of one entity in a call.
    ///
    /// - Parameter changeCount: The number of changes.
    /// - Throws: ``StoreSyncError/unknownVersion(entity:attribute:)``.
    init(_ attribute: String, _ changeCount: Int, _ request: SyncRequest, _ transaction: any StoreTransaction) throws {
        self.attribute = attribute
        self.transaction = transaction
        guard try transaction.model.layout(of: request.entity).column(of: attribute) != nil else {
            throw StoreSyncError.unknownVersion(entity: request.entity, attribute: attribute)
        }
        latest.reserveCapacity(changeCount)
    }

    /// Returns the changes without older objects. Other parts of a change, such as its tombstones,
    /// stay.
    func removed(from changes: [ChangeInspector.Inspected]) throws -> [ChangeInspector.Inspected] {
        var kept: [ChangeInspector.Inspected] = []
        for inspected in changes {
            let change = inspected.change
            if !change.isInMemory { uncomparedCount += 1 }
            let elements = inspected.elements ?? []
            let stale = elements.indices.filter { isStale(elements[$0], isGone: change.areGone) }
            guard !stale.isEmpty else {
                kept.append(inspected)
                continue
            }
            count += stale.count
            guard stale.count < elements.count || change.hasListBeside else { continue }
            let staleElements = Set(stale)
            kept.append(ChangeInspector.Inspected(change: try change.keeping { !staleElements.contains($0) }))
        }
        return kept
    }

    private func isStale(_ element: ChangeInspector.Element, isGone: Bool) -> Bool {
        guard let key = element.key, isGone || !element.version.isNull else { return false }
        // A later change of an object that is gone inserts it, whatever its version.
        let known = latest.updateValue(isGone ? .null : element.version, forKey: key)
        guard let known, element.version.precedes(known) else { return false }
        latest[key] = known
        return true
    }

    /// Notes the versions of stored objects that were not met before.
    func noteStored(_ records: RecordBatch, of layout: EntityLayout) async throws {
        let objects = Set(try await transaction.find(records).compactMap { $0 })
        guard !objects.isEmpty else { return }
        let stored = try await transaction.records(StoreQuery(layout.name, objects: .only(objects.sorted())))
        for object in stored where !object.record[attribute].isNull && latest[object.key] == nil {
            latest[object.key] = object.record[attribute]
        }
    }
}
