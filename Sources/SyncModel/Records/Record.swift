/// The attribute values of an object, and the objects that it is related to.
///
///     var record = Record(of: layout)
///     record["name"] = "Ada"
///     record["name"]                  // .string("Ada")
///     record[related: "company"]      // nil: not loaded
///
/// Records are made for reading and for occasional writes. Use a `RecordBatch` to write many
/// objects to a store.
public struct Record: Sendable {
    /// The entity of the record, with the columns of its attributes and the indices of its
    /// relationships.
    public let layout: EntityLayout
    /// The values of all attributes, in column order.
    public private(set) var values: [AttributeValue]
    /// The targets of all relationships, by index; nil for a relationship that was not loaded.
    public private(set) var targets: [Record.Targets?]

    /// Creates a record with the attributes' default values and no relationships loaded.
    public init(of layout: EntityLayout) {
        self.layout = layout
        values = layout.attributes.map(\.defaultValue)
        targets = Array(repeating: nil, count: layout.relationships.count)
    }

    /// Creates a record from a row of a batch; attributes that are absent in the row become null.
    ///
    /// - Parameters:
    ///   - row: An index of an existing row.
    ///   - batch: A batch of the entity.
    ///   - layout: The entity. It must have as many attributes as the batch has columns.
    public init(row: Int, of batch: RecordBatch, layout: EntityLayout) {
        precondition(batch.columnCount == layout.attributes.count, "the batch is of another entity")
        self.layout = layout
        values = batch.withReader { reader in
            (0..<reader.columnCount).map { reader.value(row: row, column: $0) ?? .null }
        }
        targets = Array(repeating: nil, count: layout.relationships.count)
    }

    /// The name of the entity.
    public var entityName: String {
        layout.name
    }

    /// The record's identity in the whole store; nil if the entity has none, or a part is null.
    public var key: Record.Key? {
        Record.Key(layout.identityColumns.map { values[$0] })
    }

    /// The value of the attribute at a column. The column must exist.
    public subscript(column column: Int) -> AttributeValue {
        get { values[column] }
        set { values[column] = newValue }
    }

    /// The value of the attribute with a name.
    ///
    /// If the entity has no such attribute, reading returns null and writing has no effect. The
    /// value is checked against the attribute's type when it is stored, not here.
    public subscript(attribute: String) -> AttributeValue {
        get { layout.column(of: attribute).map { values[$0] } ?? .null }
        set {
            if let column = layout.column(of: attribute) {
                values[column] = newValue
            }
        }
    }

    /// The targets of the relationship at an index; nil if they were not loaded. The index must
    /// exist.
    public subscript(relationship index: Int) -> Record.Targets? {
        get { targets[index] }
        set { targets[index] = newValue }
    }

    /// The targets of the relationship with a name; nil if they were not loaded.
    ///
    /// If the entity has no such relationship, reading returns nil and writing has no effect.
    public subscript(related relationship: String) -> Record.Targets? {
        get { layout.relationship(relationship).flatMap { targets[$0.index] } }
        set {
            if let found = layout.relationship(relationship) {
                targets[found.index] = newValue
            }
        }
    }
}

extension Record: Hashable {
    /// Returns whether two records have the same entity, values and targets.
    public static func == (one: Record, other: Record) -> Bool {
        one.layout.entity == other.layout.entity && one.values == other.values && one.targets == other.targets
    }

    /// Hashes the entity's name, values and targets.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(layout.name)
        hasher.combine(values)
        hasher.combine(targets)
    }
}
