import SyncModel

/// Writes conditions with many parts and levels within the limits of a database's parser.
///
/// SQLite allows expressions of 1,000 levels, and parses `a OR b OR c` as `(a OR b) OR c`. Its
/// parser's stack has 100 entries; see https://www.sqlite.org/limits.html.
extension SQLPredicate {
    /// The maximum number of levels written as nested parentheses.
    private static let nestingLimit = 12
    /// The maximum number of conditions joined without parentheses.
    private static let chainLimit = 16

    /// Joins conditions; many of them as a balanced tree.
    static func joined(_ conditions: some RandomAccessCollection<String>, by separator: String) -> String {
        guard conditions.count > chainLimit else { return conditions.joined(separator: separator) }
        let middle = conditions.count / 2
        let halves = [
            joined(conditions.prefix(middle), by: separator), joined(conditions.dropFirst(middle), by: separator),
        ]
        return halves.map { "(\($0))" }.joined(separator: separator)
    }

    /// A normalized predicate with many levels as a list of cases; nil if it has few levels.
    ///
    /// For example, `a AND (b OR (c AND d))` becomes
    /// `CASE WHEN (a) IS NOT TRUE THEN 0 WHEN (b) THEN 1 WHEN (c) IS NOT TRUE THEN 0 ELSE (d) END`.
    mutating func cases(_ predicate: RecordPredicate.Bound, entity: Int, alias: String) -> String? {
        guard predicate.nesting > Self.nestingLimit else { return nil }
        var text = "CASE"
        var rest = predicate
        while let (isAll, parts) = rest.joint, let place = parts.indices.max(by: { parts[$0].size < parts[$1].size }) {
            let others = parts[..<place] + parts[(place + 1)...]
            let side = normal(isAll ? .and(Array(others)) : .or(Array(others)), entity: entity, alias: alias)
            let answer = schema.dialect.condition(!isAll)
            text += isAll ? " WHEN (\(side)) IS NOT TRUE THEN \(answer)" : " WHEN (\(side)) THEN \(answer)"
            rest = parts[place]
        }
        return "\(text) ELSE (\(normal(rest, entity: entity, alias: alias))) END"
    }

    /// The parts of an alternative, with all values that an attribute can equal in one list.
    static func gathered(_ parts: [RecordPredicate.Bound]) -> [RecordPredicate.Bound] {
        var gathered: [RecordPredicate.Bound] = []
        var lists: [PropertyPath.Bound: (place: Int, values: [AttributeValue])] = [:]
        for part in parts {
            guard let (key, values) = part.equalities else {
                gathered.append(part)
                continue
            }
            if lists[key] == nil {
                lists[key] = (gathered.count, values)
                gathered.append(part)
            } else {
                lists[key]?.values += values
            }
        }
        for (key, list) in lists where list.values.count > 1 { gathered[list.place] = .isIn(key, list.values) }
        return gathered
    }
}

extension PredicateTree where Path == PropertyPath.Bound {
    /// Whether all parts must hold or any of them, and the parts; nil for a single condition.
    fileprivate var joint: (isAll: Bool, parts: [RecordPredicate.Bound])? {
        switch self {
        case .and(let parts): (true, parts)
        case .or(let parts): (false, parts)
        default: nil
        }
    }

    /// The number of nested levels.
    fileprivate var nesting: Int {
        joint.map { 1 + ($0.parts.map(\.nesting).max() ?? 0) } ?? 0
    }

    /// The number of single conditions.
    fileprivate var size: Int {
        joint.map { $0.parts.reduce(0) { $0 + $1.size } } ?? 1
    }

    /// An attribute and the values that it may equal; nil for any other condition.
    fileprivate var equalities: (key: PropertyPath.Bound, values: [AttributeValue])? {
        switch self {
        case .comparison(let key, .equal, let value) where !value.isNull && key.isAttribute: (key, [value])
        case .isIn(let key, let values) where key.isAttribute: (key, values)
        default: nil
        }
    }
}

extension PropertyPath.Bound {
    fileprivate var isAttribute: Bool {
        if case .attribute = leaf { true } else { false }
    }
}
