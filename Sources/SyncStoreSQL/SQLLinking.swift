package import SyncModel

/// Writes the statements that change the links of one relationship.
package struct SQLLinking: Sendable {
    private let schema: SQLSchema
    private let storage: SQLSchema.Storage
    private let inverseIsOrdered: Bool

    package init(_ relationship: RelationshipLayout, schema: SQLSchema) {
        self.schema = schema
        storage = schema.relationships[relationship.source][relationship.index]
        let inverse = relationship.inverse.map {
            schema.model.layouts[relationship.destination].relationships[$0]
        }
        inverseIsOrdered = inverse?.isOrdered ?? false
    }

    /// Takes a pair off; the parameters are the source and the target.
    package var removal: String {
        let row = schema.rowColumn
        switch storage {
        case .column(let link):
            let column = SQLText.name(link.column)
            return "UPDATE \(SQLText.name(link.table)) SET \(column) = NULL WHERE \(row) = ?1 AND \(column) = ?2"
        case .inverseColumn(let link):
            let column = SQLText.name(link.column)
            return "UPDATE \(SQLText.name(link.table)) SET \(column) = NULL WHERE \(row) = ?2 AND \(column) = ?1"
        case .join(let link):
            return "DELETE FROM \(SQLText.name(link.table)) "
                + "WHERE \(SQLText.name(link.source)) = ?1 AND \(SQLText.name(link.target)) = ?2"
        }
    }

    /// Adds a pair, or gives it another place; the parameters are the source, the target and its place among the source's. A place among
    /// the target's, where the inverse is ordered, is after all that are there.
    package var addition: String {
        let row = schema.rowColumn
        switch storage {
        case .column(let link):
            let table = SQLText.name(link.table)
            let column = SQLText.name(link.column)
            var assignments = "\(column) = ?2"
            if inverseIsOrdered, let position = link.position.map(SQLText.name) {
                assignments +=
                    ", \(position) = (SELECT ifnull(max(o.\(position)), -1) + 1 FROM \(table) o WHERE o.\(column) = ?2)"
            }
            return "UPDATE \(table) SET \(assignments) WHERE \(row) = ?1 AND \(column) IS NOT ?2"
        case .inverseColumn(let link):
            let column = SQLText.name(link.column)
            guard let position = link.position.map(SQLText.name) else {
                return "UPDATE \(SQLText.name(link.table)) SET \(column) = ?1 WHERE \(row) = ?2"
            }
            return "UPDATE \(SQLText.name(link.table)) SET \(column) = ?1, \(position) = ?3 WHERE \(row) = ?2 "
                + "AND (\(column) IS NOT ?1 OR \(position) IS NOT ?3)"
        case .join(let link):
            let table = SQLText.name(link.table)
            let source = SQLText.name(link.source)
            let target = SQLText.name(link.target)
            var names = [source, target]
            var values = ["?1", "?2"]
            if let position = link.position.map(SQLText.name) {
                names.append(position)
                values.append("?3")
            }
            if let position = link.inversePosition.map(SQLText.name) {
                names.append(position)
                values.append("(SELECT ifnull(max(o.\(position)), -1) + 1 FROM \(table) o WHERE o.\(target) = ?2)")
            }
            let conflict =
                link.position.map(SQLText.name).map {
                    "(\(source), \(target)) DO UPDATE SET \($0) = excluded.\($0) WHERE \($0) IS NOT excluded.\($0)"
                } ?? "DO NOTHING"
            return "INSERT INTO \(table) (\(names.joined(separator: ", "))) "
                + "VALUES (\(values.joined(separator: ", "))) ON CONFLICT \(conflict)"
        }
    }

    /// Adds the other direction of a pair of a relationship that is its own inverse, after all that are there; the parameters are the
    /// source and the target of the first direction.
    package var symmetricAddition: String? {
        guard case .join(let link) = storage, link.isSymmetric else { return nil }
        let table = SQLText.name(link.table)
        let source = SQLText.name(link.source)
        let target = SQLText.name(link.target)
        guard let position = link.position.map(SQLText.name) else {
            return "INSERT INTO \(table) (\(source), \(target)) VALUES (?2, ?1) ON CONFLICT DO NOTHING"
        }
        return "INSERT INTO \(table) (\(source), \(target), \(position)) VALUES (?2, ?1, "
            + "(SELECT ifnull(max(o.\(position)), -1) + 1 FROM \(table) o WHERE o.\(source) = ?2)) ON CONFLICT DO NOTHING"
    }

    /// Takes off all pairs of a target, whatever their source; the parameter is the target. For relationships between at most one object and
    /// at most one, whose column is the source's.
    package var release: String? {
        guard case .column(let link) = storage else { return nil }
        let column = SQLText.name(link.column)
        return "UPDATE \(SQLText.name(link.table)) SET \(column) = NULL WHERE \(column) = ?1"
    }
}
