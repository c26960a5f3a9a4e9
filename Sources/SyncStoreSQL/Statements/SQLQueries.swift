package import SyncModel
package import SyncStore

/// Writes the statements that read objects and links.
package struct SQLQueries: Sendable {

    package let schema: SQLSchema

    package init(_ schema: SQLSchema) {
        self.schema = schema
    }

    /// The columns of a statement that reads records. They are the row number, the entity name if
    /// the family has several entities, and the attributes.
    package struct Columns: Sendable {
        /// Whether the second column is the entity name.
        package let namesEntity: Bool
        /// The names of the attribute columns.
        package let names: [String]
        /// The types of the attribute columns.
        package let types: [AttributeType]
        /// For each possible entity, by its index in the model, the columns of its columns. When
        /// reading keys, only of its identity columns. Columns are counted from 0.
        package let places: [Int: [Int]]

        /// The expressions that select the attribute columns.
        func terms(of alias: String, _ dialect: any SQLDialect) -> [String] {
            zip(names, types).map { dialect.selected("\(alias).\(SQLText.name($0))", as: $1) }
        }
    }

    /// The columns of statements that read an entity's objects.
    package func columns(of entity: Int) -> Columns {
        columns(of: entity) { Array(schema.model.layouts[$0].attributes.indices) }
    }

    /// The columns of the statement that reads the keys of a family's objects.
    package func keyColumns(family: Int) -> Columns {
        columns(of: schema.families[family].root) { schema.model.layouts[$0].identityColumns }
    }

    /// - Parameter wanted: Returns the columns of a member of the family.
    private func columns(of entity: Int, _ wanted: (Int) -> [Int]) -> Columns {
        let layout = schema.model.layouts[entity]
        let namesEntity = schema.families[schema.familyIndex[entity]].namesEntity
        var names: [String] = []
        var types: [AttributeType] = []
        var index: [String: Int] = [:]
        var places: [Int: [Int]] = [:]
        for member in layout.family {
            places[member] = wanted(member).map { column in
                let name = schema.columns[member][column]
                if let known = index[name] { return known }
                let place = names.count + (namesEntity ? 2 : 1)
                index[name] = place
                names.append(name)
                types.append(schema.model.layouts[member].attributes[column].type)
                return place
            }
        }
        return Columns(namesEntity: namesEntity, names: names, types: types, places: places)
    }

    /// The statement that reads the objects of a query, in order.
    ///
    /// - Parameters:
    ///   - query: A query of an entity of the model.
    ///   - objectSet: The number of the set of excluded objects on the connection; required for
    ///     `.except`.
    /// - Throws: `ModelError`, `RecordPredicateError`.
    package func records(_ query: StoreQuery, objectSet: Int64?) throws -> SQLStatementText {
        let layout = try schema.model.layout(of: query.entity)
        let columns = columns(of: layout.index)
        var terms = ["t.\(schema.rowColumn)"]
        if columns.namesEntity { terms.append("t.\(schema.entityColumn)") }
        terms += columns.terms(of: "t", schema.dialect)
        return try select(terms.joined(separator: ", "), query, layout: layout, objectSet: objectSet, isOrdered: true)
    }

    /// The statement that reads the row numbers of a query's objects.
    package func rows(_ query: StoreQuery, objectSet: Int64?) throws -> SQLStatementText {
        let layout = try schema.model.layout(of: query.entity)
        let isOrdered = query.limit != nil || query.offset > 0
        return try select(
            "t.\(schema.rowColumn)", query, layout: layout, objectSet: objectSet, isOrdered: isOrdered)
    }

    /// The statement that counts the objects of a query.
    package func count(_ query: StoreQuery, objectSet: Int64?) throws -> SQLStatementText {
        var parameters = SQLParameters(schema.dialect)
        let text = try count(query, objectSet: objectSet, &parameters)
        return SQLStatementText(text, parameters.bindings)
    }

    /// The statement that counts the objects of each query, one column for each. It needs a
    /// dialect without sets of excluded objects.
    package func counts(of queries: [StoreQuery]) throws -> SQLStatementText {
        var parameters = SQLParameters(schema.dialect)
        let terms = try queries.map { "(\(try count($0, objectSet: nil, &parameters)))" }
        return SQLStatementText("SELECT \(terms.joined(separator: ", "))", parameters.bindings)
    }

    private func count(
        _ query: StoreQuery, objectSet: Int64?, _ parameters: inout SQLParameters
    ) throws -> String {
        let layout = try schema.model.layout(of: query.entity)
        // The ordering does not affect the number, but its names are verified.
        for ordering in query.ordering { _ = try ordering.bound(to: layout, in: schema.model) }
        let isWhole = query.limit == nil && query.offset == 0
        let counted = try select(
            isWhole ? "count(*)" : "1", query, layout: layout, objectSet: objectSet, isOrdered: false, &parameters)
        return isWhole ? counted : "SELECT count(*) FROM (\(counted)) s"
    }

    // MARK: Selections

    /// The statement that returns the rows of a selection.
    package func rows(_ selection: BoundSelection, objectSet: Int64?) -> SQLStatementText {
        let entity = selection.entity.index
        var writer = SQLPredicate(schema, after: SQLParameters(schema.dialect))
        var terms: [String] = []
        // The expressions by which rows are grouped and ordered.
        let isGrouped = selection.isGrouped || selection.isDistinct
        var keys: [String] = []
        for (column, type) in zip(selection.columns, selection.types) {
            switch column {
            case .object:
                terms.append("t.\(schema.rowColumn)")
                keys.append("t.\(schema.rowColumn)")
            case .value(let key):
                var expression = writer.expression(key, entity: entity, alias: "t")
                // The groups have the same expressions as the order, so that one index serves both.
                if isGrouped { expression = "(\(expression)\(writer.collation(key)))" }
                terms.append(schema.dialect.selected(expression, as: type))
                keys.append(expression)
            case .target(let key):
                let expression = writer.expression(key, entity: entity, alias: "t")
                terms.append(expression)
                keys.append(expression)
            case .count: terms.append("count(*)")
            case .aggregate(let function, let key):
                let expression = writer.expression(key, entity: entity, alias: "t") + writer.collation(key)
                terms.append(
                    schema.dialect.selected(schema.dialect.aggregate(function, expression, as: type), as: type))
            }
        }
        var text = "SELECT \(terms.joined(separator: ", ")) FROM \(schema.relation(schema.table(of: entity))) t"
        var conditions = conditions(
            selection.predicate, selection.objects, of: selection.entity, objectSet: objectSet, &writer)
        if let after = selection.after {
            conditions.append(writer.isAfter(after, selection.ordering, entity: entity, alias: "t"))
        }
        if !conditions.isEmpty { text += " WHERE \(conditions.joined(separator: " AND "))" }
        if isGrouped {
            if !keys.isEmpty {
                text += " GROUP BY \(keys.joined(separator: ", "))"
                text += " ORDER BY \(keys.map { "\($0) ASC NULLS FIRST" }.joined(separator: ", "))"
            }
        } else {
            let ordering = selection.orderingAfterPosition
            text += " ORDER BY \(writer.order(ordering, entity: entity, alias: "t"))"
        }
        text += page(limit: selection.limit, offset: selection.offset, &writer.parameters)
        return SQLStatementText(text, writer.parameters.bindings)
    }

    private func conditions(
        _ predicate: RecordPredicate.Bound, _ objects: StoreQuery.Objects, of layout: EntityLayout, objectSet: Int64?,
        _ writer: inout SQLPredicate
    ) -> [String] {
        var conditions: [String] = []
        if predicate != .constant(true) {
            conditions.append("(\(writer.condition(predicate, entity: layout.index, alias: "t")))")
        }
        if let condition = schema.entityCondition(layout.index, alias: "t") { conditions.append(condition) }
        let row = "t.\(schema.rowColumn)"
        switch objects {
        case .all: break
        case .only(let objects):
            conditions.append(schema.dialect.isObject(row, among: writer.parameters.add(.objects(objects))))
        case .except(let objects):
            conditions.append(
                "NOT \(schema.dialect.isObject(row, in: objects, number: objectSet, &writer.parameters))")
        }
        return conditions
    }

    private func page(limit: Int?, offset: Int, _ parameters: inout SQLParameters) -> String {
        guard limit != nil || offset > 0 else { return "" }
        let limit = limit.map { SQLBinding.integer(Int64(max($0, 0))) } ?? schema.dialect.noLimit
        return " LIMIT \(parameters.add(limit)) OFFSET \(parameters.add(.integer(Int64(offset))))"
    }

    private func select(
        _ terms: String, _ query: StoreQuery, layout: EntityLayout, objectSet: Int64?, isOrdered: Bool
    ) throws -> SQLStatementText {
        var parameters = SQLParameters(schema.dialect)
        let text = try select(
            terms, query, layout: layout, objectSet: objectSet, isOrdered: isOrdered, &parameters)
        return SQLStatementText(text, parameters.bindings)
    }

    private func select(
        _ terms: String, _ query: StoreQuery, layout: EntityLayout, objectSet: Int64?, isOrdered: Bool,
        _ parameters: inout SQLParameters
    ) throws -> String {
        let predicate = try query.predicate.bound(to: layout, in: schema.model)
        let ordering = try query.ordering.map { try $0.bound(to: layout, in: schema.model) }
        var writer = SQLPredicate(schema, after: parameters)
        let conditions = conditions(predicate, query.objects, of: layout, objectSet: objectSet, &writer)
        var text = "SELECT \(terms) FROM \(schema.relation(schema.table(of: layout.index))) t"
        if !conditions.isEmpty { text += " WHERE \(conditions.joined(separator: " AND "))" }
        if isOrdered { text += " ORDER BY \(writer.order(ordering, entity: layout.index, alias: "t"))" }
        text += page(limit: query.limit, offset: query.offset, &writer.parameters)
        parameters = writer.parameters
        return text
    }

    // MARK: Links

    /// The statement that reads pairs of a relationship's sources and targets, the targets of a
    /// source in order.
    ///
    /// - Parameters:
    ///   - isReading: Whether to leave out targets of entities that the model does not have. A
    ///     change of links takes them into account.
    ///   - givesPositions: Whether the targets of a source are in the order of their numbers, and
    ///     the position of each, if it has one, is a third column; false by default.
    ///   - rows: The expression for the rows to start from; nil, the default, for the statement's
    ///     only parameter.
    package func links(
        _ relationship: EntityLayout.Relationship, isReading: Bool = false, givesPositions: Bool = false,
        of rows: String? = nil
    ) -> String {
        func isRow(_ expression: String) -> String { self.isRow(expression, among: rows) }
        let row = "t.\(schema.rowColumn)"
        func select(_ source: String, _ target: String, _ position: String?, from table: String) -> String {
            let position = position.map { ", t.\(SQLText.name($0))" } ?? ""
            let (column, order) = givesPositions ? (position, "") : ("", position)
            return "SELECT \(source), \(target)\(column) FROM \(schema.relation(table)) t "
                + "WHERE \(isRow(source))\(known(target)) ORDER BY \(source)\(order), \(target)"
        }
        func known(_ target: String) -> String { isReading ? schema.knownCondition(relationship, target) : "" }
        switch schema.relationships[relationship.source][relationship.index] {
        case .column(let link):
            let column = "t.\(SQLText.name(link.column))"
            return "SELECT \(row), \(column) FROM \(schema.relation(link.table)) t "
                + "WHERE \(isRow(row)) AND \(column) IS NOT NULL\(known(column))"
        case .inverseColumn(let link):
            let column = "t.\(SQLText.name(link.column))"
            return select(column, row, relationship.isOrdered ? link.position : nil, from: link.table)
        case .join(let link):
            let source = "t.\(SQLText.name(link.source))"
            let target = "t.\(SQLText.name(link.target))"
            return select(source, target, link.position, from: link.table)
        }
    }

    /// The statement that selects the objects of an entity among rows.
    ///
    /// - Parameter rows: The expression for the rows; nil, the default, for the statement's only
    ///   parameter.
    package func existing(_ entity: Int, of rows: String? = nil) -> String {
        let condition = schema.entityCondition(entity, alias: "t").map { " AND \($0)" } ?? ""
        return "SELECT t.\(schema.rowColumn) FROM \(schema.relation(schema.table(of: entity))) t "
            + "WHERE \(isRow("t.\(schema.rowColumn)", among: rows))\(condition)"
    }

    /// The condition that a row is among others; if they are nil, those in the statement's only
    /// parameter.
    private func isRow(_ expression: String, among rows: String?) -> String {
        schema.dialect.isObject(expression, among: rows ?? schema.dialect.placeholder(1, for: .objects([])))
    }

    /// Any number of row numbers as a JSON array, for a single parameter.
    package static func list(_ rows: [ObjectID]) -> String {
        var text = [UInt8(ascii: "[")]
        text.reserveCapacity(rows.count * 8 + 2)
        for row in rows {
            if text.count > 1 { text.append(UInt8(ascii: ",")) }
            text += String(row).utf8
        }
        text.append(UInt8(ascii: "]"))
        return String(decoding: text, as: UTF8.self)
    }
}
