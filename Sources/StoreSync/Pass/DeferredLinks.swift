import JSONMapper
import SyncModel
import SyncStore

/// Links to objects that were not in the store when an identifier named them: they may come later
/// in the payload.
struct DeferredLinks {
    /// An object, or an index in the batch of unknown identifiers of the relationship.
    enum Target {
        case object(ObjectID)
        case unknown(Int)
    }

    /// What a payload says about one relationship of one object.
    struct Statement {
        let relationship: RelationshipLayout
        let source: ObjectID
        let targets: [Target]
        /// The entity of the object.
        let entity: String
        /// The index of the payload's element.
        let elementIndex: Int
    }

    private struct Place: Hashable {
        let relationship: RelationshipLayout.ID
        let source: ObjectID
    }

    /// The latest statement on each relationship of each object, in the order of the payload; nil
    /// where a later one said something else.
    private(set) var statements: [Statement?] = []
    /// The unknown identifiers of each relationship.
    private(set) var unknown: [RelationshipLayout.ID: RecordBatch] = [:]
    private var indices: [Place: Int] = [:]

    /// Objects that an identifier named before the payload had them, if the end of the pass may
    /// delete them.
    struct Named {
        let relationship: RelationshipLayout
        let source: ObjectID
        /// The objects with their positions among all targets.
        let targets: [(position: Int, object: ObjectID)]
        let entity: String
        let elementIndex: Int
    }

    private var namedObjects: [Place: Named] = [:]

    /// The latest statements that name objects which the end of the pass may delete, in the order
    /// of the payload.
    var named: [Named] {
        namedObjects.values.sorted {
            ($0.elementIndex, $0.relationship.id, $0.source) < ($1.elementIndex, $1.relationship.id, $1.source)
        }
    }

    mutating func add(_ named: Named) {
        namedObjects[Place(relationship: named.relationship.id, source: named.source)] = named
    }

    /// Whether a statement on a relationship may contradict a deferred one.
    ///
    /// A later statement counts. Deferred statements are made at the end, so that later ones which
    /// concern the same links have to be made again after them.
    func concerns(_ relationship: RelationshipLayout, inverse: RelationshipLayout?) -> Bool {
        guard !unknown.isEmpty, let inverse else { return false }
        if unknown[inverse.id] != nil { return true }
        return !inverse.isToMany && unknown[relationship.id] != nil
    }

    /// Forgets what a source was to be related to.
    mutating func forget(_ source: ObjectID, _ relationship: RelationshipLayout) {
        if !namedObjects.isEmpty { namedObjects[Place(relationship: relationship.id, source: source)] = nil }
        guard !indices.isEmpty,
            let index = indices.removeValue(forKey: Place(relationship: relationship.id, source: source))
        else { return }
        statements[index] = nil
    }

    /// Remembers what a source is to be related to.
    ///
    /// - Parameters:
    ///   - targets: The objects, and the rows of `batch` for those that are not there.
    ///   - batch: Records of the relationship's destination; nil if all objects are there.
    ///   - entity: The entity of the source.
    ///   - elementIndex: The index of the payload's element.
    mutating func add(
        _ source: ObjectID, _ relationship: RelationshipLayout, to targets: [Target], of batch: RecordBatch?,
        entity: String, elementIndex: Int
    ) {
        forget(source, relationship)
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
        indices[Place(relationship: relationship.id, source: source)] = statements.count
        statements.append(
            Statement(
                relationship: relationship, source: source, targets: targets, entity: entity,
                elementIndex: elementIndex))
    }
}

extension RecordBatch {
    /// A batch of the same columns without rows.
    fileprivate var emptied: RecordBatch {
        layout.map { RecordBatch(of: $0) } ?? RecordBatch(columnCount: columnCount)
    }
}
