import SyncModel

extension MemoryState {
    /// The objects with the identities of a batch's rows.
    func find(_ records: RecordBatch) throws -> [ObjectID?] {
        let layout = try model.layout(of: records)
        return records.withReader { reader in
            (0..<reader.count).map { row in
                let identity = MemoryIdentity(layout.identityColumns) { reader.value(row: row, column: $0) }
                return identity.flatMap { object(with: $0, in: layout) }
            }
        }
    }

    mutating func merge(_ request: MergeRequest, _ links: [MergeRequest.InitialLinks]) throws -> MergeRequest.Result {
        let layout = try model.layout(of: request)
        var result = MergeRequest.Result()
        result.rows.reserveCapacity(request.records.count)
        try request.records.withReader { reader in
            let known = (0..<reader.count).map { row in
                self.known(reader, at: row, request.matches?[row] ?? .identity, layout)
            }
            var objects = ObjectSet()
            guard !request.policy.writes || known.allSatisfy({ $0.map { objects.insert($0) } ?? true }) else {
                throw StoreError.repeatedObject(entity: layout.name)
            }
            for row in 0..<reader.count {
                let match = request.matches?[row] ?? .identity
                let merged = try merge(reader, at: row, known[row], match, request.policy, layout)
                if let merged, merged.change == .inserted {
                    for links in links {
                        if let target = links.targets[row] {
                            relate(merged.object, to: target, by: links.relationship)
                        }
                    }
                }
                result.rows.append(merged)
            }
        }
        for links in links { self.links[place(of: links.relationship).links].settle() }
        result.noteLinked(links.count)
        let waiting = Set(uniqueIndexes[layout.root].flatMap(\.conflicts).map(\.object))
        if !waiting.isEmpty {
            result.waitingRows = result.rows.indices.filter { row in
                result.rows[row].map { waiting.contains($0.object) } ?? false
            }
        }
        return result
    }

    /// The stored object of a row.
    private func known(
        _ reader: RecordBatch.Reader, at row: Int, _ match: MergeRequest.Match, _ layout: EntityLayout
    ) -> ObjectID? {
        switch match {
        case .skipped: return nil
        case .object(let object): return self.object(object, of: layout) == nil ? nil : object
        case .identity:
            let identity = MemoryIdentity(layout.identityColumns) { reader.value(row: row, column: $0) }
            return identity.flatMap { object(with: $0, in: layout) }
        }
    }

    private mutating func merge(
        _ reader: RecordBatch.Reader, at row: Int, _ known: ObjectID?, _ match: MergeRequest.Match,
        _ policy: MergeRequest.Policy, _ layout: EntityLayout
    ) throws -> MergeRequest.Result.Row? {
        if let known, let object = object(known, of: layout) {
            let isUpdated = policy.updates ? try update(known, object, from: reader, at: row) : false
            return MergeRequest.Result.Row(known, isUpdated ? .updated : .unchanged)
        }
        guard policy.inserts, match == .identity else { return nil }
        return MergeRequest.Result.Row(try insert(reader, at: row, layout), .inserted)
    }

    private mutating func insert(
        _ reader: RecordBatch.Reader, at row: Int, _ layout: EntityLayout
    ) throws -> ObjectID {
        guard !layout.isAbstract else { throw StoreError.abstractEntity(entity: layout.name) }
        let identity = MemoryIdentity(layout.identityColumns) { reader.value(row: row, column: $0) }
        // Only an earlier row of the request can have given an object this identity.
        if let identity, object(with: identity, in: layout) != nil {
            throw StoreError.repeatedObject(entity: layout.name)
        }
        let values = layout.attributes.indices.map { column in
            reader.value(row: row, column: column)
                ?? (layout.identityColumns.contains(column) ? .null : layout.attributes[column].defaultValue)
        }
        let object = MemoryObject(entity: layout.index, values: values)
        let new = tables[layout.root].append(object)
        reindex(new, root: layout.root, from: nil, to: object)
        if let identity { identities[layout.index][identity] = new }
        return new
    }

    private mutating func relate(_ id: ObjectID, to target: ObjectID, by relationship: EntityLayout.Relationship) {
        let place = place(of: relationship)
        links[place.links].set([target], of: id, side: place.side)
    }

    private mutating func update(
        _ id: ObjectID, _ object: MemoryObject, from reader: RecordBatch.Reader, at row: Int
    ) throws -> Bool {
        let layout = model.layouts[object.entity]
        var values: [(column: Int, value: AttributeValue)] = []
        for column in 0..<reader.columnCount {
            guard let value = reader.value(row: row, column: column), value != object.values[column] else { continue }
            values.append((column, value))
        }
        guard !values.isEmpty else { return false }
        if values.contains(where: { layout.identityColumns.contains($0.column) }) {
            var changed = object.values
            for (column, value) in values { changed[column] = value }
            let former = MemoryIdentity(layout.identityColumns) { object.values[$0] }
            let identity = MemoryIdentity(layout.identityColumns) { changed[$0] }
            if let identity, let holder = identities[layout.index][identity], holder != id {
                throw StoreError.identityTaken(entity: layout.name)
            }
            if let former { identities[layout.index][former] = nil }
            if let identity { identities[layout.index][identity] = id }
        }
        if !uniqueIndexes[layout.root].isEmpty {
            var changed = object
            for (column, value) in values { changed.values[column] = value }
            reindex(id, root: layout.root, from: object, to: changed)
        }
        for (column, value) in values { tables[layout.root].setValue(value, at: column, of: id) }
        return true
    }

    /// Updates the unique indexes for a changed object.
    private mutating func reindex(
        _ id: ObjectID, root: Int, from former: MemoryObject?, to next: MemoryObject?
    ) {
        for place in uniqueIndexes[root].indices {
            uniqueIndexes[root][place].change(id, from: former, to: next)
        }
    }

    /// Clears the values that objects still wait for, and reports these objects.
    mutating func settleValues() -> [StoreError.Refusal] {
        var refused: [StoreError.Refusal] = []
        for root in uniqueIndexes.indices {
            for place in uniqueIndexes[root].indices {
                for (id, holder) in uniqueIndexes[root][place].conflicts {
                    guard let object = tables[root][id], let other = tables[root][holder] else { continue }
                    let index = uniqueIndexes[root][place]
                    refused.append(
                        StoreError.Refusal(
                            entity: model.layouts[object.entity].name, key: key(of: id, object),
                            attributes: index.attributes, reason: .taken(by: key(of: holder, other)), object: id))
                    var cleared = object
                    let identity = model.layouts[object.entity].identityColumns
                    for column in index.columns where !identity.contains(column) { cleared.values[column] = .null }
                    reindex(id, root: root, from: object, to: cleared)
                    for column in index.columns { tables[root].setValue(cleared.values[column], at: column, of: id) }
                }
            }
        }
        return refused
    }

    private func key(of id: ObjectID, _ object: MemoryObject) -> Record.Key {
        Record.Key(model.layouts[object.entity].identityColumns.map { object.values[$0] }) ?? .object(id)
    }

    mutating func link(_ batch: LinkBatch) throws -> LinkBatch.Result {
        let relationship = batch.relationship
        try model.check(relationship)
        let place = place(of: relationship)
        let source = model.layouts[relationship.source]
        let destination = model.layouts[relationship.destination]
        let former = Dictionary(
            batch.sources.map { ($0, links[place.links].targets(of: $0, side: place.side)) }
        ) { first, _ in first }
        for (index, id) in batch.sources.enumerated() where object(id, of: source) != nil {
            let targets = batch.mode.targets(
                stated: batch.targets(at: index).filter { object($0, of: destination) != nil },
                after: links[place.links].targets(of: id, side: place.side), by: relationship)
            links[place.links].set(targets, of: id, side: place.side)
        }
        links[place.links].settle()
        return batch.result(from: former) { links[place.links].targets(of: $0, side: place.side) }
    }

    mutating func remove(_ objects: [ObjectID], of layout: EntityLayout, reportsKeys: Bool) throws -> RemovalResult {
        var waiting = objects.map { ObjectReference($0, of: layout) }
        var doomed = Set(waiting)
        var next = 0
        while next < waiting.count {
            let reference = waiting[next]
            next += 1
            for relationship in relationships(of: reference) where relationship.deleteRule == .cascade {
                let destination = model.layouts[relationship.destination]
                for target in targets(of: reference.object, by: relationship) {
                    if relationship.sharesTargets, let inverse = model.inverse(of: relationship) {
                        let owners = targets(of: target, by: inverse)
                        let source = model.layouts[relationship.source]
                        guard owners.allSatisfy({ doomed.contains(ObjectReference($0, of: source)) }) else { continue }
                    }
                    let target = ObjectReference(target, of: destination)
                    if doomed.insert(target).inserted { waiting.append(target) }
                }
            }
        }
        for reference in waiting {
            for relationship in relationships(of: reference) where relationship.deleteRule == .deny {
                let destination = model.layouts[relationship.destination]
                let targets = targets(of: reference.object, by: relationship)
                guard targets.allSatisfy({ doomed.contains(ObjectReference($0, of: destination)) }) else {
                    let entity = object(reference).map { model.layouts[$0.entity].name } ?? layout.name
                    throw StoreError.deletionDenied(entity: entity, relationship: relationship.name)
                }
            }
        }
        var result = RemovalResult()
        // Keys are reported in the order of object numbers.
        if reportsKeys { waiting.sort { $0.object < $1.object } }
        for reference in waiting {
            guard let object = object(reference) else { continue }
            let (root, id) = (reference.root, reference.object)
            detach(id, object, keeping: nil)
            let layout = model.layouts[object.entity]
            if let identity = MemoryIdentity(layout.identityColumns, { object.values[$0] }) {
                identities[object.entity][identity] = nil
            }
            reindex(id, root: root, from: object, to: nil)
            tables[root].remove(id)
            result.counts[layout.name, default: 0] += 1
            if reportsKeys {
                result.keys[layout.name, default: []].append(StoredRecord.Key(object: id, key: key(of: id, object)))
            }
        }
        for index in links.indices { links[index].settle() }
        return result
    }

    mutating func changeEntity(
        of objects: [ObjectID], from former: EntityLayout, to layout: EntityLayout
    ) throws {
        let commonCount = model.commonAncestor(of: former, layout).attributes.count
        for id in objects {
            guard let object = tables[former.root][id], object.entity == former.index else { continue }
            let gained = layout.attributes.indices.dropFirst(commonCount).map { column in
                layout.identityColumns.contains(column) ? .null : layout.attributes[column].defaultValue
            }
            let changed = MemoryObject(entity: layout.index, values: object.values.prefix(commonCount) + gained)
            let identity = MemoryIdentity(layout.identityColumns) { changed.values[$0] }
            if let identity, let holder = identities[layout.index][identity], holder != id {
                throw StoreError.identityTaken(entity: layout.name)
            }
            if let identity = MemoryIdentity(former.identityColumns, { object.values[$0] }) {
                identities[former.index][identity] = nil
            }
            if let identity { identities[layout.index][identity] = id }
            detach(id, object, keeping: layout)
            reindex(id, root: former.root, from: object, to: changed)
            tables[former.root].replace(changed, id)
        }
        for index in links.indices { links[index].settle() }
    }

    private func object(_ reference: ObjectReference) -> MemoryObject? {
        tables[reference.root][reference.object]
    }

    private func relationships(of reference: ObjectReference) -> [EntityLayout.Relationship] {
        object(reference).map { model.layouts[$0.entity].relationships } ?? []
    }

    /// Removes the links of an object, including links to it that have no inverse.
    ///
    /// - Parameter next: The entity that the object gets, whose links stay; nil for a deleted
    ///   object.
    private mutating func detach(_ id: ObjectID, _ object: MemoryObject, keeping next: EntityLayout?) {
        let former = model.layouts[object.entity]
        let lineage = Set(
            model.layouts.indices.filter { index in
                let layout = model.layouts[index]
                return former.isKind(of: layout) && next?.isKind(of: layout) != true
            })
        for layout in model.layouts {
            for relationship in layout.relationships where relationship.source == layout.index {
                let place = place(of: relationship)
                if lineage.contains(relationship.source) {
                    links[place.links].set([], of: id, side: place.side)
                }
                if lineage.contains(relationship.destination), relationship.inverse == nil {
                    links[place.links].set([], of: id, side: 1)
                }
            }
        }
    }
}
