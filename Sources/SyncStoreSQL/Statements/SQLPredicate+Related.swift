import SyncModel

/// Writes conditions on related objects as semi-joins.
///
/// A list of rows is efficient for conditions on many rows. If an index finds only a few rows, the
/// related rows of each are looked up instead.
extension SQLPredicate {
    /// The condition that a row is, or is not, related to a row selected by a normalized predicate.
    ///
    /// - Parameter isNotTrue: Whether to count the rows that the predicate does not select.
    mutating func semiJoin(
        _ relationship: EntityLayout.Relationship, _ predicate: RecordPredicate.Bound, isNotTrue: Bool = false,
        isNegated: Bool,
        entity: Int, alias: String
    ) -> String {
        if isPinned {
            let rows = relatedRows("1", relationship, predicate, isNotTrue: isNotTrue, entity: entity, alias: alias)
            return "\(isNegated ? "NOT " : "")EXISTS (\(rows))"
        }
        let sources = sources(
            relationship, predicate, isNotTrue: isNotTrue, having: nil, entity: entity, alias: alias)
        guard isNegated else { return "\(sources.operand) IN (\(sources.selection))" }
        let condition = "\(sources.operand) NOT IN (\(sources.selection))"
        return sources.isNullable ? "(\(sources.operand) IS NULL OR \(condition))" : condition
    }

    /// The condition that the number of related rows that satisfy a normalized predicate fits a
    /// quantifier.
    mutating func related(
        _ key: PropertyPath.Bound, _ quantifier: PropertyPath.Quantifier, _ predicate: RecordPredicate.Bound,
        isNegated: Bool,
        entity: Int, alias: String
    ) -> String {
        let relationship = key.relationship(in: schema.model)
        switch quantifier {
        case .any:
            return semiJoin(relationship, predicate, isNegated: isNegated, entity: entity, alias: alias)
        case .all:
            return semiJoin(
                relationship, predicate, isNotTrue: true, isNegated: !isNegated, entity: entity, alias: alias)
        case .count(let range) where !relationship.isToMany:
            guard range.contains(0) != range.contains(1) else {
                return schema.dialect.condition(range.contains(0) != isNegated)
            }
            return semiJoin(
                relationship, predicate, isNegated: range.contains(0) != isNegated, entity: entity, alias: alias)
        case .count(let range):
            // A group of a statement is never empty. If 0 fits the quantifier, the condition is
            // that the row is not in a group outside of the range.
            let bounds =
                range.upperBound >= Int.max - 1
                ? ">= \(range.lowerBound)" : "BETWEEN \(range.lowerBound) AND \(range.upperBound)"
            if isPinned {
                let count = relatedRows(
                    "count(*)", relationship, predicate, isNotTrue: false, entity: entity, alias: alias)
                return "\(isNegated ? "NOT " : "")((\(count)) \(bounds))"
            }
            let counted = "count(*) \(bounds)"
            let sources = sources(
                relationship, predicate, isNotTrue: false, having: range.contains(0) ? "NOT (\(counted))" : counted,
                entity: entity, alias: alias)
            let isIn = range.contains(0) == isNegated
            return "\(sources.operand) \(isIn ? "IN" : "NOT IN") (\(sources.selection))"
        }
    }

    /// A statement that selects a term from the related rows of a single row.
    ///
    /// For few rows, looking up their related rows costs less than computing a list for all rows.
    private mutating func relatedRows(
        _ term: String, _ relationship: EntityLayout.Relationship, _ predicate: RecordPredicate.Bound, isNotTrue: Bool,
        entity: Int,
        alias: String
    ) -> String {
        let next = nextAlias()
        var text = rows(term, of: relationship, entity: entity, alias: alias, as: next)
        if predicate != .constant(true) || isNotTrue {
            let condition = normal(predicate, entity: relationship.destination, alias: next)
            text += " AND (\(condition))\(isNotTrue ? " IS NOT TRUE" : "")"
        }
        return text
    }

    /// A statement that selects a term from the rows to which a relationship leads from a row.
    ///
    /// - Parameters:
    ///   - entity: The entity of the row, whose alias is `alias`.
    ///   - next: The alias of the related rows.
    mutating func rows(
        _ term: String, of relationship: EntityLayout.Relationship, entity: Int, alias: String, as next: String
    ) -> String {
        let row = schema.rowColumn
        let found: String
        switch schema.relationships[entity][relationship.index] {
        case .column(let link):
            found =
                "\(schema.relation(link.target)) \(next) "
                + "WHERE \(next).\(row) = \(alias).\(SQLText.name(link.column))"
        case .inverseColumn(let link):
            found =
                "\(schema.relation(link.table)) \(next) "
                + "WHERE \(next).\(SQLText.name(link.column)) = \(alias).\(row)"
        case .join(let link):
            let pair = nextAlias()
            found =
                "\(schema.relation(link.table)) \(pair) JOIN \(schema.relation(link.targetTable)) \(next) "
                + "ON \(next).\(row) = \(pair).\(SQLText.name(link.target)) "
                + "WHERE \(pair).\(SQLText.name(link.source)) = \(alias).\(row)"
        }
        return "SELECT \(term) FROM \(found)\(isKnown(relationship, alias: next))"
    }

    /// Whether an index finds the rows of a condition that is joined with other conditions.
    func pins(_ predicate: RecordPredicate.Bound) -> Bool {
        let key: PropertyPath.Bound
        switch predicate {
        case .comparison(let path, .equal, let value) where !value.isNull: key = path
        case .isIn(let path, let values) where values.count <= 100: key = path
        default: return false
        }
        guard key.steps.isEmpty, case .attribute(let column, _) = key.leaf else { return false }
        return schema.isIndexed(key.entity, column: column)
            || schema.model.layouts[key.entity].identityColumns.first == column
    }

    /// The rows that are related to given rows.
    private struct Sources {
        /// The operand to look up in the selection.
        var operand: String
        /// Whether the operand can be null.
        var isNullable = false
        /// A statement that selects the rows.
        var selection: String
    }

    private mutating func sources(
        _ relationship: EntityLayout.Relationship, _ predicate: RecordPredicate.Bound, isNotTrue: Bool, having: String?,
        entity: Int,
        alias: String
    ) -> Sources {
        let next = nextAlias()
        let row = schema.rowColumn
        var result = Sources(operand: "\(alias).\(row)", selection: "")
        let source: String
        var text: String
        var conditions: [String] = []
        let isKnown = schema.entityCondition(relationship.destination, alias: next)
        switch schema.relationships[entity][relationship.index] {
        case .column(let link):
            result.operand = "\(alias).\(SQLText.name(link.column))"
            result.isNullable = true
            source = "\(next).\(row)"
            text = "SELECT \(source) FROM \(schema.relation(link.target)) \(next)"
        case .inverseColumn(let link):
            source = "\(next).\(SQLText.name(link.column))"
            text = "SELECT \(source) FROM \(schema.relation(link.table)) \(next)"
            conditions.append("\(source) IS NOT NULL")
        case .join(let link):
            let pair = nextAlias()
            source = "\(pair).\(SQLText.name(link.source))"
            text = "SELECT \(source) FROM \(schema.relation(link.table)) \(pair)"
            if predicate != .constant(true) || isNotTrue || isKnown != nil {
                text +=
                    " JOIN \(schema.relation(link.targetTable)) \(next) "
                    + "ON \(next).\(row) = \(pair).\(SQLText.name(link.target))"
            }
        }
        if predicate != .constant(true) || isNotTrue {
            let condition = normal(predicate, entity: relationship.destination, alias: next)
            conditions.append("(\(condition))\(isNotTrue ? " IS NOT TRUE" : "")")
        }
        if let isKnown { conditions.append(isKnown) }
        if !conditions.isEmpty { text += " WHERE \(conditions.joined(separator: " AND "))" }
        if let having { text += " GROUP BY \(source) HAVING \(having)" }
        result.selection = text
        return result
    }

    /// The conditions of several parts. Parts about the same to-one relationship become one
    /// semi-join.
    ///
    /// This is possible because the relationship leads to at most one object.
    mutating func grouped(
        _ parts: [RecordPredicate.Bound], entity: Int, alias: String,
        _ join: ([RecordPredicate.Bound]) -> RecordPredicate.Bound
    ) -> [String] {
        var groups: [(step: EntityLayout.Relationship?, parts: [RecordPredicate.Bound])] = []
        var places: [EntityLayout.Relationship.ID: Int] = [:]
        for part in parts {
            guard let path = part.stepped, !path.holdsForNone else {
                groups.append((nil, [part]))
                continue
            }
            if let place = places[path.step.id] {
                groups[place].parts.append(path.rest)
            } else {
                places[path.step.id] = groups.count
                groups.append((path.step, [path.rest]))
            }
        }
        return groups.map { group in
            let inner = group.parts.count == 1 ? group.parts[0] : join(group.parts)
            guard let step = group.step else { return "(\(normal(inner, entity: entity, alias: alias)))" }
            return semiJoin(step, inner, isNegated: false, entity: entity, alias: alias)
        }
    }
}

extension PredicateTree where Path == PropertyPath.Bound {
    /// The parts of a single condition behind a to-one relationship; nil for any other predicate.
    /// The parts are the relationship, the condition on its destination, and whether it holds
    /// without a related object.
    var stepped: (step: EntityLayout.Relationship, rest: RecordPredicate.Bound, holdsForNone: Bool)? {
        switch self {
        case .comparison(let key, let comparison, let value):
            return key.steps.first.map { ($0, .comparison(key.droppingFirstStep, comparison, value), false) }
        case .isIn(let key, let values):
            return key.steps.first.map { ($0, .isIn(key.droppingFirstStep, values), false) }
        case .text(let key, let match, let text):
            return key.steps.first.map { ($0, .text(key.droppingFirstStep, match, text), false) }
        case .isNull(let key):
            return key.steps.first.map { ($0, .isNull(key.droppingFirstStep), true) }
        case .related(let key, let quantifier, let predicate):
            let holds =
                switch quantifier {
                case .any: false
                case .all: true
                case .count(let range): range.contains(0)
                }
            return key.steps.first.map { ($0, .related(key.droppingFirstStep, quantifier, predicate), holds) }
        case .not(let part):
            guard let (step, rest, holdsForNone) = part.stepped else { return nil }
            // Without an object, comparisons, lists and texts are unknown, even if negated.
            let holds =
                switch part {
                case .isNull, .related: !holdsForNone
                default: false
                }
            return (step, .not(rest), holds)
        case .constant, .and, .or:
            return nil
        }
    }

    /// The negation of a single condition.
    var leafNegation: RecordPredicate.Bound {
        if case .not(let part) = self { part } else { .not(self) }
    }

    /// A comparison of the number of related objects as a condition on them; nil for any other
    /// predicate.
    var counted: RecordPredicate.Bound? {
        guard case .comparison(let key, let comparison, .int(let number)) = self, case .count = key.leaf,
            key.steps.isEmpty
        else { return nil }
        func related(_ range: ClosedRange<Int>) -> RecordPredicate.Bound {
            .related(key, .count(range), .constant(true))
        }
        let highest = Int.max - 1
        guard let number = Int(exactly: number), number < highest else { return nil }
        return switch comparison {
        case .equal: number < 0 ? .constant(false) : related(number...number)
        case .notEqual: number < 0 ? .constant(true) : .not(related(number...number))
        case .less: number <= 0 ? .constant(false) : related(0...number - 1)
        case .lessOrEqual: number < 0 ? .constant(false) : related(0...number)
        case .greater: number < 0 ? .constant(true) : related(number + 1...highest)
        case .greaterOrEqual: number <= 0 ? .constant(true) : related(number...highest)
        }
    }
}
