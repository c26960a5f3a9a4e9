package import SyncModel
package import SyncStore

/// The statements that give objects another entity of their family.
///
/// The rows keep their numbers, so that references to them stay.
package struct SQLEntityChange: Sendable {
    /// The entity that the objects have.
    package let former: EntityLayout
    /// The entity that they get.
    package let layout: EntityLayout
    /// The slots of the attributes that both entities have.
    let commonSlots: Range<Int>
    /// The slots of unique indexes that the objects come into. Their values wait, because other
    /// objects may have them.
    let waitingSlots: [Int]
    private let schema: SQLSchema
    private var model: DataModel { schema.model }

    package init(from former: EntityLayout, to layout: EntityLayout, schema: SQLSchema) {
        (self.former, self.layout, self.schema) = (former, layout, schema)
        let model = schema.model
        commonSlots = 0..<model.commonAncestor(of: former, layout).attributes.count
        let gained = model.layouts.filter { layout.isKind(of: $0) && !former.isKind(of: $0) }
        let slots = gained.flatMap { model.indexes(of: $0).filter(\.isUnique).flatMap(\.slots) }
        waitingSlots = Set(slots).subtracting(layout.identitySlots).sorted()
    }

    /// The value that an attribute has after the change.
    func value(at slot: Int, of record: Record) -> AttributeValue {
        if commonSlots.contains(slot) { return record[slot: slot] }
        return layout.identitySlots.contains(slot) ? .null : layout.attributes[slot].defaultValue
    }

    /// Changes the rows of objects, and removes references to them that their new entity rules out.
    /// Their own links have been removed before.
    ///
    /// - Throws: `SQLKeptRows`; errors of the connection.
    package func run(_ objects: [ObjectID], on connection: some SQLWritingConnection) throws {
        for relationship in model.relationships(of: former, lostBy: layout).leading {
            _ = try connection.change(removal(of: relationship, to: objects))
        }
        let count = try connection.changeAtOnce(update(objects))
        guard count < objects.count else { return }
        throw SQLKeptRows("\(objects.count - count) of \(objects.count) rows from changing their entity", in: table)
    }

    private var table: String { schema.table(of: layout.index) }

    private func removal(of relationship: EntityLayout.Relationship, to objects: [ObjectID]) -> SQLStatementText {
        var parameters = SQLParameters(schema.dialect)
        func leads(_ column: String) -> String {
            schema.dialect.isObject(SQLText.name(column), among: parameters.add(.objects(objects)))
        }
        let text =
            switch schema.relationships[relationship.source][relationship.index] {
            case .column(let link), .inverseColumn(let link):
                "UPDATE \(schema.relation(link.table)) SET \(SQLText.name(link.column)) = NULL WHERE \(leads(link.column))"
            case .join(let link): "DELETE FROM \(schema.relation(link.table)) WHERE \(leads(link.target))"
            }
        return SQLStatementText(text, parameters.bindings)
    }

    private func update(_ objects: [ObjectID]) -> SQLStatementText {
        var parameters = SQLParameters(schema.dialect)
        var assignments = ["\(schema.entityColumn) = \(SQLText.literal(layout.name))"]
        let columns = schema.columns[layout.index]
        for column in schema.columns[former.index] where !columns.contains(column) {
            assignments.append("\(SQLText.name(column)) = NULL")
        }
        for (slot, column) in columns.enumerated() {
            if waitingSlots.contains(slot) {
                assignments.append("\(SQLText.name(column)) = NULL")
            } else if !commonSlots.contains(slot), !layout.attributes[slot].defaultValue.isNull {
                let value = parameters.add(schema.binding(layout.attributes[slot].defaultValue))
                assignments.append("\(SQLText.name(column)) = \(value)")
            }
        }
        let row = schema.dialect.isObject(schema.rowColumn, among: parameters.add(.objects(objects)))
        return SQLStatementText(
            "UPDATE \(schema.relation(table)) SET \(assignments.joined(separator: ", ")) WHERE \(row)",
            parameters.bindings)
    }

    /// The error for a change that the database refuses.
    ///
    /// - Parameters:
    ///   - constraint: What refuses it, without values; nil if that is not known.
    ///   - databaseError: The error of the database.
    ///   - find: Returns the objects of the new entity that have the identities of a batch.
    package func refusal(
        of objects: [StoredRecord], constraint: String?, databaseError: String,
        find: (RecordBatch) throws -> [ObjectID?]
    ) throws -> StoreError {
        var identities = RecordBatch(of: layout)
        for stored in objects where layout.identitySlots.allSatisfy(commonSlots.contains) {
            identities.beginRecord()
            for slot in layout.identitySlots { identities.setValue(stored.record[slot: slot], at: slot) }
            identities.endRecord()
        }
        guard try identities.isEmpty || find(identities).allSatisfy({ $0 == nil }) else {
            return .identityTaken(entity: layout.name)
        }
        let only = objects.count == 1 ? objects.first : nil
        return .refused(
            StoreError.Refusal(
                entity: layout.name, key: only?.key, reason: .check, constraint: constraint, object: only?.object,
                databaseError: databaseError))
    }
}
