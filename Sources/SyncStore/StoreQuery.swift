public import SyncModel

/// Which objects of a store are meant, and in what order.
///
///     StoreQuery("User", where: PropertyPath("age") > 21, orderedBy: [Ordering("name")], limit: 10)
public struct StoreQuery: Sendable {
    /// A choice among objects by their rows.
    public enum Rows: Sendable {
        /// All.
        case all
        /// These, as far as they exist.
        case only([Int64])
        /// All but these.
        case except(RowSet)
    }

    /// The entity's name; objects of its sub-entities are meant as well.
    public var entity: String
    /// What must hold for each object.
    public var predicate: RecordPredicate
    /// Which of them, by their rows.
    public var rows: Rows
    /// The order, the most important criterion first; objects that no criterion tells apart are in the order of their rows.
    public var ordering: [Ordering]
    /// How many objects at most; nil for all.
    public var limit: Int?
    /// How many of the first objects are left out; 0 or more.
    public var offset: Int

    /// Makes a query; what is left out restricts nothing.
    ///
    /// - Parameters:
    ///   - entity: The entity's name.
    ///   - predicate: What must hold for each object.
    ///   - rows: Which of them, by their rows.
    ///   - ordering: The order.
    ///   - limit: How many objects at most.
    ///   - offset: How many of the first objects are left out.
    public init(
        _ entity: String, where predicate: RecordPredicate = .constant(true), rows: Rows = .all,
        orderedBy ordering: [Ordering] = [], limit: Int? = nil, offset: Int = 0
    ) {
        self.entity = entity
        self.predicate = predicate
        self.rows = rows
        self.ordering = ordering
        self.limit = limit
        self.offset = max(offset, 0)
    }
}

/// An object as a store holds it.
public struct StoredRecord: Hashable, Sendable {
    /// What the store knows the object by.
    public let row: Int64
    /// Its entity and values; what it is related to is known only where that was asked for.
    public var record: Record

    /// Puts a row and its record together.
    public init(row: Int64, record: Record) {
        self.row = row
        self.record = record
    }

    /// What the object is found by: its identity, else its row.
    public var key: RecordKey {
        record.key ?? .row(row)
    }
}

/// A pair of related objects.
public struct StoreLink: Hashable, Sendable {
    /// The row that the relationship starts from.
    public let source: Int64
    /// The row that it leads to.
    public let target: Int64

    /// Makes a pair.
    public init(source: Int64, target: Int64) {
        self.source = source
        self.target = target
    }
}
