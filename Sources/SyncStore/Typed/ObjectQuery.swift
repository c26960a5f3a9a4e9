public import SyncModel

/// A choice of objects of a type, their order, and the related objects that come with them.
///
///     let adults = ObjectQuery(
///         User.self, where: \.age >= 18, orderedBy: \.name, limit: 50, including: \.company)
///     let users = try await store.all(adults)
public struct ObjectQuery<Object: SyncObject>: Sendable {
    /// The condition for each object.
    public var predicate: ObjectPredicate<Object>
    /// The order, the most important criterion first; equal objects follow the order of their
    /// numbers.
    public var ordering: [ObjectParts.Order]
    /// The largest number of objects; nil for all.
    public var limit: Int?
    /// The number of objects skipped at the start.
    public var offset: Int
    let includes: [FieldPath]
    /// The objects by number; for related objects.
    var objects = StoreQuery.Objects.all
    /// The object after which the result begins.
    var after: StoreSelection.Position?

    /// Creates a query; by default it chooses all objects of the type.
    ///
    /// - Parameters:
    ///   - type: The type of the objects.
    ///   - predicate: The condition for each object; nil for none.
    ///   - ordering: The order: properties such as `\.name` or `\.age.descending`.
    ///   - limit: The largest number of objects; nil for all.
    ///   - offset: The number of objects skipped at the start.
    ///   - includes: The relationships whose objects come with the result: `\.company`,
    ///     `\.notes.tags`. A path includes every relationship that it leads through.
    public init<each Order: ObjectParts.Criterion, each Included: ObjectParts.RelatedValue>(
        _ type: Object.Type = Object.self, where predicate: ObjectPredicate<Object>? = nil,
        orderedBy ordering: repeat KeyPath<ObjectParts.Fields<Object>, each Order>, limit: Int? = nil, offset: Int = 0,
        including includes: repeat ObjectPath<Object, each Included>
    ) {
        self.predicate = predicate ?? .constant(true)
        var orders: [ObjectParts.Order] = []
        for path in repeat each ordering { orders.append(ObjectParts.Fields<Object>()[keyPath: path].order) }
        self.ordering = orders
        self.limit = limit
        self.offset = offset
        var paths: [FieldPath] = []
        for path in repeat each includes { paths.append(ObjectParts.Fields<Object>()[keyPath: path].path) }
        self.includes = paths
    }

    /// The query with names instead of key paths.
    ///
    /// - Throws: `SyncDeclarationError.unknownKeyPath`.
    public func storeQuery() throws(SyncDeclarationError) -> StoreQuery {
        var criteria: [Ordering] = []
        for order in ordering { criteria.append(try order.ordering()) }
        return StoreQuery(
            Object.entityName, where: try predicate.recordPredicate(), objects: objects, orderedBy: criteria,
            limit: limit, offset: offset)
    }
}
