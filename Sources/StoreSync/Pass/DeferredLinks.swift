import JSONMapper
import SyncModel
import SyncStore

/// Links to objects that the store did not have when an identifier named them.
///
/// A later part of the payload may insert the objects. ``SyncPass`` adds statements while it
/// merges, and makes them at the end.
struct DeferredLinks {
    /// A stored object, or a row of the relationship's batch in `unknown`.
    enum Target {
        case object(ObjectID)
        case unknown(Int)
    }

    /// The targets that the payload states for one relationship of one object.
    struct Statement {
        let relationship: EntityLayout.Relationship
        let source: ObjectID
        let targets: [Target]
        /// Whether a part of the value could not be read. In this case, nothing is unlinked.
        let isIncomplete: Bool
        /// The name of the source's entity.
        let entity: String
        /// The index of the element in the payload.
        let elementIndex: Int
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
        let relationship: EntityLayout.Relationship
        let source: ObjectID
        /// The objects, each with its position among all targets.
        let targets: [(position: Int, object: ObjectID)]
        let entity: String
        let elementIndex: Int
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
            ($0.elementIndex, $0.relationship.id, $0.source) < ($1.elementIndex, $1.relationship.id, $1.source)
        }
    }

    /// Forgets the statements that name objects which the end may delete.
    mutating func forgetNamed() {
        namedObjects = [:]
    }

    mutating func add(_ named: Named) {
        namedObjects[RelationshipSource(named.relationship, of: named.source)] = named
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
    ///   - entity: The name of the source's entity.
    ///   - elementIndex: The index of the element in the payload.
    mutating func add(
        _ source: ObjectID, _ relationship: EntityLayout.Relationship, to targets: [Target], of batch: RecordBatch?,
        isIncomplete: Bool, laterCounts: Bool, entity: String, elementIndex: Int
    ) {
        var targets = targets
        if let batch {
            var unknown = self.unknown.removeValue(forKey: relationship.id) ?? batch.emptied
            targets = targets.map { target in
                guard case .unknown(let row) = target else { return target }
                unknown.append(row: row, of: batch)
                return .unknown(unknown.count - 1)
            }
            self.unknown[relationship.id] = unknown
        }
        indices[RelationshipSource(relationship, of: source)] = stated.count
        isMadeFirst.append(!laterCounts)
        stated.append(
            Statement(
                relationship: relationship, source: source, targets: targets, isIncomplete: isIncomplete,
                entity: entity, elementIndex: elementIndex))
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
