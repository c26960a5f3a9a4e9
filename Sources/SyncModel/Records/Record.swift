/// The values of an object, and the objects that it is related to.
///
///     var record = Record(of: layout)
///     record["name"] = "Ada"
///     record["name"]                  // .string("Ada")
///     record[related: "company"]      // nil: not known
///
/// Records are for reading and for single writes. Many records go into a store as a `RecordBatch`.
public struct Record: Sendable {
    /// The entity and its properties.
    public let layout: EntityLayout
    /// The values by slot, one per attribute.
    public private(set) var values: [AttributeValue]
    /// The related objects by relationship index; nil if they were not fetched.
    public private(set) var targets: [Record.Targets?]

    /// Creates a record with default values and without known relationships.
    public init(of layout: EntityLayout) {
        self.layout = layout
        values = layout.attributes.map(\.defaultValue)
        targets = Array(repeating: nil, count: layout.relationships.count)
    }

    /// Creates a record of a row of a batch; attributes that are absent in the row are null.
    ///
    /// - Parameters:
    ///   - row: The row; it must exist.
    ///   - batch: A batch of an entity.
    ///   - layout: That entity.
    public init(row: Int, of batch: RecordBatch, layout: EntityLayout) {
        precondition(batch.columnCount == layout.attributes.count, "the batch is of another entity")
        self.layout = layout
        values = batch.withReader { reader in
            (0..<reader.columnCount).map { reader.value(row: row, slot: $0) ?? .null }
        }
        targets = Array(repeating: nil, count: layout.relationships.count)
    }

    /// The name of the entity.
    public var entityName: String {
        layout.name
    }

    /// The key of the object; nil if it has no identity or an identity value is null.
    public var key: RecordKey? {
        RecordKey(layout.identitySlots.map { values[$0] })
    }

    /// The value at a slot. The slot must exist.
    public subscript(slot slot: Int) -> AttributeValue {
        get { values[slot] }
        set { values[slot] = newValue }
    }

    /// The value of an attribute.
    ///
    /// Reading an attribute that the entity lacks gives null; writing it changes nothing. A value
    /// is not checked against the attribute's type here, but where it is stored.
    public subscript(attribute: String) -> AttributeValue {
        get { layout.slot(of: attribute).map { values[$0] } ?? .null }
        set {
            if let slot = layout.slot(of: attribute) {
                values[slot] = newValue
            }
        }
    }

    /// What a relationship leads to; nil where it is not known. The index must exist.
    public subscript(relationship index: Int) -> Record.Targets? {
        get { targets[index] }
        set { targets[index] = newValue }
    }

    /// What a relationship leads to.
    ///
    /// Reading gives nil where it is not known, or the entity has none of that name; then writing
    /// changes nothing.
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
    /// Whether both are of the same entity and hold and are related to the same.
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
