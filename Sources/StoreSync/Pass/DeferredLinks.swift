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

    /// Forgets what a source was to be related to.
    mutating func forget(_ source: ObjectID, _ relationship: RelationshipLayout) {
        guard !indices.isEmpty,
            let index = indices.removeValue(forKey: Place(relationship: relationship.id, source: source))
        else { return }
        statements[index] = nil
    }

    /// Remembers what a source is to be related to.
    ///
    /// - Parameters:
    ///   - targets: The objects, and the rows of `batch` for those that are not there.
    ///   - batch: Records of the relationship's destination.
    ///   - entity: The entity of the source.
    ///   - elementIndex: The index of the payload's element.
    mutating func add(
        _ source: ObjectID, _ relationship: RelationshipLayout, to targets: [Target], of batch: RecordBatch,
        entity: String, elementIndex: Int
    ) {
        forget(source, relationship)
        var unknown = self.unknown.removeValue(forKey: relationship.id) ?? batch.emptied
        let targets = targets.map { target in
            guard case .unknown(let row) = target else { return target }
            unknown.append(row: row, of: batch)
            return .unknown(unknown.count - 1)
        }
        self.unknown[relationship.id] = unknown
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
