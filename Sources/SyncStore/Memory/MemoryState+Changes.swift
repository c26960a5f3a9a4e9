import SyncModel

extension MemoryState {
    mutating func merge(
        _ batch: RecordBatch, handles: [Int64]?, links: InitialLinks?, policy: MergePolicy
    ) throws -> MergeResult {
        let layout = try model.layout(of: batch, handles: handles)
        var result = MergeResult(capacity: batch.count)
        try batch.withReader { reader in
            for row in 0..<reader.count {
                let handle = handles?[row] ?? 0
                let identity = MemoryIdentity(layout.identitySlots) { reader.value(row: row, slot: $0) }
                let known = handle != 0 ? handle : identity.flatMap { self.row(of: $0, in: layout) }
                if let known, let object = object(known, of: layout) {
                    let isUpdated = policy.updates ? try update(known, object, from: reader, at: row) : false
                    result.append(known, isUpdated ? .updated : .unchanged)
                } else if policy.inserts, handle == 0 {
                    let new = try insert(reader, at: row, identity, layout)
                    if let links, links.targets[row] != 0 {
                        relate(new, to: links.targets[row], by: links.relationship)
                    }
                    result.append(new, .inserted)
                } else {
                    result.append(0, .none)
                }
            }
        }
        return result
    }

    private mutating func insert(
        _ reader: RecordBatch.Reader, at row: Int, _ identity: MemoryIdentity?, _ layout: EntityLayout
    ) throws -> Int64 {
        guard !layout.isAbstract else { throw StoreError.abstractEntity(entity: layout.name) }
        let values = layout.attributes.indices.map { slot in
            reader.value(row: row, slot: slot)
                ?? (layout.identitySlots.contains(slot) ? .null : layout.attributes[slot].defaultValue)
        }
        let new = tables[layout.root].append(MemoryObject(entity: layout.index, values: values))
        if let identity { identities[layout.index][identity] = new }
        return new
    }

    private mutating func relate(_ row: Int64, to target: Int64, by relationship: RelationshipLayout) {
        let place = place(of: relationship)
        links[place.links].set([target], of: row, side: place.side)
    }

    private mutating func update(
        _ row: Int64, _ object: MemoryObject, from reader: RecordBatch.Reader, at batchRow: Int
    ) throws -> Bool {
        let layout = model.layouts[object.entity]
        var values: [(slot: Int, value: AttributeValue)] = []
        for slot in 0..<reader.columnCount {
            guard let value = reader.value(row: batchRow, slot: slot), value != object.values[slot] else { continue }
            values.append((slot, value))
        }
        guard !values.isEmpty else { return false }
        if values.contains(where: { layout.identitySlots.contains($0.slot) }) {
            var changed = object.values
            for (slot, value) in values { changed[slot] = value }
            let former = MemoryIdentity(layout.identitySlots) { object.values[$0] }
            let identity = MemoryIdentity(layout.identitySlots) { changed[$0] }
            if let identity, let holder = identities[layout.index][identity], holder != row {
                throw StoreError.identityTaken(entity: layout.name)
            }
            if let former { identities[layout.index][former] = nil }
            if let identity { identities[layout.index][identity] = row }
        }
        for (slot, value) in values { tables[layout.root].setValue(value, at: slot, of: row) }
        return true
    }

    mutating func link(_ batch: LinkBatch) throws -> LinkResult {
        let relationship = batch.relationship
        try model.check(relationship)
        let place = place(of: relationship)
        let source = model.layouts[relationship.source]
        let destination = model.layouts[relationship.destination]
        let former = batch.sources.map { source in
            links[place.links].targets(of: source, side: place.side).filter { !batch.newTargets.contains($0) }
        }
        for (index, row) in batch.sources.enumerated() where object(row, of: source) != nil {
            var seen: Set<Int64> = []
            var wanted = batch.targets(at: index).filter {
                object($0, of: destination) != nil && seen.insert($0).inserted
            }
            if !relationship.isToMany { wanted = Array(wanted.suffix(1)) }
            let current = links[place.links].targets(of: row, side: place.side)
            let targets: [Int64] =
                switch batch.mode {
                case .replace: wanted
                case .add where !relationship.isToMany: wanted.isEmpty ? current : wanted
                case .add: current + wanted.filter { !current.contains($0) }
                case .retain: current.filter { seen.contains($0) }
                }
            links[place.links].set(targets, of: row, side: place.side)
        }
        var result = LinkResult()
        var detached: Set<Int64> = []
        for (row, former) in zip(batch.sources, former) {
            let targets = links[place.links].targets(of: row, side: place.side)
            guard targets != former else { continue }
            result.changed.append(row)
            for target in former where !targets.contains(target) && detached.insert(target).inserted {
                result.detached.append(target)
            }
        }
        return result
    }

    mutating func remove(_ rows: [Int64], of layout: EntityLayout, reportsKeys: Bool) throws -> RemovalResult {
        var doomed: [Int: Set<Int64>] = [layout.root: Set(rows)]
        var waiting = rows.map { (root: layout.root, row: $0) }
        var next = 0
        while next < waiting.count {
            let (root, row) = waiting[next]
            next += 1
            for relationship in relationships(of: row, root: root) where relationship.declaration.deleteRule == .cascade
            {
                let targetRoot = model.layouts[relationship.destination].root
                for target in targets(of: row, by: relationship)
                where doomed[targetRoot, default: []].insert(target).inserted {
                    waiting.append((targetRoot, target))
                }
            }
        }
        for (root, row) in waiting {
            for relationship in relationships(of: row, root: root) where relationship.declaration.deleteRule == .deny {
                let going = doomed[model.layouts[relationship.destination].root] ?? []
                guard targets(of: row, by: relationship).allSatisfy(going.contains) else {
                    let entity = tables[root][row].map { model.layouts[$0.entity].name } ?? layout.name
                    throw StoreError.deletionDenied(entity: entity, relationship: relationship.name)
                }
            }
        }
        var result = RemovalResult()
        // Keys are told in the order of rows.
        if reportsKeys { waiting.sort { $0.row < $1.row } }
        for (root, row) in waiting {
            guard let object = tables[root][row] else { continue }
            detach(row, object)
            let layout = model.layouts[object.entity]
            if let identity = MemoryIdentity(layout.identitySlots, { object.values[$0] }) {
                identities[object.entity][identity] = nil
            }
            tables[root].remove(row)
            result.counts[layout.name, default: 0] += 1
            if reportsKeys {
                let key = RecordKey(layout.identitySlots.map { object.values[$0] }) ?? .row(row)
                result.keys[layout.name, default: []].append(StoredKey(row: row, key: key))
            }
        }
        return result
    }

    private func relationships(of row: Int64, root: Int) -> [RelationshipLayout] {
        tables[root][row].map { model.layouts[$0.entity].relationships } ?? []
    }

    /// Takes an object off all links, also off those that lead to it and have no inverse.
    private mutating func detach(_ row: Int64, _ object: MemoryObject) {
        let lineage = Set(model.layouts.indices.filter { model.layouts[$0].family.contains(object.entity) })
        for layout in model.layouts {
            for relationship in layout.relationships where relationship.source == layout.index {
                let place = place(of: relationship)
                if lineage.contains(relationship.source) {
                    links[place.links].set([], of: row, side: place.side)
                }
                if lineage.contains(relationship.destination), relationship.inverse == nil {
                    links[place.links].set([], of: row, side: 1)
                }
            }
        }
    }
}
