public import SyncModel

/// The conditions for objects of a store, and their order.
///
///     StoreQuery("User", where: PropertyPath("age") > 21, orderedBy: [Ordering("name")], limit: 9)
public struct StoreQuery: Sendable {
    /// A restriction by object numbers.
    public enum Objects: Sendable {
        /// All objects.
        case all
        /// These objects, if they exist.
        case only([ObjectID])
        /// All objects except these.
        case except(ObjectSet)
    }

    /// The entity's name; the query includes objects of its sub-entities.
    public var entity: String
    /// The condition for each object.
    public var predicate: RecordPredicate
    /// A restriction by object numbers.
    public var objects: Objects
    /// The order, most important criterion first. Equal objects are in the order of their numbers.
    public var ordering: [Ordering]
    /// The maximum number of objects; nil for all. A negative limit counts as 0.
    public var limit: Int?
    /// The number of objects skipped at the start. A negative offset counts as 0.
    public var offset: Int {
        didSet { offset = max(offset, 0) }
    }

    /// Creates a query; by default, of all objects of the entity.
    ///
    /// - Parameters:
    ///   - entity: The entity's name.
    ///   - predicate: The condition for each object.
    ///   - objects: A restriction by object numbers.
    ///   - ordering: The order.
    ///   - limit: The maximum number of objects; nil, the default, for all.
    ///   - offset: The number of objects skipped at the start.
    public init(
        _ entity: String, where predicate: RecordPredicate = .constant(true), objects: Objects = .all,
        orderedBy ordering: [Ordering] = [], limit: Int? = nil, offset: Int = 0
    ) {
        self.entity = entity
        self.predicate = predicate
        self.objects = objects
        self.ordering = ordering
        self.limit = limit
        self.offset = max(offset, 0)
    }
}
