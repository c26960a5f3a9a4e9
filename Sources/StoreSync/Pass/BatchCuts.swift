import JSONMapper
import SyncBase
import SyncModel

/// Finds where to cut a batch whose elements contradict each other.
///
/// A batch is merged entity by entity and relationship by relationship, not element by element. If
/// two elements state different values for one object, the earlier one may therefore be merged
/// last. In separate parts, the later element is merged last. Elements that agree stay together,
/// because each part costs calls of the store.
struct BatchCuts {
    private struct Identity: Hashable {
        let root: Int
        let values: [AttributeValue]
    }

    /// One occurrence of an object in the batch, at any depth.
    private struct Statement {
        /// The ordinal of the list's element that contains it.
        let element: Int
        /// The index of its group in `places`, and its row in the group.
        let place: Int
        let row: Int
    }

    /// A group of objects at the same place: in the list itself, or nested by the same
    /// relationships.
    private struct Place {
        let group: MappedBatch.Group
        /// The ordinal of the list's element that contains each row; nil for a rejected row.
        let elements: [Int?]
        /// What is nested in the group, by the index of the relationship.
        let nested: [NestedTargets?]
    }

    private let model: DataModel
    private var places: [Place] = []
    /// For each element that contradicts earlier ones, the last of these.
    private var last: [Int: Int] = [:]

    private init(_ model: DataModel) {
        self.model = model
    }

    /// Returns the elements that begin a new part, in order; empty if the batch stays whole.
    ///
    /// Contradictions within one element need no cut, because its merging order is the same in
    /// every batch.
    static func cuts(of batch: MappedBatch, in model: DataModel) -> [Int] {
        guard batch.recordCount > 1,
            batch.groups.count > 1 || batch.groups.contains(where: { $0.hasNested || $0.isPartlyUndetermined })
        else { return [] }
        var cuts = BatchCuts(model)
        cuts.visit(batch.groups) { $0 }
        for statements in cuts.repeatedStatements() { cuts.compare(statements) }
        cuts.compareTargets()
        var begins: [Int] = []
        for (later, earlier) in cuts.last.sortedByKey where earlier >= begins.last ?? .min {
            begins.append(later)
        }
        return begins
    }

    private mutating func visit(_ groups: some Sequence<MappedBatch.Group>, _ element: (Int) -> Int?) {
        for group in groups {
            let elements = group.elementIndices.map(element)
            let nested = group.nested.map { $0.map { NestedTargets($0) } }
            places.append(Place(group: group, elements: elements, nested: nested))
            for case let nested? in nested {
                visit(nested.groups) { ordinal in
                    let owner = nested.elements.owners[ordinal]
                    return owner < 0 ? nil : elements[Int(owner)]
                }
            }
        }
    }

    /// The statements of each object that is stated more than once.
    private func repeatedStatements() -> [[Statement]] {
        let roots = places.map { model.layouts[$0.group.mapping.layout.index].root }
        var seen: Set<Int> = []
        let repeated = Set(roots.filter { !seen.insert($0).inserted })
        var statements: [Identity: [Statement]] = [:]
        for (place, root) in zip(places.indices, roots) {
            let group = places[place].group
            let columns = group.mapping.layout.identityColumns
            // If all statements are in one place, only the order of nested objects matters.
            guard !columns.isEmpty, repeated.contains(root) || group.hasNested || group.isPartlyUndetermined
            else { continue }
            group.records.withReader { reader in
                guard repeated.contains(root) || !reader.isAscending(column: columns[0]) else { return }
                for row in 0..<reader.count {
                    guard let element = places[place].elements[row], reader.isIdentified(row, by: columns) else {
                        continue
                    }
                    let values = columns.compactMap { reader.value(row: row, column: $0) }
                    statements[Identity(root: root, values: values), default: []].append(
                        Statement(element: element, place: place, row: row))
                }
            }
        }
        return statements.values.filter { $0.count > 1 }
    }

    private mutating func report(_ earlier: Int, _ later: Int) {
        if earlier < later { last[later] = max(last[later] ?? earlier, earlier) }
    }

    /// The entity of an object, and whether the statement says so.
    private func entity(of statement: Statement) -> [Int] {
        let group = places[statement.place].group
        return [group.mapping.layout.index, group.undetermined[statement.row] == nil ? 1 : 0]
    }

    /// Compares the statements of one object with each other.
    private mutating func compare(_ statements: [Statement]) {
        let isInOnePlace = statements.allSatisfy { $0.place == statements[0].place }
        // Of the rows of one place, only the elements of one are merged.
        let counts = Dictionary(grouping: statements, by: \.place).mapValues(\.count)
        // The latest value of each attribute and, after the attributes, of each relationship. It is
        // nil if its element states several.
        var latest: [Int: (element: Int, value: [[AttributeValue?]]?)] = [:]
        var previous: Statement?
        for statement in statements.sorted(by: { $0.element < $1.element }) {
            let group = places[statement.place].group
            if let previous, entity(of: previous) != entity(of: statement) {
                report(previous.element, statement.element)
                latest = [:]
            }
            previous = statement
            func compare(_ property: Int, _ value: [[AttributeValue?]]) {
                let earlier = latest.updateValue((statement.element, value), forKey: property)
                guard let earlier, earlier.value != value else { return }
                report(earlier.element, statement.element)
                if earlier.element == statement.element { latest[property]?.value = nil }
            }
            // Rows of one place are combined.
            for column in isInOnePlace ? 0..<0 : 0..<group.records.columnCount {
                if let value = group.records.value(row: statement.row, column: column) { compare(column, [[value]]) }
            }
            for (index, nested) in places[statement.place].nested.enumerated() {
                let isWhole = counts[statement.place, default: 0] > 1
                guard let nested, let source = nested.source(of: statement.row),
                    var targets = nested.targets(of: statement.row, isWhole: isWhole)
                else { continue }
                let relationship = group.mapping.layout.relationships[index]
                if relationship.isToMany, model.inverse(of: relationship)?.isToMany == false {
                    // Only a list of objects deletes what it no longer has.
                    targets.append([.bool(source.holdsObjects)])
                }
                compare(group.records.columnCount + index, targets)
            }
        }
    }

    /// Compares what is stated about relationships that several places of the batch state, from
    /// either end.
    private mutating func compareTargets() {
        var stated: [EntityLayout.Relationship.ID: [(place: Int, index: Int)]] = [:]
        for (place, group) in places.map(\.group).enumerated() {
            for (index, nested) in group.nested.enumerated() where nested != nil {
                stated[group.mapping.layout.relationships[index].id, default: []].append((place, index))
            }
        }
        var ends: [EntityLayout.Relationship.ID: [Identity: [EndStatement]]] = [:]
        for (id, statements) in stated {
            guard let inverse = model.inverse(of: model.relationship(id)) else { continue }
            // `compare` has compared what several places state from one end.
            if stated[inverse.id] != nil || !inverse.isToMany && statements.count > 1 {
                ends[id] = endStatements(statements)
            }
        }
        for (id, statements) in ends {
            guard let inverse = model.inverse(of: model.relationship(id)) else { continue }
            if !inverse.isToMany { compareSources(statements) }
            compare(statements, withEnds: ends[inverse.id] ?? [:])
        }
    }

    /// Compares the objects that name the same target, which can belong to one of them only.
    private mutating func compareSources(_ statements: [Identity: [EndStatement]]) {
        var sources: [Identity: [(element: Int, source: Identity)]] = [:]
        for (source, statements) in statements {
            for statement in statements {
                let elements = statement.elements.map { ($0, source) }
                for target in statement.targets { sources[target, default: []] += elements }
            }
        }
        for sources in sources.values where sources.count > 1 {
            let byElement = Dictionary(grouping: sources, by: \.element).sortedByKey
            for (earlier, later) in zip(byElement, byElement.dropFirst())
            where Set((earlier.value + later.value).map(\.source)).count > 1 {
                report(earlier.key, later.key)
            }
        }
    }

    /// Compares the targets that objects name with what these state from the other end.
    private mutating func compare(
        _ statements: [Identity: [EndStatement]], withEnds others: [Identity: [EndStatement]]
    ) {
        guard !others.isEmpty else { return }
        for (object, statements) in statements {
            for statement in statements {
                for target in statement.targets {
                    for other in others[target] ?? [] where !other.isIncomplete && !other.targets.contains(object) {
                        report(statement.elements, other.elements)
                    }
                }
            }
        }
    }

    /// Reports each of some elements with each of others that contradict them.
    private mutating func report(_ elements: [Int], _ others: [Int]) {
        for element in elements {
            for other in others { report(min(element, other), max(element, other)) }
        }
    }

    /// What one end of a relationship states of an object.
    private struct EndStatement {
        /// The ordinals of the list's elements that state it.
        var elements: [Int]
        let targets: Set<Identity>
        let isIncomplete: Bool
    }

    private func endStatements(_ statements: [(place: Int, index: Int)]) -> [Identity: [EndStatement]] {
        var found: [Identity: [EndStatement]] = [:]
        for (place, index) in statements {
            let (group, elements) = (places[place].group, places[place].elements)
            let layout = group.mapping.layout
            let destination = model.layouts[layout.relationships[index].destination]
            guard let nested = places[place].nested[index], layout.hasIdentity, destination.hasIdentity
            else { continue }
            for source in nested.elements.sources {
                guard let element = elements[source.row] else { continue }
                let values = layout.identityColumns.compactMap { group.records.value(row: source.row, column: $0) }
                let named = nested.targets(of: source.row, isWhole: false) ?? []
                let targets = Set(named.map { Identity(root: destination.root, values: $0.compactMap(\.self)) })
                let object = Identity(root: layout.root, values: values)
                let known = found[object]?.firstIndex {
                    $0.targets == targets && $0.isIncomplete == source.isIncomplete
                }
                if let known {
                    found[object]?[known].elements.append(element)
                } else {
                    found[object, default: []].append(
                        EndStatement(elements: [element], targets: targets, isIncomplete: source.isIncomplete))
                }
            }
        }
        return found
    }
}

/// The elements of a relationship, with the identities that each row leads to.
struct NestedTargets {
    let elements: NestedElements
    /// The objects by entity.
    let groups: [MappedBatch.Group]

    /// Whether scoped identities tell the targets apart.
    private let isScoped: Bool

    init(_ elements: NestedElements, isScoped: Bool = false) {
        self.elements = elements
        self.isScoped = isScoped
        groups = Array(elements.objectGroups(of: elements.owners.count))
    }

    /// The statement of a row; nil if it states none.
    func source(of row: Int) -> NestedElements.Source? {
        let index = elements.sources.partitionIndex { $0.row >= row }
        guard index < elements.sources.count, elements.sources[index].row == row else { return nil }
        return elements.sources[index]
    }

    /// The targets of a row: identities, or the content of objects without one; nil if the row
    /// states none.
    ///
    /// - Parameter isWhole: Whether content is returned for objects with an identity too. Of the
    ///   rows of one object in one place, only the elements of the last row are merged.
    func targets(of row: Int, isWhole: Bool) -> [[AttributeValue?]]? {
        guard let ordinals = source(of: row)?.ordinals else { return nil }
        let identifiers = elements.identifiers
        var targets = [[AttributeValue?]](repeating: [], count: ordinals.count)
        for (ordinal, value) in identifiers?.values(in: ordinals) ?? [] {
            targets[ordinal - ordinals.lowerBound] = identifiers?.record(of: value, isWhole: isWhole) ?? []
        }
        for group in groups {
            let layout = group.mapping.layout
            let columns = isScoped ? layout.scopedIdentityColumns : layout.identityColumns
            var row = group.elementIndices.partitionIndex { $0 >= ordinals.lowerBound }
            while row < group.elementIndices.count, ordinals.contains(group.elementIndices[row]) {
                targets[group.elementIndices[row] - ordinals.lowerBound] =
                    isWhole || columns.isEmpty
                    ? group.content(of: row) : columns.map { group.records.value(row: row, column: $0) }
                row += 1
            }
        }
        return targets
    }
}

extension MappedBatch.Group {
    /// Whether the entity of some objects is stated, and that of others is not.
    fileprivate var isPartlyUndetermined: Bool {
        !undetermined.isEmpty && undetermined.count < records.count
    }

    /// The values of a row, followed by the content of its targets.
    fileprivate func content(of row: Int) -> [AttributeValue?] {
        var content = (0..<records.columnCount).map { records.value(row: row, column: $0) }
        for (index, nested) in nested.enumerated() {
            guard let targets = nested.map({ NestedTargets($0) })?.targets(of: row, isWhole: true) else { continue }
            content += [.int(Int64(index)), .int(Int64(targets.count))] + targets.joined()
        }
        return content
    }
}
