import Foundation
import SyncModel

/// An object in memory from which a selection can be computed.
protocol SelectionSubject: PropertyPath.Subject {
    /// The number of the object.
    var objectID: ObjectID { get }
    /// The number of the object in a to-one relationship; nil if there is none.
    func target(at key: PropertyPath.Bound) -> ObjectID?
}

/// Computes the rows of a selection from objects in memory.
struct SelectionRows {
    let selection: BoundSelection

    /// The rows of the given objects.
    ///
    /// - Parameter subjects: The objects that satisfy the predicate, in any order.
    /// - Throws: `StoreError.sumOverflow`.
    func rows(of subjects: [some SelectionSubject]) throws -> [[AttributeValue]] {
        if selection.isGrouped { return try groups(of: subjects) }
        if selection.isDistinct {
            let rows = Set(subjects.map(row))
            return page(rows.sorted(by: areInIncreasingOrder))
        }
        return page(sorted(subjects)).map(row)
    }

    private func page<Element>(_ elements: [Element]) -> [Element] {
        let rest = elements.dropFirst(selection.offset)
        return Array(selection.limit.map { rest.prefix($0) } ?? rest)
    }

    private func sorted<Subject: SelectionSubject>(_ subjects: [Subject]) -> [Subject] {
        let ordering = selection.ordering
        let sorted = subjects.sorted { one, other in
            if ordering.areInIncreasingOrder(one, other) { return true }
            return ordering.areInIncreasingOrder(other, one) ? false : one.objectID < other.objectID
        }
        guard let after = selection.after else { return sorted }
        let place = PositionSubject(position: after, ordering: ordering)
        return sorted.filter { subject in
            if ordering.areInIncreasingOrder(place, subject) { return true }
            return ordering.areInIncreasingOrder(subject, place) ? false : subject.objectID > after.object
        }
    }

    private func row(of subject: some SelectionSubject) -> [AttributeValue] {
        selection.columns.map { column in
            switch column {
            case .object: .int(subject.objectID)
            case .value(let key): subject.value(at: key)
            case .target(let key): subject.target(at: key).map { .int($0) } ?? .null
            case .count, .aggregate: .null
            }
        }
    }

    private func areInIncreasingOrder(_ one: [AttributeValue], _ other: [AttributeValue]) -> Bool {
        zip(one, other).lazy.map { $0.compare($1) }.first { $0 != .orderedSame } == .orderedAscending
    }

    // MARK: Groups

    /// The rows of the groups within the limit and offset. Other groups are not computed.
    private func groups(of subjects: [some SelectionSubject]) throws -> [[AttributeValue]] {
        let keyed = selection.columns.indices.filter { index in
            switch selection.columns[index] {
            case .object, .value, .target: true
            case .count, .aggregate: false
            }
        }
        let groups = Dictionary(grouping: subjects) { subject in
            let row = row(of: subject)
            return keyed.map { row[$0] }
        }
        if keyed.isEmpty { return try page([subjects]).map { try group([], $0) } }
        return try page(groups.sorted { areInIncreasingOrder($0.key, $1.key) }).map { try group($0.key, $0.value) }
    }

    private func group(
        _ key: [AttributeValue], _ subjects: [some SelectionSubject]
    ) throws -> [AttributeValue] {
        var keys = key.makeIterator()
        return try selection.columns.map { column in
            switch column {
            case .object, .value, .target: return keys.next() ?? .null
            case .count: return .int(Int64(subjects.count))
            case .aggregate(let function, let path):
                let values = subjects.map { $0.value(at: path) }.filter { !$0.isNull }
                return try function.result(of: values, path, entity: selection.entity)
            }
        }
    }
}

extension StoreSelection.Aggregate {
    fileprivate func result(
        of values: [AttributeValue], _ key: PropertyPath.Bound, entity: EntityLayout
    ) throws -> AttributeValue {
        guard let first = values.first else { return .null }
        switch self {
        case .minimum: return values.min { $0.compare($1) == .orderedAscending } ?? .null
        case .maximum: return values.max { $0.compare($1) == .orderedAscending } ?? .null
        case .average where first.isInteger: return .double(IntegerSum(of: values).real / Double(values.count))
        case .average: return .double(values.reduce(0) { $0 + (Double(rounding: $1) ?? 0) } / Double(values.count))
        case .sum:
            switch first {
            case .int:
                guard let sum = IntegerSum(of: values).value else {
                    throw StoreError.sumOverflow(entity: entity.name)
                }
                return .int(sum)
            case .decimal: return .decimal(values.reduce(0) { $0 + (Decimal($1) ?? 0) })
            default: return .double(values.reduce(0) { $0 + (Double($1) ?? 0) })
            }
        }
    }
}

extension IntegerSum {
    fileprivate init(of values: [AttributeValue]) {
        self.init()
        for case .int(let number) in values { add(number) }
    }
}

extension AttributeValue {
    fileprivate var isInteger: Bool {
        if case .int = self { true } else { false }
    }
}

extension Double {
    fileprivate init?(rounding value: AttributeValue) {
        if case .int(let number) = value { self = Double(number) } else { self.init(value) }
    }
}

/// A position, as an object for comparisons.
private struct PositionSubject: PropertyPath.Subject {
    let position: StoreSelection.Position
    let ordering: [Ordering.Bound]

    func value(at key: PropertyPath.Bound) -> AttributeValue {
        ordering.firstIndex { $0.key == key }.map { position.values[$0] } ?? .null
    }

    func countRelated(at key: PropertyPath.Bound, where predicate: RecordPredicate.Bound) -> (selected: Int, total: Int)
    {
        (0, 0)
    }
}

extension RecordBatch {
    /// Sends rows in batches.
    static func send(
        _ rows: [[AttributeValue]], columnCount: Int, batchRowCount: Int,
        _ body: (RecordBatch) async throws -> Void
    ) async throws {
        var start = 0
        while start < rows.count {
            let end = min(start + max(batchRowCount, 1), rows.count)
            var batch = RecordBatch(columnCount: columnCount)
            for row in rows[start..<end] {
                batch.beginRecord()
                for (column, value) in row.enumerated() { batch.setValue(value, at: column) }
                batch.endRecord()
            }
            try await body(batch)
            start = end
        }
    }
}
