import SyncModel
import SyncStore

/// What a payload has stated so far of the objects that it may state more than once.
///
/// Of several statements, the later one of the list counts, and the first one of nested objects.
/// The list takes precedence. Nested statements therefore only need to know what has been stated,
/// not with which values.
struct Statements {
    /// The attributes by the index of the root entity.
    private var attributes: [Int: StatedColumns] = [:]
    /// The objects of which the payload has stated the entity, by the index of the root entity.
    private var entities: [Int: ObjectSet] = [:]
    /// The objects that the payload has in places for objects of a sub-entity, by its index.
    private var places: [Int: ObjectSet] = [:]
    /// The identities of nested objects, as numbers, by the index of the root entity. Different
    /// identities may have the same number.
    private var identities: [Int: ObjectSet] = [:]
    /// The nested records that were merged, to skip repeated ones.
    var repeated = RepeatedRecords()
    /// The objects whose relationship the payload has stated, by relationship.
    private var sources: [EntityLayout.Relationship.ID: ObjectSet] = [:]
    /// The part of `sources` that is from the current page; nil if the payload has no pages.
    private var sourcesInPage: [EntityLayout.Relationship.ID: ObjectSet]?
    /// The part of `sources` from earlier changes, which contradicts nothing.
    private var former: [EntityLayout.Relationship.ID: ObjectSet] = [:]
    /// The objects whose only target the payload has stated from the other end, by the relationship
    /// that starts from them.
    private var statedTargets: [EntityLayout.Relationship.ID: ObjectSet] = [:]

    /// Begins a page of the payload.
    mutating func beginPage() {
        sourcesInPage = [:]
    }

    /// Forgets what the payload has stated, before another reading or change states it anew.
    mutating func beginAnew() {
        for (id, objects) in sources { former[id, default: ObjectSet()].formUnion(objects.objects) }
        var next = Statements()
        swap(&next.former, &former)
        self = next
    }

    // MARK: Attributes

    /// The rows of a batch, without the cells that were stated before.
    struct Rest {
        /// The rows, without those cells.
        var records: RecordBatch
        /// The rows with a cell that was stated before, other than the identity.
        var restated: [Int] = []
        /// The rows that have no other cells.
        var complete: [Int] = []
    }

    /// Removes the cells that were stated before. The cells of the identity stay.
    ///
    /// - Parameter objects: The object of each row; nil for a row that stays as it is.
    /// - Returns: Nil if all rows stay as they are.
    func rest(of records: RecordBatch, _ objects: [ObjectID?], of layout: EntityLayout) -> Rest? {
        guard let stated = attributes[layout.root] else { return nil }
        let keyColumns = layout.keyColumns
        guard objects.contains(where: { $0.map(stated.contains) == true }) else { return nil }
        var rest = Rest(records: RecordBatch(of: layout))
        records.withReader { reader in
            for (row, object) in objects.enumerated() {
                guard let object, stated.contains(object) else {
                    rest.records.append(row: row, of: records)
                    continue
                }
                var (hasNew, hasStated) = (false, false)
                for column in 0..<reader.columnCount where reader.kind(row: row, column: column) != .absent {
                    if !stated.contains(column, of: object) {
                        hasNew = true
                    } else if !keyColumns.contains(column) {
                        hasStated = true
                    }
                }
                if hasStated { rest.restated.append(row) }
                if !hasNew { rest.complete.append(row) }
                rest.records.append(row: row, of: records) { column in
                    keyColumns.contains(column) || !stated.contains(column, of: object)
                }
            }
        }
        return rest
    }

    /// Whether the payload has stated of which entity an object is.
    func statesEntity(of object: ObjectID, _ layout: EntityLayout) -> Bool {
        entities[layout.root]?.contains(object) == true
    }

    /// Notes objects of which the payload states the entity.
    mutating func insertEntity(of objects: some Sequence<ObjectID>, _ layout: EntityLayout, in model: DataModel) {
        guard model.layouts[layout.root].family.count > 1 else { return }
        entities[layout.root, default: ObjectSet()].formUnion(objects)
    }

    /// Whether the payload has an object in a place where an object of an entity cannot be, such as
    /// a relationship to one of its sub-entities.
    func isInPlace(_ object: ObjectID, below layout: EntityLayout, in model: DataModel) -> Bool {
        places.contains { index, objects in
            let place = model.layouts[index]
            return place.root == layout.root && !layout.isKind(of: place) && objects.contains(object)
        }
    }

    /// Notes objects in places for objects of an entity.
    mutating func insert(_ objects: some Sequence<ObjectID>, inPlaceOf layout: EntityLayout) {
        guard layout.parent != nil else { return }
        places[layout.index, default: ObjectSet()].formUnion(objects)
    }

    /// Notes the values that rows state.
    ///
    /// - Parameter objects: The object of each row; nil for a row that states nothing.
    mutating func insert(_ records: RecordBatch, _ objects: some Sequence<ObjectID?>, of layout: EntityLayout) {
        records.withReader { attributes[layout.root, default: StatedColumns()].insert($0, objects: objects) }
    }

    /// Forgets the values of attributes that an object has lost with its former entity.
    ///
    /// - Parameter count: The number of attributes that both entities have, which come first.
    mutating func keep(_ object: ObjectID, columnsBelow count: Int, of layout: EntityLayout) {
        attributes[layout.root]?.keep(object, columnsBelow: count)
    }

    // MARK: Identities

    /// The number of identities that are told apart, which bounds the memory to 2 MB per entity.
    private static let identityCount: Int64 = 1 << 24

    /// Notes the identities of rows.
    ///
    /// - Parameter isKept: Whether the identity of a row is noted.
    /// - Returns: The rows whose identity may have been noted before.
    mutating func insertIdentities(
        of records: RecordBatch, _ layout: EntityLayout, where isKept: (Int) -> Bool
    ) -> [Int] {
        let columns = layout.identityColumns
        guard !columns.isEmpty else { return [] }
        var known = identities.removeValue(forKey: layout.root) ?? ObjectSet()
        var rows: [Int] = []
        records.withReader { reader in
            for row in 0..<reader.count where isKept(row) && reader.isIdentified(row, by: columns) {
                var number: Int64 = -1
                if columns.count == 1, reader.kind(row: row, column: columns[0]) == .int {
                    number = reader.int(row: row, column: columns[0])
                }
                if number < 0 || number >= Self.identityCount {
                    number =
                        Int64(truncatingIfNeeded: reader.hash(row: row, columns: columns)) & (Self.identityCount - 1)
                }
                if !known.insert(number) { rows.append(row) }
            }
        }
        identities[layout.root] = known
        return rows
    }

    // MARK: Relationships

    /// The objects whose relationship the payload has stated.
    struct Stated {
        fileprivate let sources: ObjectSet
        fileprivate let statedTargets: ObjectSet

        /// Whether the payload has stated the relationship of no object.
        var isEmpty: Bool { sources.isEmpty && statedTargets.isEmpty }

        /// Whether the payload has stated the relationship of any object from the end where it
        /// starts.
        var isDirect: Bool { !sources.isEmpty }

        /// Whether the payload has stated the relationship of an object from the end where it
        /// starts.
        func containsDirectly(_ object: ObjectID) -> Bool { sources.contains(object) }

        /// Whether the payload has stated the relationship of an object, from either end.
        func contains(_ object: ObjectID) -> Bool {
            sources.contains(object) || statedTargets.contains(object)
        }
    }

    /// The objects whose relationship the payload has stated. The value must not live until the
    /// next statement, which would have to copy it.
    func stated(_ relationship: EntityLayout.Relationship) -> Stated {
        Stated(
            sources: sources[relationship.id] ?? ObjectSet(),
            statedTargets: statedTargets[relationship.id] ?? ObjectSet())
    }

    /// Whether the payload has stated a relationship of an object in this or an earlier change,
    /// from the end where it starts.
    func hasStated(_ relationship: EntityLayout.Relationship, of object: ObjectID) -> Bool {
        sources[relationship.id]?.contains(object) == true || former[relationship.id]?.contains(object) == true
    }

    /// The objects whose relationship the payload has stated from the end where it starts.
    func objects(stating relationship: EntityLayout.Relationship) -> [ObjectID] {
        sources[relationship.id]?.objects ?? []
    }

    /// Whether an earlier page, and not the current one, has stated a relationship of an object.
    func statesInEarlierPage(_ relationship: EntityLayout.Relationship, of object: ObjectID) -> Bool {
        guard let sourcesInPage, stated(relationship).contains(object) else { return false }
        return sourcesInPage[relationship.id]?.contains(object) != true
    }

    /// Notes the objects whose relationship is stated.
    ///
    /// - Parameters:
    ///   - targets: The targets of all of them.
    ///   - inverse: The inverse relationship. If it is to-one, it is stated for the targets too.
    mutating func insert(
        _ objects: [ObjectID], _ relationship: EntityLayout.Relationship, targets: some Sequence<ObjectID?>,
        inverse: EntityLayout.Relationship?
    ) {
        sources[relationship.id, default: ObjectSet()].formUnion(objects)
        sourcesInPage?[relationship.id, default: ObjectSet()].formUnion(objects)
        guard let inverse, !inverse.isToMany else { return }
        statedTargets[inverse.id, default: ObjectSet()].formUnion(targets.lazy.compactMap(\.self))
        sourcesInPage?[inverse.id, default: ObjectSet()].formUnion(targets.lazy.compactMap(\.self))
    }
}

extension ObjectSet {
    /// Adds objects.
    mutating func formUnion(_ objects: some Sequence<ObjectID>) {
        for object in objects { insert(object) }
    }
}
