import SyncModel
import SyncStore
import SyncStoreSQL

/// Relates the objects of one batch.
///
/// The links that there are of all sources are read at once, compared with what is wanted, and the difference is written through prepared
/// statements, in the order of the sources.
struct SQLiteLinking {
    /// What keeps the pairs decides how a pair comes about.
    private enum Shape {
        /// A column of the source. With a to-one inverse, the target leaves whoever it belonged to.
        case column(isExclusive: Bool)
        /// A column of the source that holds for the target as well.
        case mirroredColumn
        /// A column of the target, which belongs to one source.
        case targetColumn
        case join(isSymmetric: Bool)
    }

    private let batch: LinkBatch
    private let shape: Shape
    private let connection: SQLiteConnection
    private let sources: Set<Int64>
    private let targets: Set<Int64>
    private let former: [Int64: [Int64]]
    /// The lists of the batch's sources as they are now.
    private var current: [Int64: [Int64]]
    /// The sources of the batch that targets belong to now; only where a target belongs to one.
    private var holders: [Int64: Int64] = [:]
    private let removal: SQLiteStatement
    private let addition: SQLiteStatement
    private let symmetricAddition: SQLiteStatement?
    private let release: SQLiteStatement?

    init(_ batch: LinkBatch, queries: SQLQueries, connection: SQLiteConnection) throws(SQLiteError) {
        self.batch = batch
        self.connection = connection
        let relationship = batch.relationship
        let schema = queries.schema
        let inverse = relationship.inverse.map { schema.model.layouts[relationship.destination].relationships[$0] }
        switch schema.relationships[relationship.source][relationship.index] {
        case .column:
            let isMirrored = inverse.map { $0.source == relationship.source && $0.index == relationship.index }
            shape = isMirrored == true ? .mirroredColumn : .column(isExclusive: inverse?.isToMany == false)
        case .inverseColumn: shape = .targetColumn
        case .join(let link): shape = .join(isSymmetric: link.isSymmetric)
        }
        sources = try connection.rows(queries.existing(relationship.source), among: batch.sources)
        targets = try connection.rows(queries.existing(relationship.destination), among: batch.targets)
        var found: [Int64: [Int64]] = [:]
        for link in try connection.links(relationship, of: batch.sources, queries) {
            found[link.source, default: []].append(link.target)
        }
        former = found
        current = found
        let statements = SQLLinking(relationship, schema: schema)
        removal = try connection.cached(statements.removal)
        addition = try connection.cached(statements.addition)
        if let text = statements.symmetricAddition {
            symmetricAddition = try connection.cached(text)
        } else {
            symmetricAddition = nil
        }
        if let text = statements.release { release = try connection.cached(text) } else { release = nil }
        guard isExclusive else { return }
        for (source, targets) in found {
            for target in targets { holders[target] = source }
        }
    }

    /// Whether a target belongs to one source.
    private var isExclusive: Bool {
        switch shape {
        case .column(let isExclusive): isExclusive
        case .mirroredColumn, .targetColumn: true
        case .join: false
        }
    }

    mutating func run() throws(SQLiteError) -> LinkResult {
        for (index, source) in batch.sources.enumerated() where sources.contains(source) {
            try relate(source, to: wanted(of: source, at: index))
        }
        var result = LinkResult()
        var detached: Set<Int64> = []
        for source in batch.sources {
            let before = former[source, default: []].filter { !batch.newTargets.contains($0) }
            let after = Set(current[source] ?? [])
            guard before != current[source] ?? [] else { continue }
            result.changed.append(source)
            for target in before where !after.contains(target) && detached.insert(target).inserted {
                result.detached.append(target)
            }
        }
        return result
    }

    private func wanted(of source: Int64, at index: Int) -> [Int64] {
        let relationship = batch.relationship
        var seen: Set<Int64> = []
        var wanted: [Int64] = []
        for target in batch.targets(at: index) where targets.contains(target) {
            if seen.insert(target).inserted { wanted.append(target) }
        }
        if !relationship.isToMany { wanted = Array(wanted.suffix(1)) }
        let now = current[source] ?? []
        let list: [Int64]
        switch batch.mode {
        case .replace: list = wanted
        case .add where !relationship.isToMany: list = wanted.isEmpty ? now : wanted
        case .add:
            let known = Set(now)
            list = now + wanted.filter { !known.contains($0) }
        case .retain:
            let allowed = seen
            list = now.filter { allowed.contains($0) }
        }
        return relationship.isOrdered ? list : list.sorted()
    }

    private mutating func relate(_ source: Int64, to wanted: [Int64]) throws(SQLiteError) {
        let now = current[source] ?? []
        guard now != wanted else { return }
        let kept = Set(wanted)
        for target in now where !kept.contains(target) {
            try write(removal, source, target)
            if isExclusive { holders[target] = nil }
            if case .join(isSymmetric: true) = shape { try write(removal, target, source) }
            if case .mirroredColumn = shape { try write(removal, target, source) }
            mirror(removing: source, from: target)
        }
        let known = Set(now)
        for (position, target) in wanted.enumerated() {
            let isNew = !known.contains(target)
            guard isNew || batch.relationship.isOrdered else { continue }
            if isNew { try free(target, for: source) }
            try write(addition, source, target, position: position)
            guard isNew else { continue }
            if let symmetricAddition { try write(symmetricAddition, source, target) }
            if case .mirroredColumn = shape { try write(addition, target, source) }
            if isExclusive { holders[target] = source }
            mirror(adding: source, to: target)
        }
        current[source] = wanted
    }

    /// Takes a target off the source that it belongs to, where it can belong to one alone.
    private mutating func free(_ target: Int64, for source: Int64) throws(SQLiteError) {
        guard isExclusive else { return }
        if let holder = holders[target], holder != source {
            current[holder]?.removeAll { $0 == target }
        }
        if case .targetColumn = shape { return }
        // The column is unique to the target: whoever had it, of this batch or not, loses it.
        if let release {
            release.bind(target, at: 1)
            try release.run()
        }
        if case .mirroredColumn = shape, let release {
            release.bind(source, at: 1)
            try release.run()
        }
    }

    /// Keeps the lists of sources that are targets as well in step, where a relationship is its own inverse.
    private mutating func mirror(removing source: Int64, from target: Int64) {
        guard isOwnInverse else { return }
        current[target]?.removeAll { $0 == source }
        if isExclusive { holders[source] = nil }
    }

    private mutating func mirror(adding source: Int64, to target: Int64) {
        guard isOwnInverse, source != target else { return }
        switch shape {
        case .mirroredColumn:
            current[target] = [source]
            holders[source] = target
        default:
            var list = current[target] ?? []
            guard !list.contains(source) else { return }
            list.append(source)
            current[target] = batch.relationship.isOrdered ? list : list.sorted()
        }
    }

    private var isOwnInverse: Bool {
        switch shape {
        case .mirroredColumn, .join(isSymmetric: true): true
        default: false
        }
    }

    private func write(
        _ statement: SQLiteStatement, _ source: Int64, _ target: Int64, position: Int? = nil
    ) throws(SQLiteError) {
        statement.bind(source, at: 1)
        statement.bind(target, at: 2)
        if let position { statement.bind(Int64(position), at: 3) }
        try statement.run()
    }
}

extension SQLiteConnection {
    /// Those of some rows that a statement with a list of them as its parameter gives.
    func rows(_ text: String, among rows: [Int64]) throws(SQLiteError) -> Set<Int64> {
        guard !rows.isEmpty else { return [] }
        let statement = try cached(text)
        statement.bind(.text(SQLQueries.list(rows)), at: 1)
        defer { statement.reset() }
        var found: Set<Int64> = []
        while try statement.step() { found.insert(statement.integer(at: 0)) }
        return found
    }
}
