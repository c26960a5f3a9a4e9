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
    /// The columns of the attributes that both entities have.
    let commonColumns: Range<Int>
    /// The columns of unique indexes that the objects come into. Their values wait, because other
    /// objects may have them.
    let waitingColumns: [Int]
    private let schema: SQLSchema
    private var model: DataModel { schema.model }

    package init(from former: EntityLayout, to layout: EntityLayout, schema: SQLSchema) {
        (self.former, self.layout, self.schema) = (former, layout, schema)
        let model = schema.model
        commonColumns = 0..<model.commonAncestor(of: former, layout).attributes.count
        let gained = model.layouts.filter { layout.isKind(of: $0) && !former.isKind(of: $0) }
        let columns = gained.flatMap { model.indexes(of: $0).filter(\.isUnique).flatMap(\.columns) }
        waitingColumns = Set(columns).subtracting(layout.identityColumns).sorted()
    }

    /// The value that an attribute has after the change.
    func value(at column: Int, of record: Record) -> AttributeValue {
        if commonColumns.contains(column) { return record[column: column] }
        return layout.identityColumns.contains(column) ? .null : layout.attributes[column].defaultValue
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
        let names = schema.columns[layout.index]
        for name in schema.columns[former.index] where !names.contains(name) {
            assignments.append("\(SQLText.name(name)) = NULL")
        }
        for (column, name) in names.enumerated() {
            if waitingColumns.contains(column) {
                assignments.append("\(SQLText.name(name)) = NULL")
            } else if !commonColumns.contains(column), !layout.attributes[column].defaultValue.isNull {
                let value = parameters.add(schema.binding(layout.attributes[column].defaultValue))
                assignments.append("\(SQLText.name(name)) = \(value)")
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
        for stored in objects where layout.identityColumns.allSatisfy(commonColumns.contains) {
            identities.beginRecord()
            for column in layout.identityColumns { identities.setValue(stored.record[column: column], at: column) }
            identities.endRecord()
        }
        // An object of a sub-entity has the identity of one of the entity itself.
        let found = try identities.isEmpty ? [] : find(identities)
        guard zip(found, objects).allSatisfy({ $0 == nil || $0 == $1.object }) else {
            return .identityTaken(entity: layout.name)
        }
        let only = objects.count == 1 ? objects.first : nil
        return .refused(
            StoreError.Refusal(
                entity: layout.name, key: only?.key, reason: .check, constraint: constraint, object: only?.object,
                databaseError: databaseError))
    }
}
