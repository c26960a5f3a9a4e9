import JSONMapper
import SyncModel
import SyncStore

/// The rejected objects of a pass, and how its payload differs from the model.
struct PassProblems {
    /// The number of rejected objects that the result lists; others are only counted.
    static let reportedCount = 1000

    private(set) var rejected: [MappingError.Problem] = []
    private(set) var rejectedCount = 0
    /// The number of rejected elements of the list, without what is nested in elements.
    private(set) var rejectedElementCount = 0
    /// The number of elements of the list that may be any object: without a usable identity or, if
    /// the entity has no key or the reader added it, without any other key of the entity.
    var unidentifiedCount = 0
    /// Whether some of them have no key of the entity.
    var hasKeyless = false
    /// The highest index of a rejected element of the current page; nil without any.
    private(set) var lastRejectedIndex: Int?
    /// Whether an object was rejected that the store may have. Absent objects are then kept, unless
    /// the source is certain.
    var mayLackObjects = false
    /// Whether an object was rejected that may be accepted later, although its JSON stays the same:
    /// the store refused it, or has no parent for it.
    private(set) var mayAcceptLater = false
    /// The number of values that were cleared or ignored because they did not fit.
    var toleratedCount = 0
    /// The number of values of relationships that were left out because of the operations.
    var excludedRelationshipCount = 0
    /// The differences in the current page, or in a payload without pages.
    var drift = DriftReport()
    /// The differences in earlier pages.
    private var earlierDrift = DriftReport()

    /// Begins a page.
    mutating func beginPage() {
        lastRejectedIndex = nil
        earlierDrift.append(drift)
        drift = DriftReport()
    }

    /// Adds the differences between a batch and the model.
    mutating func addDrift(of batch: MappedBatch, _ origin: Origin) {
        toleratedCount += batch.toleratedCount
        excludedRelationshipCount += batch.excludedRelationshipCount
        for drift in [batch.drift, batch.nestedDrift] where !drift.isEmpty {
            self.drift.add(drift, origin.elementIndex)
        }
    }

    /// Removes the differences of a batch whose objects were mapped again.
    mutating func removeDrift(of batch: MappedBatch) {
        toleratedCount -= batch.toleratedCount
        excludedRelationshipCount -= batch.excludedRelationshipCount
        for drift in [batch.drift, batch.nestedDrift] where !drift.isEmpty { self.drift.remove(drift) }
    }

    /// Reports a rejected object.
    ///
    /// - Parameters:
    ///   - isElement: Whether it is an element of the list, not nested in one.
    ///   - mayBeListed: Whether the object may be one that the store has and the list seems to
    ///     lack.
    ///   - mayAcceptLater: Whether the object was rejected because of other objects of the store;
    ///     false by default.
    mutating func reject(
        _ problem: MappingError.Problem, isElement: Bool, mayBeListed: Bool, mayAcceptLater: Bool = false
    ) {
        rejectedCount += 1
        if isElement {
            rejectedElementCount += 1
            lastRejectedIndex = max(lastRejectedIndex ?? 0, problem.index)
        }
        mayLackObjects = mayLackObjects || mayBeListed
        self.mayAcceptLater = self.mayAcceptLater || mayAcceptLater
        if rejected.count < Self.reportedCount { rejected.append(problem) }
    }

    /// Forgets the problems of objects that are read again.
    ///
    /// - Parameters:
    ///   - former: The problems before these objects.
    ///   - areDoubtful: Whether objects rejected since may still be in the store.
    mutating func restore(_ former: PassProblems, areDoubtful: Bool) {
        let latest = self
        self = former
        mayLackObjects = former.mayLackObjects || areDoubtful && latest.mayLackObjects
        (hasKeyless, mayAcceptLater) = (latest.hasKeyless, latest.mayAcceptLater)
    }

    /// Adds the problems to a result.
    func add(to result: inout StoreSyncResult) {
        result.rejected = rejected
        result.rejectedCount = rejectedCount
        result.toleratedCount = toleratedCount
        result.excludedRelationshipCount = excludedRelationshipCount
        result.drift = earlierDrift
        result.drift.append(drift)
    }
}
