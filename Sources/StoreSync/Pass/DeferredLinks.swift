import JSONMapper
import SyncModel
import SyncStore

/// Links to objects that the store did not have when an identifier named them.
///
/// A later part of the payload may insert the objects. ``StorePass`` adds statements while it
/// merges, and makes them at the end.
struct DeferredLinks {
    /// A stored object, or a row of the relationship's batch in `unknown`.
    enum Target {
        case object(ObjectID)
        case unknown(Int)
    }

    /// One relationship of one object.
    struct Place {
        let relationship: EntityLayout.Relationship
        let source: ObjectID
        /// The name of the source's entity.
        let entity: String
        /// The index of the element in the payload.
        let elementIndex: Int

        fileprivate var id: RelationshipSource { RelationshipSource(relationship, of: source) }
    }

    /// The targets that the payload states for a place.
    struct Statement {
        let place: Place
        let targets: [Target]
        /// Whether a part of the value could not be read. In this case, nothing is unlinked.
        let isIncomplete: Bool
    }

    /// The statement that counts about each relationship of each object, in the order of the
    /// payload. A statement that a later one replaced is nil.
    private var stated: [Statement?] = []
    /// Whether each statement is made before those that came earlier.
    private var isMadeFirst: [Bool] = []
    /// The identifiers that name no object, by relationship; one row for each.
    private(set) var unknown: [EntityLayout.Relationship.ID: RecordBatch] = [:]
    /// The index in `stated` of each relationship and source.
    private var indices: [RelationshipSource: Int] = [:]

    /// Objects of the list that an identifier named before the list contained them.
    ///
    /// The end of the pass deletes them if the list does not contain them at all.
    struct Named {
        let place: Place
        /// The objects, each with its position among all targets.
        let targets: [(position: Int, object: ObjectID)]
    }

    private var namedObjects: [RelationshipSource: Named] = [:]

    /// Whether no statement waits for the end.
    var isEmpty: Bool { stated.isEmpty }

    /// The statements in the order in which they are to be made.
    var statements: [Statement] {
        let first = stated.indices.reversed().filter { isMadeFirst[$0] }
        return (first + stated.indices.filter { !isMadeFirst[$0] }).compactMap { stated[$0] }
    }

    /// The latest statements that name objects which the end of the pass may delete, in the order
    /// of the payload.
    var named: [Named] {
        namedObjects.values.sorted {
            ($0.place.elementIndex, $0.place.relationship.id, $0.place.source)
                < ($1.place.elementIndex, $1.place.relationship.id, $1.place.source)
        }
    }

    /// Forgets the statements that name objects which the end may delete.
    mutating func forgetNamed() {
        namedObjects = [:]
    }

    mutating func add(_ named: Named) {
        namedObjects[named.place.id] = named
    }

    /// Whether a statement about a relationship may contradict a deferred one.
    ///
    /// The later of two statements counts. Because deferred statements are made at the end, later
    /// statements about the same links are deferred as well, and made after them.
    func concerns(_ relationship: EntityLayout.Relationship, inverse: EntityLayout.Relationship?) -> Bool {
        guard !unknown.isEmpty, let inverse else { return false }
        if unknown[inverse.id] != nil { return true }
        return !inverse.isToMany && unknown[relationship.id] != nil
    }

    /// Whether a deferred statement about a relationship of a source names unknown objects.
    func lacksObjects(of source: ObjectID, _ relationship: EntityLayout.Relationship) -> Bool {
        guard !indices.isEmpty, let index = indices[RelationshipSource(relationship, of: source)],
            let statement = stated[index]
        else { return false }
        return statement.targets.contains { if case .unknown = $0 { true } else { false } }
    }

    /// Removes the deferred statement about a relationship of a source.
    mutating func forget(_ source: ObjectID, _ relationship: EntityLayout.Relationship) {
        if !namedObjects.isEmpty { namedObjects[RelationshipSource(relationship, of: source)] = nil }
        guard !indices.isEmpty,
            let index = indices.removeValue(forKey: RelationshipSource(relationship, of: source))
        else { return }
        stated[index] = nil
    }

    /// Defers the links of a source. An earlier statement must have been forgotten.
    ///
    /// Later statements undo earlier ones when they are made. A nested statement is therefore made
    /// before the earlier ones, which count more.
    ///
    /// - Parameters:
    ///   - targets: The objects, and the rows of `batch` for those that are not stored.
    ///   - batch: The identifiers; nil if all targets are stored.
    ///   - isIncomplete: Whether a part of the value could not be read.
    ///   - laterCounts: Whether the statement counts more than earlier ones.
    mutating func add(
        _ place: Place, to targets: [Target], of batch: RecordBatch?, isIncomplete: Bool, laterCounts: Bool
    ) {
        var targets = targets
        if let batch {
            let id = place.relationship.id
            var unknown = self.unknown.removeValue(forKey: id) ?? batch.emptied
            targets = targets.map { target in
                guard case .unknown(let row) = target else { return target }
                unknown.append(row: row, of: batch)
                return .unknown(unknown.count - 1)
            }
            self.unknown[id] = unknown
        }
        indices[place.id] = stated.count
        isMadeFirst.append(!laterCounts)
        stated.append(Statement(place: place, targets: targets, isIncomplete: isIncomplete))
    }

    // MARK: The end

    /// What the end of a pass makes of the deferred statements.
    struct Resolution {
        /// The links to make, in order.
        var batches: [LinkBatch] = []
        /// The statements with identifiers that still name no object, in order, with those
        /// identifiers.
        var pending: [(place: Place, link: PendingLink)] = []
    }

    /// Returns the links to make, in the order of the payload.
    ///
    /// - Parameter found: The object of each row of `unknown`.
    func resolved(
        _ found: [EntityLayout.Relationship.ID: [ObjectID?]], _ rules: SyncRules, in model: DataModel
    ) -> Resolution {
        var resolution = Resolution()
        var batch: LinkBatch?
        // The relationships for which a deferred statement was made; a relationship and its inverse
        // are represented by the lower identifier. Later statements are made again.
        var repeated: Set<EntityLayout.Relationship.ID> = []
        for statement in statements {
            let relationship = statement.place.relationship
            let objects = found[relationship.id] ?? []
            var isNew = false
            var targets: [ObjectID] = []
            var unknown: [(position: Int, row: Int)] = []
            for (position, target) in statement.targets.enumerated() {
                switch target {
                case .object(let object): targets.append(object)
                case .unknown(let row):
                    guard let object = objects[row] else {
                        unknown.append((position, row))
                        continue
                    }
                    isNew = true
                    targets.append(object)
                }
            }
            if !unknown.isEmpty, let identifiers = self.unknown[relationship.id] {
                resolution.pending.append(
                    (statement.place, PendingLink(statement, unknown, of: identifiers, in: model)))
            }
            let pair = model.inverse(of: relationship).map { min($0.id, relationship.id) } ?? relationship.id
            if isNew { repeated.insert(pair) }
            guard repeated.contains(pair) else { continue }
            var mode = rules.mode(of: relationship)
            if statement.isIncomplete {
                guard mode != .retain else { continue }
                mode = .add
            }
            if let open = batch, open.relationship.id != relationship.id || open.mode != mode {
                resolution.batches.append(open)
                batch = nil
            }
            var next = batch ?? LinkBatch(relationship, mode: mode)
            next.append(statement.place.source, to: targets)
            batch = next
        }
        if let batch { resolution.batches.append(batch) }
        return resolution
    }
}

/// A relationship of one object.
struct RelationshipSource: Hashable {
    private let relationship: EntityLayout.Relationship.ID
    private let object: ObjectID

    init(_ relationship: EntityLayout.Relationship, of object: ObjectID) {
        self.relationship = relationship.id
        self.object = object
    }
}

extension RecordBatch {
    /// An empty batch with the same columns.
    fileprivate var emptied: RecordBatch {
        layout.map { RecordBatch(of: $0) } ?? RecordBatch(columnCount: columnCount)
    }
}
