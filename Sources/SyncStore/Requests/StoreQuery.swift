public import SyncModel

/// A choice of objects of a store, and their order.
///
///     StoreQuery("User", where: PropertyPath("age") > 21, orderedBy: [Ordering("name")], limit: 9)
public struct StoreQuery: Sendable {
    /// A restriction by object numbers.
    public enum Objects: Sendable {
        /// All objects.
        case all
        /// These objects, as far as they exist.
        case only([ObjectID])
        /// All objects but these.
        case except(ObjectSet)
    }

    /// The entity's name; the query includes objects of its sub-entities.
    public var entity: String
    /// The condition for each object.
    public var predicate: RecordPredicate
    /// A restriction by object numbers.
    public var objects: Objects
    /// The order, most important criterion first; equal objects follow the order of their numbers.
    public var ordering: [Ordering]
    /// The largest number of objects; nil for all. Below 0 counts as 0.
    public var limit: Int?
    /// The number of objects skipped at the start. Below 0 counts as 0.
    public var offset: Int {
        didSet { offset = max(offset, 0) }
    }

    /// Creates a query; by default it chooses all objects of the entity.
    ///
    /// - Parameters:
    ///   - entity: The entity's name.
    ///   - predicate: The condition for each object.
    ///   - objects: A restriction by object numbers.
    ///   - ordering: The order.
    ///   - limit: The largest number of objects.
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
