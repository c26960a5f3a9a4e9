import SyncModel

/// Writes the statements that delete objects by the model's delete rules, one set of objects at a
/// time.
///
/// A temporary table collects the rows to delete, with their family and the round that found them.
/// The first round has the requested objects. Each further round has the objects that a cascade
/// reaches from the previous round. A cascade within a family reaches them at any depth at once,
/// unless objects can have several owners: the last owner decides, in the round that found it.
///
/// References whose foreign keys would delete rows are cleared first, because databases delete such
/// rows recursively, up to a limited depth.
package struct SQLRemoval: Sendable {
    /// The statement for one relationship's delete rule.
    package struct Rule: Sendable {
        package let entity: String
        package let relationship: String
        /// The families of the objects to delete and of those that they are related to.
        let source: Int
        let target: Int
        /// Whether one round of a cascade within a family reaches objects at any depth.
        var reachesAll = false
        /// For a cascade, adds the related objects of one round, its parameter, to the next round.
        /// For a denial, selects the entity names of objects to delete that are related to an
        /// object that stays; null if the family has only one entity.
        package let statement: String
    }

    package let schema: SQLSchema
    /// The tables whose foreign keys may be missing or differ from the model's delete rules.
    private let existing: Set<String>
    /// The columns outside of relationships whose foreign keys would delete rows.
    private let foreignCascades: [SQLSchema.ColumnLink]
    /// The temporary table.
    private let doomed: String
    /// The rules that add objects to delete.
    package let cascades: [Rule]
    /// The rules that deny a deletion.
    package let denials: [Rule]

    /// Creates the statements.
    ///
    /// - Parameters:
    ///   - existing: The tables whose foreign keys the store did not create.
    ///   - foreignCascades: The columns outside of relationships whose foreign keys would delete
    ///     rows.
    package init(
        _ schema: SQLSchema, existing: Set<String> = [], foreignCascades: [SQLSchema.ColumnLink] = []
    ) {
        self.schema = schema
        self.existing = existing
        self.foreignCascades = foreignCascades
        let dialect = schema.dialect
        doomed = dialect.doomedTable
        var cascades: [Rule] = []
        var denials: [Rule] = []
        for layout in schema.model.layouts {
            for relationship in layout.relationships where relationship.source == layout.index {
                let pairs = Self.pairs(relationship, schema: schema)
                let family = schema.familyIndex[layout.index]
                let targetFamily = schema.familyIndex[relationship.destination]
                switch relationship.deleteRule {
                case .cascade:
                    let round = dialect.firstNumber
                    let found = "FROM \(doomed) d JOIN \(pairs) p ON p.source = d.row "
                    var condition = "WHERE d.family = \(family) AND d.round = \(round)"
                    if relationship.sharesTargets {
                        condition +=
                            " AND NOT EXISTS (SELECT 1 FROM \(pairs) q WHERE q.target = p.target AND NOT EXISTS "
                            + "(SELECT 1 FROM \(doomed) x WHERE x.family = \(family) AND x.row = q.source))"
                    }
                    let selection =
                        family != targetFamily || relationship.sharesTargets
                        ? "SELECT \(targetFamily), p.target, \(round) + 1 \(found)\(condition)"
                        : "SELECT \(family), f.row, \(round) + 1 FROM (WITH RECURSIVE reached (row) AS "
                            + "(SELECT p.target \(found)\(condition) UNION SELECT p.target FROM reached d "
                            + "JOIN \(pairs) p ON p.source = d.row) SELECT row FROM reached) f"
                    cascades.append(
                        Rule(
                            entity: layout.name, relationship: relationship.name, source: family, target: targetFamily,
                            reachesAll: family == targetFamily && !relationship.sharesTargets,
                            statement: dialect.doomedInsertion(selection)))
                case .deny:
                    let name = schema.families[family].namesEntity ? "o.\(schema.entityColumn)" : "NULL"
                    let statement =
                        "SELECT \(name) FROM \(doomed) d JOIN \(pairs) p ON p.source = d.row "
                        + "JOIN \(schema.relation(schema.families[family].table)) o ON o.\(schema.rowColumn) = d.row "
                        + "WHERE d.family = \(family) AND NOT EXISTS (SELECT 1 FROM \(doomed) x "
                        + "WHERE x.family = \(targetFamily) AND x.row = p.target) LIMIT 1"
                    denials.append(
                        Rule(
                            entity: layout.name, relationship: relationship.name, source: family, target: targetFamily,
                            statement: statement))
                case .nullify, .noAction: break
                }
            }
        }
        self.cascades = cascades
        self.denials = denials
    }

    /// The families whose objects the delete rules can delete with those of an entity, which is
    /// the first.
    package func families(deleting entity: Int) -> [Int] {
        var families = [schema.familyIndex[entity]]
        var place = 0
        while place < families.count {
            for rule in cascades where rule.source == families[place] && !families.contains(rule.target) {
                families.append(rule.target)
            }
            place += 1
        }
        return families
    }

    /// The cascades to follow in each round from the objects of an entity; nil if they form a
    /// circle, so that the number of rounds depends on the objects.
    package func rounds(deleting entity: Int) -> [[Rule]]? {
        var rounds: [[Rule]] = []
        var reached: [(family: Int, by: Int?)] = [(schema.familyIndex[entity], nil)]
        while true {
            let next = cascades.indices.filter { index in
                reached.contains { family, origin in
                    family == cascades[index].source && !(origin == index && cascades[index].reachesAll)
                }
            }
            guard !next.isEmpty else { return rounds }
            // Without a circle, no path follows a rule twice.
            guard rounds.count < cascades.count else { return nil }
            rounds.append(next.map { cascades[$0] })
            reached = next.map { (cascades[$0].target, $0) }
        }
    }

    /// The pairs of a relationship as a subquery with the columns `source` and `target`.
    private static func pairs(_ relationship: EntityLayout.Relationship, schema: SQLSchema) -> String {
        let row = schema.rowColumn
        switch schema.relationships[relationship.source][relationship.index] {
        case .column(let link):
            let column = SQLText.name(link.column)
            return "(SELECT \(row) AS source, \(column) AS target FROM \(schema.relation(link.table)) "
                + "WHERE \(column) IS NOT NULL)"
        case .inverseColumn(let link):
            return
                "(SELECT \(SQLText.name(link.column)) AS source, \(row) AS target FROM \(schema.relation(link.table)) "
                + "WHERE \(SQLText.name(link.column)) IS NOT NULL)"
        case .join(let link):
            return "(SELECT \(SQLText.name(link.source)) AS source, \(SQLText.name(link.target)) AS target "
                + "FROM \(schema.relation(link.table)))"
        }
    }

    /// Adds the rows of a statement as the first round.
    package func start(_ selection: SQLStatementText, entity: Int) -> SQLStatementText {
        SQLStatementText(
            "INSERT INTO \(doomed) (family, row, round) "
                + "SELECT \(schema.familyIndex[entity]), s.*, 0 FROM (\(selection.text)) s", selection.bindings)
    }

    /// Counts the objects to delete by family. The columns are the family and the number.
    package var familyCounts: String {
        "SELECT family, count(*) FROM \(doomed) GROUP BY family"
    }

    /// Counts a family's objects to delete by entity. The columns are the entity name and the
    /// number. Nil if the family has only one entity.
    package func entityCounts(family: Int) -> String? {
        guard schema.families[family].namesEntity else { return nil }
        return "SELECT o.\(schema.entityColumn), count(*) FROM \(doomed) d "
            + "JOIN \(schema.relation(schema.families[family].table)) o ON o.\(schema.rowColumn) = d.row "
            + "WHERE d.family = \(family) GROUP BY 1"
    }

    /// Selects the keys of a family's objects to delete, in the order of their rows; see
    /// ``SQLQueries/keyColumns(family:)``.
    ///
    /// - Parameter condition: A further condition for the row `o`; nil for none.
    package func keys(family: Int, where condition: String? = nil) -> String {
        let columns = SQLQueries(schema).keyColumns(family: family)
        var terms = ["o.\(schema.rowColumn)"]
        if columns.namesEntity { terms.append("o.\(schema.entityColumn)") }
        terms += columns.terms(of: "o", schema.dialect)
        return "SELECT \(terms.joined(separator: ", ")) FROM \(doomed) d "
            + "JOIN \(schema.relation(schema.families[family].table)) o ON o.\(schema.rowColumn) = d.row "
            + "WHERE d.family = \(family)\(condition.map { " AND \($0)" } ?? "") ORDER BY d.row"
    }

    /// A foreign key to an entity's table.
    package struct Reference: Sendable {
        /// The table that has the foreign key.
        package let table: String
        /// The family whose table it refers to.
        package let family: Int
        /// The condition that a row of the foreign key refers to the row `o`.
        let condition: String

        /// - Parameters:
        ///   - relation: The name of the table in statements.
        ///   - columns: The columns of the foreign key, each with the one that it refers to.
        package init(
            _ table: String, relation: String, family: Int, columns: [(column: String, target: String)]
        ) {
            self.table = table
            self.family = family
            let equalities = columns.map { "r.\(SQLText.name($0)) = o.\(SQLText.name($1))" }
            condition = "EXISTS (SELECT 1 FROM \(relation) r WHERE \(equalities.joined(separator: " AND ")))"
        }
    }

    /// A possible reference to objects to delete, by a foreign key of another tool.
    package struct Release: Hashable, Sendable {
        package let table: String
        /// Removes the references.
        package let statement: String
        /// Selects a row that still has a reference.
        package let remaining: String
    }

    /// The columns of entity tables whose foreign keys are not the store's own.
    private var foreignLinks: [SQLSchema.ColumnLink] {
        schema.references.joined().map(\.link).filter { existing.contains($0.table) } + foreignCascades
    }

    /// The columns whose own foreign keys delete rows.
    private var cascadingLinks: [SQLSchema.ColumnLink] {
        schema.references.joined().filter { $0.rule == .cascade && !existing.contains($0.link.table) }.map(\.link)
    }

    /// Sorts families so that rows are deleted before those that they refer to, unless references
    /// form a circle.
    package func deletionOrder(_ families: [Int]) -> [Int] {
        let links = Set((foreignLinks + cascadingLinks).map { [$0.table, $0.target] })
        func refers(_ family: Int, to target: Int) -> Bool {
            family != target && links.contains([schema.families[family].table, schema.families[target].table])
        }
        var rest = families
        var order: [Int] = []
        while let first = rest.first {
            let next = rest.first { target in !rest.contains { refers($0, to: target) } } ?? first
            order.append(next)
            rest.removeAll { $0 == next }
        }
        return order
    }

    /// The possible references to a family's objects to delete, by foreign keys of other tools and
    /// by foreign keys that delete rows.
    ///
    /// - Parameter earlier: The families whose objects are deleted before. Their references are
    ///   deleted with them, and may be in columns that cannot be cleared.
    package func releases(family: Int, after earlier: [Int] = []) -> [Release] {
        let table = schema.families[family].table
        let objects = "IN (SELECT row FROM \(doomed) WHERE family = \(family))"
        let deleted = Set(earlier.map { schema.families[$0].table })
        // A cascade reaches all objects with references, so none remain in the earlier families.
        let columns = (foreignLinks + cascadingLinks.filter { !deleted.contains($0.table) }).filter {
            $0.target == table
        }
        let ends = schema.joins.filter { existing.contains($0.table) }.flatMap { join in
            [(join.table, join.source, join.sourceTable), (join.table, join.target, join.targetTable)]
        }
        func release(_ table: String, _ column: String, _ statement: String) -> Release {
            var condition = "WHERE \(SQLText.name(column)) \(objects)"
            if let family = earlier.first(where: { schema.families[$0].table == table }) {
                condition += " AND \(schema.rowColumn) NOT IN (SELECT row FROM \(doomed) WHERE family = \(family))"
            }
            return Release(
                table: table, statement: "\(statement) \(condition)",
                remaining: "SELECT 1 FROM \(schema.relation(table)) \(condition) LIMIT 1")
        }
        return columns.map { link in
            let names = [link.column] + (link.position.map { [$0] } ?? [])
            return release(
                link.table, link.column,
                "UPDATE \(schema.relation(link.table)) "
                    + "SET \(names.map { "\(SQLText.name($0)) = NULL" }.joined(separator: ", "))")
        }
            + ends.filter { $0.2 == table }.map { join, column, _ in
                release(join, column, "DELETE FROM \(schema.relation(join))")
            }
    }

    /// Deletes the objects of a family; foreign keys remove references to them.
    package func deletion(family: Int) -> String {
        "DELETE FROM \(doomedRows(family: family))"
    }

    /// Selects one of a family's objects to delete that still exists.
    func remaining(family: Int) -> String {
        "SELECT 1 FROM \(doomedRows(family: family)) LIMIT 1"
    }

    private func doomedRows(family: Int) -> String {
        "\(schema.relation(schema.families[family].table)) WHERE \(schema.rowColumn) IN "
            + "(SELECT row FROM \(doomed) WHERE family = \(family))"
    }
}
