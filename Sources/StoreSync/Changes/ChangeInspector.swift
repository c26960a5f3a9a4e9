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
        /// What the object contains; nil if its effect on other objects is not known.
        fileprivate(set) var contained: ContainedObjects? = ContainedObjects()
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
    private let containment: ContainmentReader
    private let canHaveChildren: Bool

    init(_ request: SyncRequest, _ transaction: any StoreTransaction, versionAttribute: String?) throws {
        self.request = request
        self.transaction = transaction
        self.versionAttribute = versionAttribute
        let mapping = try request.mapper.mapping(of: request.entity)
        let layouts = mapping.layout.family.map { request.mapper.model.layouts[$0] }
        let containment = ContainmentReader(request, transaction, listRoot: mapping.layout.root)
        self.containment = containment
        canHaveChildren = layouts.contains { containment.canHaveChildren($0) }
        canJoin =
            mapping.identifiesByKey && layouts.allSatisfy { $0.scopedIdentityColumns.isEmpty }
            && (!request.rules.clearsAbsent || layouts.allSatisfy { $0.relationships.isEmpty })
    }

    /// The changes as pages of a pass, without objects that are older than the stored ones.
    ///
    /// - Parameter stale: Removes older objects; nil to apply all.
    func pages(of changes: [RemoteChange], without stale: StaleChanges?) async throws -> [RemotePage] {
        if stale == nil, changes.count == 1 || !canJoin { return try changes.map { try $0.page() } }
        var pages: [RemotePage] = []
        var known = KnownObjects(isNeeded: canHaveChildren)
        var rest = changes[...]
        while !rest.isEmpty {
            let part = rest.prefix(transaction.batchRowCount)
            rest = rest.dropFirst(part.count)
            var inspected = try await inspect(part, stale)
            if let stale { inspected = try stale.removed(from: inspected) }
            pages += try joined(inspected, after: &known)
        }
        return pages
    }

    // MARK: Joining

    /// Joins changes that follow each other into pages, which need fewer calls of the store.
    ///
    /// - Parameter known: The objects of earlier changes; receives those of the changes.
    private func joined(_ changes: [Inspected], after known: inout KnownObjects) throws -> [RemotePage] {
        var pages: [RemotePage] = []
        var open = JoinableChanges()
        func close() throws {
            if let page = try open.page() { pages.append(page) }
            open = JoinableChanges()
        }
        for inspected in changes {
            defer { known.note(inspected) }
            guard canJoin, !inspected.change.hasTombstones, let elements = inspected.elements, elements.count == 1,
                let key = elements[0].key, let contained = elements[0].contained, !contained.losesChildren,
                // What the object has now may be another than what was stored before.
                !contained.statesChildren || !known.mayContain(key)
            else {
                try close()
                pages.append(try inspected.change.page())
                continue
            }
            if open.add(inspected.change, of: key, json: elements[0].bytes, containing: contained) { continue }
            try close()
            _ = open.add(inspected.change, of: key, json: elements[0].bytes, containing: contained)
        }
        try close()
        return pages
    }

    /// The objects of earlier changes of a call.
    private struct KnownObjects {
        private var keys: Set<Record.Key> = []
        /// Whether a change may have changed any object.
        private var mayBeAny = false
        /// Whether the objects matter.
        private let isNeeded: Bool

        init(isNeeded: Bool) {
            self.isNeeded = isNeeded
        }

        func mayContain(_ key: Record.Key) -> Bool {
            mayBeAny || keys.contains(key)
        }

        mutating func note(_ inspected: Inspected) {
            guard isNeeded, !mayBeAny else { return }
            let elements = inspected.change.hasTombstones ? nil : inspected.elements
            mayBeAny = elements?.allSatisfy { $0.key != nil && $0.contained != nil } != true
            if !mayBeAny { keys.formUnion(elements?.compactMap(\.key) ?? []) }
        }
    }

    // MARK: Inspecting

    private func inspect(_ changes: ArraySlice<RemoteChange>, _ stale: StaleChanges?) async throws -> [Inspected] {
        var inspected = changes.map { Inspected(change: $0, elements: Self.elements(of: $0)) }
        for areGone in [false, true] {
            var options = request.readerOptions(for: transaction)
            // An object that is gone may be named by its identifier only.
            if areGone { options.acceptsIdentifiers = true }
            options.keepsJSON = true
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
                let contained = try await containment.rows(of: group)
                note(group, contained, at: places, in: &inspected)
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
        _ group: MappedBatch.Group, _ contained: ContainmentReader.Rows, at places: [(change: Int, element: Int)],
        in inspected: inout [Inspected]
    ) {
        let layout = group.mapping.layout
        let versionColumn = versionAttribute.flatMap { layout.column(of: $0) }
        let versionDefault = versionColumn.map { Record(of: layout)[column: $0] } ?? .null
        group.records.withReader { reader in
            for (row, index) in group.elementIndices.enumerated() {
                guard places.indices.contains(index) else { continue }
                let place = places[index]
                inspected[place.change].elements?[place.element].key =
                    Record.Key(layout.identityColumns.map { reader.value(row: row, column: $0) ?? .null })
                inspected[place.change].elements?[place.element].contained = contained[row]
                guard let versionColumn else { continue }
                inspected[place.change].elements?[place.element].version =
                    reader.value(row: row, column: versionColumn) ?? versionDefault
            }
        }
    }
}
