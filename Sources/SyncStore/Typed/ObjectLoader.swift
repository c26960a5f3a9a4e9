import SyncModel

/// Reads objects with their included related objects.
///
/// The number of statements depends on the included relationships: one for the objects, one for
/// each to-one relationship, and two for each to-many relationship.
struct ObjectLoader {
    let reader: any StoreReader
    /// Receives everything that is read; nil if nothing needs it.
    var log: ReadLog?
    /// Receives the objects that cannot be read; nil if they make the read fail.
    var skipped: UnreadableObjects?

    /// The number of rows that are read at a time.
    static let batchRowCount = 3000

    /// Reads all objects of a query.
    func all<Object>(_ query: ObjectQuery<Object>) async throws -> [Object] {
        let (plan, selection) = try prepare(query)
        guard plan.includes.children.isEmpty else {
            var batches: [RecordBatch] = []
            try await reader.select(selection, batchRowCount: Self.batchRowCount) { batch in
                log?.add(batch)
                batches.append(batch)
            }
            let content = ObjectContent(plan, related: try await related(plan, batches))
            return try await decode(batches, content, of: plan.layout).objects
        }
        let content = ObjectContent(plan, related: try await related(plan, []))
        var found = DecodedObjects<Object>()
        try await reader.select(selection, batchRowCount: Self.batchRowCount) { batch in
            log?.add(batch)
            try decode(batch, content, into: &found)
        }
        try await report(found, of: plan.layout)
        return found.objects
    }

    /// Reads the objects of a query in batches.
    func batches<Object>(
        of query: ObjectQuery<Object>, rowCount: Int, _ body: ([Object]) async throws -> Void
    ) async throws {
        let (plan, selection) = try prepare(query)
        try await reader.select(selection, batchRowCount: rowCount) { batch in
            let content = ObjectContent(plan, related: try await related(plan, [batch]))
            try await body(try await decode([batch], content, of: plan.layout).objects)
        }
    }

    func prepare<Object>(_ query: ObjectQuery<Object>) throws -> (ObjectPlan<Object>, StoreSelection) {
        var tree = IncludeTree()
        for path in query.includes { tree.insert(try path.components()) }
        let plan = try ObjectPlan<Object>(reader.model, including: tree)
        var selection = StoreSelection(try query.storeQuery(), columns: plan.columns)
        selection.after = query.after
        return (plan, selection)
    }

    // MARK: Related objects

    /// The related objects of all properties, for the given rows.
    func related(_ plan: ObjectPlan<some SyncObject>, _ batches: [RecordBatch]) async throws -> [RelatedPlaces?] {
        var related: [RelatedPlaces?] = []
        for property in plan.properties {
            do {
                related.append(try await places(property, plan, batches))
            } catch ObjectReadingError.notIncluded(_, let inner) {
                throw ObjectReadingError.notIncluded(type: plan.typeName, property: "\(property.name).\(inner)")
            }
        }
        return related
    }

    /// The related objects of a property; nil for one that has none.
    private func places<Object>(
        _ property: ObjectPlan<Object>.Property, _ plan: ObjectPlan<Object>, _ batches: [RecordBatch]
    ) async throws -> RelatedPlaces? {
        let includes = plan.includes[property.name] ?? IncludeTree()
        switch property.place.access {
        case .cell, .json, .missing: return nil
        case .notIncluded: return Self.notIncluded(try property.relatedType)
        case .toOne:
            let objects = Self.objects(in: property.place.column, of: batches)
            return try await toOne(try property.relatedType, objects, includes)
        case .toMany:
            guard let relationship = plan.layout.relationship(property.name) else {
                throw ObjectReadingError.unknownInclude(type: plan.layout.name, property: property.name)
            }
            let objects = Self.objects(in: 0, of: batches)
            return try await toMany(try property.relatedType, relationship, objects, includes)
        }
    }

    private static func notIncluded<Value: ObjectParts.RelatedValue>(_ type: Value.Type) -> RelatedPlaces {
        RelatedValues<Value>(empty: (type as? any OptionallyIncluded.Type)?.notIncludedValue as? Value)
    }

    private func toOne<Value: ObjectParts.RelatedValue>(
        _ type: Value.Type, _ objects: [ObjectID], _ includes: IncludeTree
    ) async throws -> RelatedPlaces {
        let found = try await load(Value.Object.self, objects, includes)
        return RelatedValues(found.compactMap { Value(related: [$0]) }, empty: Value(related: []))
    }

    private func toMany<Value: ObjectParts.RelatedValue>(
        _ type: Value.Type, _ relationship: EntityLayout.Relationship, _ sources: [ObjectID], _ includes: IncludeTree
    ) async throws -> RelatedPlaces {
        guard !sources.isEmpty else { return RelatedValues<Value>(empty: Value(related: [])) }
        let links = try await reader.links(relationship, of: sources)
        log?.add(links)
        let targets = try await load(Value.Object.self, ObjectSet(links.map(\.target)).objects, includes)
        var lists = ObjectValues<[Value.Object]>(minimumCapacity: sources.count)
        for link in links {
            guard let target = targets.index(of: link.target) else { continue }
            lists[lists.index(of: link.source, adding: [])].append(targets[target])
        }
        return RelatedValues(lists.compactMap { Value(related: $0) }, empty: Value(related: []))
    }

    /// Loads objects by number.
    private func load<Object: SyncObject>(
        _ type: Object.Type, _ objects: [ObjectID], _ includes: IncludeTree
    ) async throws -> ObjectValues<Object> {
        let plan = try ObjectPlan<Object>(reader.model, including: includes)
        guard !objects.isEmpty else { return ObjectValues() }
        let query = StoreQuery(plan.layout.name, objects: .only(objects))
        var batches: [RecordBatch] = []
        try await reader.select(
            StoreSelection(query, columns: plan.columns), batchRowCount: Self.batchRowCount
        ) { batch in
            log?.add(batch)
            batches.append(batch)
        }
        let content = ObjectContent(plan, related: try await related(plan, batches))
        let found: DecodedObjects<Object> = try await decode(batches, content, of: plan.layout)
        return ObjectValues(found.objects, of: found.numbers)
    }

    /// The distinct object numbers in a column.
    private static func objects(in column: Int, of batches: [RecordBatch]) -> [ObjectID] {
        var objects = ObjectSet()
        for batch in batches {
            batch.withReader { reader in
                for row in 0..<reader.count where reader.kind(row: row, column: column) == .int {
                    objects.insert(reader.int(row: row, column: column))
                }
            }
        }
        return objects.objects
    }

    // MARK: Decoding

    /// Decodes the objects of batches, and reports those that cannot be read.
    func decode<Object: SyncObject>(
        _ batches: [RecordBatch], _ content: ObjectContent, of layout: EntityLayout
    ) async throws -> DecodedObjects<Object> {
        var found = DecodedObjects<Object>()
        for batch in batches { try decode(batch, content, into: &found) }
        try await report(found, of: layout)
        return found
    }

    /// Decodes the objects of a batch.
    ///
    /// The first object that cannot be read ends the batch unless such objects are skipped.
    private func decode<Object: SyncObject>(
        _ batch: RecordBatch, _ content: ObjectContent, into found: inout DecodedObjects<Object>
    ) throws {
        guard skipped != nil || found.unreadable.isEmpty else { return }
        try batch.withReader { reader throws in
            let decoder = ObjectDecoder(reader, content)
            while let error = try decoder.appendObjects(to: &found.objects, numbers: &found.numbers) {
                guard error.concernsValue else { throw error }
                found.unreadable[reader.int(row: decoder.row, column: 0)] = error
                guard skipped != nil else { return }
                decoder.row += 1
            }
        }
    }

    /// Reports objects that cannot be read, with their keys.
    ///
    /// - Throws: ``ObjectReadingError/unreadable(_:)`` unless they are skipped.
    private func report<Object: SyncObject>(_ objects: DecodedObjects<Object>, of layout: EntityLayout) async throws {
        let unreadable = objects.unreadable
        guard !unreadable.isEmpty else { return }
        let shape = try ObjectShape<Object>.shared()
        var found: [ObjectReadingError.UnreadableObject] = []
        let query = StoreQuery(layout.name, objects: .only(unreadable.keys.sorted()))
        try await reader.fetch(query, batchRowCount: Self.batchRowCount) { records in
            for stored in records {
                guard let error = unreadable[stored.object] else { continue }
                var object = ObjectReadingError.UnreadableObject(key: stored.key, error: error)
                if case .wrongType(_, let property, _) = error {
                    object.value = stored.record[property]
                    object.allowedValues = shape.property(property)?.cases ?? []
                }
                found.append(object)
            }
        }
        if let skipped {
            skipped.found += found
        } else if let first = found.first {
            throw ObjectReadingError.unreadable(first)
        }
    }
}

/// Objects that were decoded from batches.
struct DecodedObjects<Object> {
    var objects: [Object] = []
    /// The numbers of the objects.
    var numbers: [ObjectID] = []
    /// Why the other objects of the batches cannot be read.
    var unreadable: [ObjectID: Record.CodingError] = [:]
}

extension Record.CodingError {
    /// Whether the value of one object is at fault, not the type.
    fileprivate var concernsValue: Bool {
        switch self {
        case .missingValue, .wrongType: true
        case .unknownProperty, .unsupportedShape: false
        }
    }
}
