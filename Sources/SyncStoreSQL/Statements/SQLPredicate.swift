import Foundation
package import SyncModel

/// Writes predicates and orderings as SQL with the same results as in memory.
///
/// A path through to-one relationships becomes a scalar subquery. As in memory, it is null if there
/// is no object at the end of the path.
package struct SQLPredicate {
    /// The maximum number of parameters of an `IN`; further values are written as literals.
    private static let parameterLimit = 500

    /// The parameters written so far.
    var parameters: SQLParameters
    let schema: SQLSchema
    private var aliasCount = 0
    /// Whether an index finds the rows of the current condition.
    var isPinned = false

    /// Creates a writer.
    ///
    /// - Parameter parameters: The parameters of the preceding text.
    init(_ schema: SQLSchema, after parameters: SQLParameters) {
        self.schema = schema
        self.parameters = parameters
    }

    private var dialect: any SQLDialect {
        schema.dialect
    }

    /// The condition of a predicate on the rows of an entity's table.
    ///
    /// A condition on related objects becomes a semi-join.
    ///
    /// - Parameters:
    ///   - predicate: A predicate that is bound to the entity.
    ///   - entity: The index of the entity in the model.
    ///   - alias: The name of the table in the statement.
    package mutating func condition(_ predicate: RecordPredicate.Bound, entity: Int, alias: String) -> String {
        normal(predicate.normalized, entity: entity, alias: alias)
    }

    /// The condition of a normalized predicate, whose unknown parts count as false.
    mutating func normal(_ predicate: RecordPredicate.Bound, entity: Int, alias: String) -> String {
        if let cases = cases(predicate, entity: entity, alias: alias) { return cases }
        switch predicate {
        case .constant(let holds): return dialect.condition(holds)
        case .and(let parts):
            let wasPinned = isPinned
            defer { isPinned = wasPinned }
            if parts.contains(where: pins) { isPinned = true }
            let conditions = grouped(parts, entity: entity, alias: alias) { .and($0) }
            return conditions.isEmpty ? dialect.condition(true) : Self.joined(conditions, by: " AND ")
        case .or(let parts):
            let conditions = grouped(Self.gathered(parts), entity: entity, alias: alias) { .or($0) }
            return conditions.isEmpty ? dialect.condition(false) : Self.joined(conditions, by: " OR ")
        default:
            guard let path = predicate.stepped else { return leaf(predicate, entity: entity, alias: alias) }
            return semiJoin(
                path.step, path.holdsForNone ? path.rest.leafNegation : path.rest, isNegated: path.holdsForNone,
                entity: entity, alias: alias)
        }
    }

    /// A condition on the entity's own row or on one of its relationships.
    private mutating func leaf(_ predicate: RecordPredicate.Bound, entity: Int, alias: String) -> String {
        switch predicate {
        case .comparison(let key, let comparison, let value):
            if let counted = predicate.counted { return normal(counted, entity: entity, alias: alias) }
            return self.comparison(key, comparison, value, entity: entity, alias: alias)
        case .isIn(let key, let values):
            return isIn(key, values, entity: entity, alias: alias)
        case .isNull(let key):
            return "\(expression(key, entity: entity, alias: alias)) IS NULL"
        case .text(let key, let match, let text):
            return self.text(key, match, text, entity: entity, alias: alias)
        case .related(let key, let quantifier, let part):
            return related(key, quantifier, part, isNegated: false, entity: entity, alias: alias)
        case .not(.related(let key, let quantifier, let part)):
            return related(key, quantifier, part, isNegated: true, entity: entity, alias: alias)
        case .not(let part):
            return "NOT (\(leaf(part, entity: entity, alias: alias)))"
        case .constant, .and, .or:
            return normal(predicate, entity: entity, alias: alias)
        }
    }

    /// The terms of an `ORDER BY`. The row number is last, so that the order is always the same.
    package mutating func order(_ orderings: [Ordering.Bound], entity: Int, alias: String) -> String {
        var terms: [String] = []
        for ordering in orderings {
            let expression = expression(ordering.key, entity: entity, alias: alias)
            let direction = ordering.ascending ? "ASC" : "DESC"
            let nulls = ordering.nulls == .first ? "FIRST" : "LAST"
            // An index supports the order by the prefix that it contains. The whole values decide
            // ties.
            if let part = indexedPart(of: expression, ordering.key) {
                terms.append("\(part) \(direction) NULLS \(nulls)")
            }
            terms.append("\(expression)\(collation(ordering.key)) \(direction) NULLS \(nulls)")
        }
        terms.append("\(alias).\(schema.rowColumn)")
        return terms.joined(separator: ", ")
    }

    // MARK: Conditions

    mutating func comparison(
        _ key: PropertyPath.Bound, _ comparison: PropertyPath.Comparison, _ value: AttributeValue, entity: Int,
        alias: String
    ) -> String {
        let expression = expression(key, entity: entity, alias: alias)
        switch value {
        case .null:
            return "NULL"
        case .double(let number) where number.isNaN:
            // NaN comes before all numbers, and no column has it.
            return constant([.greater, .greaterOrEqual, .notEqual].contains(comparison), for: expression)
        case .decimal where isInteger(key):
            return compareWhole(expression, comparison, with: value)
        case .double where isInteger(key) && !dialect.comparesNumbersExactly:
            return compareWhole(expression, comparison, with: value)
        case .int(let number) where isReal(key) && !dialect.comparesNumbersExactly:
            // The binding is the double that equals the number, if there is one.
            let near = Double(number)
            let isBelow = AttributeValue.double(near).compare(value) == .orderedAscending
            return compare(expression, comparison, withNextAfter: .real(isBelow ? near : near.nextDown))
        default:
            let binding = schema.binding(value)
            // A database uses a partial index only if the statement contains the condition of the
            // index.
            if key.steps.isEmpty, schema.isIndexCondition(.comparison(key, comparison, value)),
                let literal = dialect.literal(binding)
            {
                return "\(expression) \(comparison.rawValue) \(literal)"
            }
            let placeholder = parameters.add(binding)
            var conditions = ["\(expression)\(collation(key)) \(comparison.rawValue) \(placeholder)"]
            if let inclusive = comparison.inclusive, let part = indexedPart(of: expression, key),
                let valuePart = indexedPart(of: placeholder, key)
            {
                conditions.append("\(part) \(inclusive.rawValue) \(valuePart)")
            }
            if comparison == .equal, let lookup = lookup(key, [value], alias: alias) { conditions.append(lookup) }
            return Self.all(conditions)
        }
    }

    /// Compares a whole number exactly with a number that may be fractional. Uses that number
    /// itself if it is whole, otherwise the next lower whole number.
    private mutating func compareWhole(
        _ expression: String, _ comparison: PropertyPath.Comparison, with number: AttributeValue
    )
        -> String
    {
        guard let (whole, isExact) = number.wholeNumber else {
            let isGreater = number.compare(.int(0)) == .orderedDescending
            let holds =
                isGreater
                ? [.less, .lessOrEqual, .notEqual].contains(comparison)
                : [.greater, .greaterOrEqual, .notEqual].contains(comparison)
            return constant(holds, for: expression)
        }
        if isExact { return "\(expression) \(comparison.rawValue) \(parameters.add(.integer(whole)))" }
        return compare(expression, comparison, withNextAfter: .integer(whole))
    }

    /// Compares with a number that the expression never equals, because it lies between two values.
    private mutating func compare(
        _ expression: String, _ comparison: PropertyPath.Comparison, withNextAfter lower: SQLBinding
    ) -> String {
        switch comparison {
        case .equal, .notEqual: constant(comparison == .notEqual, for: expression)
        case .less, .lessOrEqual: "\(expression) <= \(parameters.add(lower))"
        case .greater, .greaterOrEqual: "\(expression) > \(parameters.add(lower))"
        }
    }

    /// A constant condition that is unknown if the expression is null.
    private func constant(_ holds: Bool, for expression: String) -> String {
        holds ? "(\(expression) IS NOT NULL OR NULL)" : "(\(expression) IS NULL AND NULL)"
    }

    private mutating func isIn(_ key: PropertyPath.Bound, _ values: [AttributeValue], entity: Int, alias: String)
        -> String
    {
        guard !values.isEmpty else { return dialect.condition(false) }
        let expression = expression(key, entity: entity, alias: alias)
        var bound: [SQLBinding] = []
        for value in values {
            switch value {
            case .double(let number) where number.isNaN: continue
            case .decimal where isInteger(key): if let whole = value.exactWholeNumber { bound.append(.integer(whole)) }
            case .double where isInteger(key) && !dialect.comparesNumbersExactly:
                if let whole = value.exactWholeNumber { bound.append(.integer(whole)) }
            case .int where isReal(key) && !dialect.comparesNumbersExactly: continue
            default: bound.append(schema.binding(value))
            }
        }
        guard !bound.isEmpty else { return constant(false, for: expression) }
        var terms: [String] = []
        for binding in bound {
            if bound.count > Self.parameterLimit, let literal = dialect.literal(binding) {
                terms.append(literal)
            } else {
                terms.append(parameters.add(binding))
            }
        }
        var conditions = ["\(expression)\(collation(key)) IN (\(terms.joined(separator: ", ")))"]
        if let part = indexedPart(of: expression, key) {
            let parts = terms.compactMap { indexedPart(of: $0, key) }
            conditions.append("\(part) IN (\(parts.joined(separator: ", ")))")
        }
        if let lookup = lookup(key, values, alias: alias) { conditions.append(lookup) }
        return Self.all(conditions)
    }

    /// The conjunction of conditions.
    private static func all(_ conditions: [String]) -> String {
        conditions.count == 1 ? conditions[0] : "(\(conditions.joined(separator: " AND ")))"
    }

    /// A comparison of texts by their bytes.
    private mutating func text(
        _ key: PropertyPath.Bound, _ match: PropertyPath.TextMatch, _ text: String, entity: Int, alias: String
    ) -> String {
        let expression = expression(key, entity: entity, alias: alias)
        guard !text.isEmpty || match == .like else { return constant(true, for: expression) }
        let range = range(key, match, text, of: expression)
        return Self.all(
            range + [dialect.textCondition(expression, collation: collation(key), match, text, &parameters)])
    }

    /// The conditions that a text is in the range of texts with the required beginning, for use
    /// with an index. Empty if the match does not require a beginning.
    private mutating func range(
        _ key: PropertyPath.Bound, _ match: PropertyPath.TextMatch, _ text: String, of expression: String
    ) -> [String] {
        guard key.steps.isEmpty, case .attribute(_, let type) = key.leaf, type == .string || type == .uri else {
            return []
        }
        let prefix: String
        switch match {
        case .beginsWith: prefix = text
        case .like: prefix = LikePattern.literalPrefix(of: text)
        case .contains, .endsWith: return []
        }
        // An indexed prefix has room for twice as many characters, in case the database stores some
        // as two.
        var start = String.UnicodeScalarView()
        start.append(contentsOf: prefix.unicodeScalars.prefix(64))
        guard !start.isEmpty else { return [] }
        let operand = indexedPart(of: expression, key) ?? expression + collation(key)
        var conditions = ["\(operand) >= \(parameters.add(schema.binding(.string(String(start)))))"]
        if let end = String(start).endOfPrefix {
            conditions.append("\(operand) < \(parameters.add(schema.binding(.string(end))))")
        }
        return conditions
    }

    /// An additional condition with which rows are found by the index of their identity; nil if
    /// none is needed.
    private func lookup(_ key: PropertyPath.Bound, _ values: [AttributeValue], alias: String) -> String? {
        guard key.steps.isEmpty, case .attribute(let column, _) = key.leaf else { return nil }
        let bytes = values.map { value in
            switch schema.binding(value) {
            case .text(let text): text.utf8.count
            case .blob(let data): data.count
            default: 0
            }
        }
        return schema.shortLookup(key.entity, column: column, bytes: bytes.max() ?? 0, alias: alias)
    }

    /// The prefix of an attribute's value that its indices contain. Nil if they contain whole
    /// values, or if there are no indices.
    private func indexedPart(of expression: String, _ key: PropertyPath.Bound) -> String? {
        guard key.steps.isEmpty, case .attribute(let column, let type) = key.leaf,
            schema.isIndexed(key.entity, column: column)
        else { return nil }
        return dialect.indexedPart(expression, type)
    }

    // MARK: Expressions

    private func isInteger(_ key: PropertyPath.Bound) -> Bool {
        switch key.leaf {
        case .attribute(_, let type): type.isInteger
        case .count: true
        case .target: false
        }
    }

    private func isReal(_ key: PropertyPath.Bound) -> Bool {
        if case .attribute(_, let type) = key.leaf { type == .double || type == .float } else { false }
    }

    func collation(_ key: PropertyPath.Bound) -> String {
        guard case .attribute(_, let type) = key.leaf else { return "" }
        return dialect.collation(type)
    }

    mutating func expression(_ key: PropertyPath.Bound, entity: Int, alias: String) -> String {
        expression(key, step: 0, entity: entity, alias: alias)
    }

    private mutating func expression(_ key: PropertyPath.Bound, step: Int, entity: Int, alias: String) -> String {
        guard step < key.steps.count else { return leaf(key, alias: alias) }
        let relationship = key.steps[step]
        let next = nextAlias()
        let rest = expression(key, step: step + 1, entity: relationship.destination, alias: next)
        return "(\(rows(rest, of: relationship, entity: entity, alias: alias, as: next)))"
    }

    private mutating func leaf(_ key: PropertyPath.Bound, alias: String) -> String {
        switch key.leaf {
        case .attribute(let column, _):
            return schema.dialect.operand(
                "\(alias).\(SQLText.name(schema.columns[key.entity][column]))",
                as: schema.model.layouts[key.entity].attributes[column].type)
        case .target(let index):
            let relationship = schema.model.layouts[key.entity].relationships[index]
            if case .column(let link) = schema.relationships[key.entity][index],
                schema.entityCondition(relationship.destination, alias: "") == nil
            {
                return "\(alias).\(SQLText.name(link.column))"
            }
            let next = nextAlias()
            let row = "\(next).\(schema.rowColumn)"
            return "(\(rows(row, of: relationship, entity: key.entity, alias: alias, as: next)))"
        case .count(let index):
            let relationship = schema.model.layouts[key.entity].relationships[index]
            let next = nextAlias()
            guard case .join(let link) = schema.relationships[key.entity][index] else {
                return "(\(rows("count(*)", of: relationship, entity: key.entity, alias: alias, as: next)))"
            }
            let isKnown = schema.knownCondition(relationship, "\(next).\(SQLText.name(link.target))")
            return "(SELECT count(*) FROM \(schema.relation(link.table)) \(next) "
                + "WHERE \(next).\(SQLText.name(link.source)) = \(alias).\(schema.rowColumn)\(isKnown))"
        }
    }

    /// The continuation of a condition on related rows, so that rows of entities which the model
    /// does not have count as absent; empty if the table has no other rows.
    func isKnown(_ relationship: EntityLayout.Relationship, alias: String) -> String {
        schema.entityCondition(relationship.destination, alias: alias).map { " AND \($0)" } ?? ""
    }

    mutating func nextAlias() -> String {
        aliasCount += 1
        return "r\(aliasCount)"
    }
}

extension AttributeValue {
    /// The greatest whole number not above the value, and whether both are equal. Nil if it does
    /// not fit in 64 bits.
    fileprivate var wholeNumber: (whole: Int64, isExact: Bool)? {
        switch self {
        case .decimal(let number):
            var exact = number
            var floor = Decimal()
            NSDecimalRound(&floor, &exact, 0, .down)
            return Int64(floor.description).map { ($0, floor == number) }
        case .double(let number):
            return Int64(exactly: number.rounded(.down)).map { ($0, number.rounded(.down) == number) }
        default: return nil
        }
    }

    fileprivate var exactWholeNumber: Int64? {
        wholeNumber.flatMap { $0.isExact ? $0.whole : nil }
    }
}

extension PropertyPath.Comparison {
    /// The comparison that holds for the prefixes of two texts if this one holds for the texts. Nil
    /// if there is none.
    fileprivate var inclusive: PropertyPath.Comparison? {
        switch self {
        case .equal: .equal
        case .less, .lessOrEqual: .lessOrEqual
        case .greater, .greaterOrEqual: .greaterOrEqual
        case .notEqual: nil
        }
    }
}

extension String {
    /// The smallest text above all texts with this prefix; nil if there is none.
    fileprivate var endOfPrefix: String? {
        var scalars = unicodeScalars
        while let last = scalars.popLast() {
            // Surrogates are not scalars.
            guard let next = Unicode.Scalar(last.value == 0xD7FF ? 0xE000 : last.value + 1) else { continue }
            scalars.append(next)
            return String(scalars)
        }
        return nil
    }
}

extension SQLSchema {
    /// A value in the form that its column stores.
    package func binding(_ value: AttributeValue) -> SQLBinding {
        dialect.binding(value, dates: dates)
    }
}
