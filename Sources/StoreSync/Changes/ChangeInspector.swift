import JSONMapper
import SyncModel
import SyncStore

/// Maps the objects of changes before they are applied, to know which identities they have.
struct ChangeInspector {
    /// An object of a change.
    struct Element {
        let bytes: [UInt8]
        /// The identity; nil for an element that has none, is rejected, or has to be mapped again.
        fileprivate(set) var key: Record.Key?
        /// The value of the version attribute; null if there is none.
        fileprivate(set) var version = AttributeValue.null
        /// Whether the object states no relationship.
        fileprivate(set) var isFlat = true
    }

    /// A change with its objects; nil objects for JSON that is not in memory, or is not valid.
    struct Inspected {
        let change: RemoteChange
        fileprivate(set) var elements: [Element]?
    }

    private let request: SyncRequest
    private let transaction: any StoreTransaction
    private let versionAttribute: String?
    /// Whether changes of different objects can be applied together. Absent relationships must not
    /// be cleared, and an identity must not depend on other objects.
    private let canJoin: Bool

    init(_ request: SyncRequest, _ transaction: any StoreTransaction, versionAttribute: String?) throws {
        self.request = request
        self.transaction = transaction
        self.versionAttribute = versionAttribute
        let mapping = try request.mapper.mapping(of: request.entity)
        let layouts = mapping.layout.family.map { request.mapper.model.layouts[$0] }
        canJoin =
            mapping.identifiesByKey && layouts.allSatisfy { $0.scopedIdentitySlots.isEmpty }
            && (!request.rules.clearsAbsent || layouts.allSatisfy { $0.relationships.isEmpty })
    }

    /// The changes as pages of a pass, without objects that are older than the stored ones.
    ///
    /// - Parameter stale: Removes older objects; nil to apply all.
    func pages(of changes: [RemoteChange], without stale: StaleChanges?) async throws -> [RemotePage] {
        if stale == nil, changes.count == 1 || !canJoin { return try changes.map { try $0.page() } }
        var pages: [RemotePage] = []
        var rest = changes[...]
        while !rest.isEmpty {
            let part = rest.prefix(transaction.batchRowCount)
            rest = rest.dropFirst(part.count)
            var inspected = try await inspect(part, stale)
            if let stale { inspected = try stale.removed(from: inspected) }
            pages += try joined(inspected)
        }
        return pages
    }

    // MARK: Joining

    /// Changes that follow each other are one page if each has one object, which states no
    /// relationship, and all are different objects. Applied together or one by one, they are the
    /// same, and together they need fewer calls of the store.
    private func joined(_ changes: [Inspected]) throws -> [RemotePage] {
        var pages: [RemotePage] = []
        var open: [(change: RemoteChange, bytes: [UInt8])] = []
        var keys: Set<Record.Key> = []
        func close() throws {
            defer { (open, keys) = ([], []) }
            guard let first = open.first else { return }
            guard open.count > 1 else { return pages.append(try first.change.page()) }
            var page = RemotePage(.bytes(Array("[".utf8) + open.map(\.bytes).joined(separator: ",".utf8) + "]".utf8))
            page.keyPath = ""
            page.areGone = first.change.areGone
            page.changeCount = open.count
            pages.append(page)
        }
        for inspected in changes {
            guard canJoin, !inspected.change.hasTombstones, let elements = inspected.elements, elements.count == 1,
                elements[0].isFlat, let key = elements[0].key
            else {
                try close()
                pages.append(try inspected.change.page())
                continue
            }
            let isNew = keys.insert(key).inserted
            if let first = open.first, first.change.areGone != inspected.change.areGone || !isNew {
                try close()
                keys = [key]
            }
            open.append((inspected.change, elements[0].bytes))
        }
        try close()
        return pages
    }

    // MARK: Inspecting

    private func inspect(_ changes: ArraySlice<RemoteChange>, _ stale: StaleChanges?) async throws -> [Inspected] {
        var inspected = changes.map { Inspected(change: $0, elements: Self.elements(of: $0)) }
        for areGone in [false, true] {
            var options = request.readerOptions(for: transaction)
            // An object that is gone may be named by its identifier only.
            if areGone { options.acceptsIdentifiers = true }
            var collector = try RecordCollector(request.mapper, entity: request.entity, options: options)
            // The places of the elements in the changes, by the index that the collector knows.
            var places: [(change: Int, element: Int)] = []
            for index in inspected.indices where inspected[index].change.areGone == areGone {
                guard let elements = inspected[index].elements else { continue }
                do {
                    for (element, found) in elements.enumerated() {
                        try collector.add(found.bytes, index: places.count)
                        places.append((index, element))
                    }
                } catch {
                    // The error is thrown when the change is applied.
                    inspected[index].elements = nil
                }
            }
            for group in try collector.takeBatch()?.groups ?? [] {
                try await stale?.noteStored(group.records, of: group.mapping.layout)
                note(group, at: places, in: &inspected)
            }
        }
        return inspected
    }

    /// The elements of a change; nil if its JSON is not in memory, or not as expected.
    private static func elements(of change: RemoteChange) -> [Element]? {
        if case .bytes(let bytes) = change.json, change.keyPath.isEmpty,
            bytes.first(where: { $0 > 0x20 }) == UInt8(ascii: "{")
        {
            return [Element(bytes: bytes)]
        }
        guard let elements = try? change.elements() else { return nil }
        let place = JSONKeyPath.list(at: change.keyPath)
        return try? elements.map { element in
            var writer = JSONWriter()
            try writer.value(element.value(at: place.object) ?? .null)
            return Element(bytes: writer.bytes)
        }
    }

    private func note(
        _ group: MappedBatch.Group, at places: [(change: Int, element: Int)], in inspected: inout [Inspected]
    ) {
        let layout = group.mapping.layout
        let versionSlot = versionAttribute.flatMap { layout.slot(of: $0) }
        let versionDefault = versionSlot.map { Record(of: layout)[slot: $0] } ?? .null
        var related = Set(group.undetermined.keys)
        for case let nested? in group.nested {
            related.formUnion(nested.sources.map(\.row))
            related.formUnion(nested.misfits.map(\.row))
        }
        group.records.withReader { reader in
            for (row, index) in group.elementIndices.enumerated() {
                guard places.indices.contains(index) else { continue }
                let place = places[index]
                inspected[place.change].elements?[place.element].key =
                    Record.Key(layout.identitySlots.map { reader.value(row: row, slot: $0) ?? .null })
                inspected[place.change].elements?[place.element].isFlat = !related.contains(row)
                guard let versionSlot else { continue }
                inspected[place.change].elements?[place.element].version =
                    reader.value(row: row, slot: versionSlot) ?? versionDefault
            }
        }
    }
}
