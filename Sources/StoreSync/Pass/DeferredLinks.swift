import JSONMapper
import SyncModel
import SyncStore

/// Links to objects that were not in the store when an identifier named them: they may come later
/// in the payload.
struct DeferredLinks {
    /// What a source is to be related to: objects, and places in `unknown`.
    enum Target {
        case object(Int64)
        case unknown(Int)
    }

    /// The links of one relationship.
    struct Links {
        /// The targets by their identity.
        var unknown: RecordBatch
        /// The later word of a source counts.
        var targets: [Int64: [Target]] = [:]
    }

    private(set) var links: [RelationshipLayout: Links] = [:]

    /// Forgets what a source was to be related to.
    mutating func forget(_ source: Int64, _ relationship: RelationshipLayout) {
        links[relationship]?.targets[source] = nil
    }

    /// Remembers what a source is to be related to.
    ///
    /// - Parameters:
    ///   - targets: The objects, and the rows of `batch` for those that are not there.
    ///   - batch: Records of the relationship's destination.
    mutating func add(
        _ source: Int64, _ relationship: RelationshipLayout, to targets: [Target], of batch: RecordBatch
    ) {
        var links = self.links.removeValue(forKey: relationship) ?? Links(unknown: batch.emptied)
        links.targets[source] = targets.map { target in
            guard case .unknown(let row) = target else { return target }
            links.unknown.append(row: row, of: batch)
            return .unknown(links.unknown.count - 1)
        }
        self.links[relationship] = links
    }
}

extension RecordBatch {
    /// A batch of the same columns without rows.
    fileprivate var emptied: RecordBatch {
        layout.map { RecordBatch(of: $0) } ?? RecordBatch(columnCount: columnCount)
    }
}
