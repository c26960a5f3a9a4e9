import JSONMapper
import SyncModel
import SyncStore

/// Links to objects that the store did not have when an identifier named them. They may come later
/// in the payload.
struct DeferredLinks {
    /// A target: an object, or a row of `unknown`.
    enum Target {
        case object(Int64)
        case unknown(Int)
    }

    /// The links of one relationship.
    struct Links {
        /// The identities of the unknown targets.
        var unknown: RecordBatch
        /// The targets by source. A later value replaces an earlier one.
        var targets: [Int64: [Target]] = [:]
    }

    private(set) var links: [RelationshipLayout: Links] = [:]

    /// Forgets the targets of a source.
    mutating func forget(_ source: Int64, _ relationship: RelationshipLayout) {
        links[relationship]?.targets[source] = nil
    }

    /// Remembers the targets of a source.
    ///
    /// - Parameters:
    ///   - targets: The objects, and rows of `batch` for unknown ones.
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
