public import SyncModel

/// A query for objects of a type, with their order and the related objects to include.
///
///     let adults = ObjectQuery(
///         User.self, where: \.age >= 18, orderedBy: \.name, limit: 50, including: \.company)
///     let users = try await store.all(adults)
public struct ObjectQuery<Object: SyncObject>: Sendable {
    /// The condition for each object.
    public var predicate: ObjectPredicate<Object>
    /// The order, most important criterion first. Equal objects are in the order of their numbers.
    public var ordering: [ObjectParts.Order]
    /// The maximum number of objects; nil for all.
    public var limit: Int?
    /// The number of objects skipped at the start.
    public var offset: Int
    let includes: [FieldPath]
    /// A restriction by object numbers; used for related objects.
    var objects = StoreQuery.Objects.all
    /// The position after which the result begins; nil to begin with the first object.
    var after: StoreSelection.Position?

    /// Creates a query; by default, of all objects of the type.
    ///
    /// - Parameters:
    ///   - type: The type of the objects.
    ///   - predicate: The condition for each object; nil for none.
    ///   - ordering: The order, such as `\.name` or `\.age.descending`.
    ///   - limit: The maximum number of objects; nil, the default, for all.
    ///   - offset: The number of objects skipped at the start; 0 by default.
    ///   - includes: The relationships whose objects are loaded with the result, such as
    ///     `\.company` or `\.notes.tags`. A path includes every relationship on its way.
    public init<each Order: ObjectParts.Criterion, each Included: ObjectParts.IncludedValue>(
        _ type: Object.Type = Object.self, where predicate: ObjectPredicate<Object>? = nil,
        orderedBy ordering: repeat KeyPath<ObjectParts.Fields<Object>, each Order>, limit: Int? = nil, offset: Int = 0,
        including includes: repeat ObjectParts.Path<Object, each Included>
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
