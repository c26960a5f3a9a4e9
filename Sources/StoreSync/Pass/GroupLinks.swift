import JSONMapper
import SyncModel
import SyncStore

/// One relationship of a group's merged objects.
struct GroupLinks {
    let group: MappedBatch.Group
    /// The object of each row.
    var result: MergeRequest.Result
    let origin: Origin
    let relationship: EntityLayout.Relationship
    let inverse: EntityLayout.Relationship?
    /// How often the relationship had been linked before the group was merged.
    let linkCount: Int

    init(
        _ group: MappedBatch.Group, _ result: MergeRequest.Result, _ origin: Origin, _ index: Int,
        in model: DataModel, _ linkCount: Int
    ) {
        (self.group, self.result, self.origin, self.linkCount) = (group, result, origin, linkCount)
        relationship = group.mapping.layout.relationships[index]
        inverse = model.inverse(of: relationship)
    }

    var layout: EntityLayout { group.mapping.layout }

    /// The key path from an object of the group to the value of the relationship.
    var keyPath: String { group.mapping.keyPath(of: relationship) }

    func object(of source: NestedElements.Source) -> ObjectID? {
        result.rows[source.row]?.object
    }

    /// The object that contains a source and that the relationship leads to; nil for any other
    /// relationship.
    func container(of source: NestedElements.Source) -> ObjectID? {
        origin.decides(relationship) ? origin.containers?(group.elementIndices[source.row]) : nil
    }

    func identity(of source: NestedElements.Source) -> [AttributeValue?] {
        layout.identityColumns.map { group.records.value(row: source.row, column: $0) }
    }

    /// The objects of sources, in order.
    func objects(of sources: [NestedElements.Source]) -> [ObjectID] {
        Set(sources.compactMap(object)).sorted()
    }

    func elementIndex(_ row: Int) -> Int {
        origin.elementIndex(group.elementIndices[row])
    }

    /// The values of the relationship that count; nil if there are none.
    ///
    /// If several rows of the list are of one object, only the elements of the last one count.
    /// Values that do not fit are reported for each row.
    func elements(laterCounts: Bool) -> NestedElements? {
        guard let nested = group.nested[relationship.index] else { return nil }
        func object(_ row: Int) -> ObjectID? {
            result.rows[row].flatMap { origin.policy.updates || $0.change == .inserted ? $0.object : nil }
        }
        let misfits = nested.misfits.filter { object($0.row) != nil }
        var known = ObjectSet()
        var isCounting = [Bool](repeating: false, count: result.rows.count)
        for source in nested.sources.reversed() {
            guard let object = object(source.row) else { continue }
            isCounting[source.row] = known.insert(object) || !laterCounts
        }
        guard !known.isEmpty || !misfits.isEmpty else { return nil }
        var counting = nested.keeping { isCounting[$0] }
        counting.misfits = misfits
        return counting
    }
}

extension NestedElements {
    /// The elements of only some rows.
    func keeping(_ isKept: (Int) -> Bool) -> NestedElements {
        sources.allSatisfy { isKept($0.row) } ? self : restricted { isKept($0) ? $0 : nil }
    }
}

/// The result of merging the elements of one relationship.
struct MergedElements {
    var elements: NestedElements
    /// The object of each ordinal; nil if the element was rejected or its identifier is unknown.
    var targets: OrdinalObjects
    /// Whether the object of each ordinal was inserted.
    var isNew: OrdinalFlags
    /// Whether the object of each ordinal is known to have the object that contains it.
    var isOwned: OrdinalFlags
    /// The objects that were inserted.
    var newTargets = ObjectSet()
    /// The identifiers, and the row of each ordinal whose identifier no stored object has.
    var unknown = UnknownIdentifiers()
    /// The ordinals whose identifier names an object of the list's entities.
    var identified = ObjectSet()
    /// Whether some inserted objects were linked to the objects that contain them.
    var linksNew = false
    /// The number of merges of the elements.
    private(set) var mergeCount = 0
    /// The stored objects that elements without an identity match.
    var reuse = ReusedObjects()
    /// Whether an element was rejected.
    var hasRejected = false
    /// The ordinals of elements that may stand for any object.
    private var unidentified: Set<Int> = []
    /// Returns the index in the payload of an ordinal's element.
    let elementIndex: (Int) -> Int

    init(_ elements: NestedElements, elementIndex: @escaping (Int) -> Int) {
        let count = elements.owners.count
        self.elements = elements
        self.elementIndex = elementIndex
        targets = OrdinalObjects(count: count)
        (isNew, isOwned) = (OrdinalFlags(count: count), OrdinalFlags(count: count))
    }

    var sources: [NestedElements.Source] { elements.sources }

    /// Takes the objects of merged elements.
    mutating func take(_ found: GroupMerge) {
        mergeCount += 1
        unidentified.formUnion(found.unidentifiedOrdinals)
        for (ordinal, row, isOwned) in found.objects {
            targets[ordinal] = row.object
            let isReused = reuse.objects[ordinal] == row.object && !reuse.unlinked.contains(row.object)
            self.isOwned[ordinal] = isOwned || isReused
            guard row.change == .inserted else { continue }
            isNew[ordinal] = true
            newTargets.insert(row.object)
        }
    }

    /// Notes that some elements may stand for any object: their sources prove no absence.
    mutating func noteUnidentified() {
        let unidentified = unidentified
        elements.noteIncomplete { $0.ordinals.contains(where: unidentified.contains) }
    }

    /// The result for only some rows, without the targets of the others.
    func restricted(_ isKept: [Bool]) -> MergedElements {
        var merged = self
        for ordinal in sources.lazy.filter({ !isKept[$0.row] }).flatMap(\.ordinals) { merged.targets[ordinal] = nil }
        merged.elements.keepSources { isKept[$0.row] }
        return merged
    }

    /// The objects that a source leads to.
    func objects(of source: NestedElements.Source) -> some Sequence<ObjectID> {
        targets[source.ordinals].lazy.compactMap(\.self)
    }

    /// Whether the object of an ordinal is known to have the object that contains it.
    func isKnown(_ ordinal: Int) -> Bool {
        isNew[ordinal] || isOwned[ordinal]
    }

    /// Whether an ordinal of a source has an identifier that no stored object has.
    func namesUnknown(_ source: NestedElements.Source) -> Bool {
        !unknown.rows.isEmpty && source.ordinals.contains { unknown.rows[$0] != nil }
    }

    /// Whether a source leads to one object more than once.
    func repeatsTarget(_ source: NestedElements.Source) -> Bool {
        let ordinals = source.ordinals
        guard ordinals.count > 1 else { return false }
        if ordinals.count > 16 {
            let named = targets[ordinals].lazy.compactMap(\.self)
            guard !zip(named, named.dropFirst()).allSatisfy(<) else { return false }
            var known = ObjectSet()
            return !named.allSatisfy { known.insert($0) }
        }
        return ordinals.contains { ordinal in
            targets[ordinal] != nil && targets[ordinals.lowerBound..<ordinal].contains(targets[ordinal])
        }
    }
}

/// The identifiers of a relationship that no stored object has.
struct UnknownIdentifiers {
    /// The identifiers; nil for none.
    private(set) var batch: RecordBatch?
    /// The row of each ordinal.
    private(set) var rows: [Int: Int] = [:]

    /// Adds the identifier of an ordinal, which a row of a batch has.
    mutating func add(_ row: Int, of records: RecordBatch, ordinal: Int) {
        var batch = batch.take() ?? records.layout.map(RecordBatch.init(of:)) ?? records
        rows[ordinal] = batch.count
        batch.append(row: row, of: records)
        self.batch = batch
    }
}
