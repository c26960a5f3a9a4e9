package import SyncModel

/// The mapped values of one relationship of a group's objects, called *sources*.
///
/// Every object or identifier has an *ordinal*, its number among those of the relationship.
package struct NestedElements: Sendable {
    /// The objects that a source is to be related to.
    package struct Source: Sendable {
        /// The source's row in the group.
        package fileprivate(set) var row: Int
        /// The objects and identifiers, including rejected ones.
        package internal(set) var ordinals: Range<Int>
        /// Whether the value is an array of the objects themselves. Objects missing from it are no
        /// longer related.
        package internal(set) var holdsObjects = false
        /// Whether a part of the value could not be read. In this case, nothing is unlinked.
        package internal(set) var isIncomplete = false
    }

    /// A value, or a part of one, that the relationship cannot have.
    package struct Misfit: Sendable {
        /// The row of its source.
        package fileprivate(set) var row: Int
        /// The kind of the difference.
        package let kind: DriftReport.Kind
        /// The kind of the value; nil if unknown.
        package var found: JSONKind?
    }

    /// The sources, ordered by row, each once.
    package internal(set) var sources: [Source] = []
    /// The row of each ordinal's source; -1 if the source was removed.
    package internal(set) var owners: [Int32] = []
    /// The values that do not fit. A value of another shape leaves its relationship unchanged.
    package var misfits: [Misfit] = []
    /// The JSON of each ordinal, if the options request it; empty for identifiers.
    package internal(set) var json: [[UInt8]] = []
    /// The objects; their element indices are ordinals. Nil for none, and for those of a long list.
    package internal(set) var objects: MappedBatch?
    /// The objects of a long list, in place of `objects`.
    package internal(set) var packedObjects: NestedRecords?
    /// The identifiers in place of objects.
    package internal(set) var identifiers: NestedRecords?

    init() {}

    var isEmpty: Bool {
        sources.isEmpty && owners.isEmpty && misfits.isEmpty
    }

    /// The identifiers as groups of records without other values.
    package var identifierGroups: [MappedBatch.Group] {
        identifiers.map { Array($0.groups(of: max($0.count, 1))) } ?? []
    }

    /// The objects, and the identifiers as records.
    package var groups: [MappedBatch.Group] {
        Array(objectGroups(of: owners.count)) + identifierGroups
    }

    /// The objects by entity.
    ///
    /// - Parameter rowCount: The maximum number of objects of a group from a long list.
    package func objectGroups(of rowCount: Int) -> AnySequence<MappedBatch.Group> {
        guard let packedObjects else { return AnySequence(objects?.groups ?? []) }
        return AnySequence(packedObjects.groups(of: max(rowCount, 1)))
    }

    /// The objects in batches. The first one has the differences and the rejected objects.
    ///
    /// - Parameter rowCount: The maximum number of objects of a batch from a long list.
    package func objectBatches(of rowCount: Int) -> AnySequence<MappedBatch> {
        guard let packedObjects else { return AnySequence([objects].compactMap(\.self)) }
        return AnySequence(packedObjects.batches(of: rowCount))
    }

    /// The number of mapped objects.
    package var objectCount: Int { packedObjects?.count ?? objects?.recordCount ?? 0 }

    /// The rows of sources that lead to no object.
    package var emptied: [Int] {
        sources.filter { $0.ordinals.isEmpty && !$0.isIncomplete }.map(\.row)
    }

    /// Returns the elements of only some sources. Ordinals do not change.
    ///
    /// - Parameter newRow: Returns the new row of a source; nil to remove the source.
    package func restricted(_ newRow: (Int) -> Int?) -> NestedElements {
        var copy = self
        copy.sources = sources.compactMap { source in
            guard let row = newRow(source.row) else { return nil }
            var source = source
            source.row = row
            return source
        }
        copy.misfits = misfits.compactMap { misfit in
            guard let row = newRow(misfit.row) else { return nil }
            var misfit = misfit
            misfit.row = row
            return misfit
        }
        let rows = owners.map { $0 < 0 ? -1 : Int32(newRow(Int($0)) ?? -1) }
        copy.owners = rows
        copy.json = json.indices.map { rows[$0] < 0 ? [] : json[$0] }
        copy.objects = objects?.restricted { rows[$0] >= 0 }
        copy.packedObjects = packedObjects?.restricted { rows[$0] >= 0 }
        copy.identifiers = identifiers?.restricted { rows[$0] >= 0 }
        return copy
    }

    /// Notes that parts of some sources' values could not be read.
    package mutating func noteIncomplete(where isIncomplete: (Source) -> Bool) {
        for index in sources.indices where isIncomplete(sources[index]) { sources[index].isIncomplete = true }
    }

    /// Removes sources, but not their elements.
    package mutating func keepSources(where isKept: (Source) -> Bool) {
        sources.removeAll { !isKept($0) }
    }

    /// Maps the objects again from other JSON.
    ///
    /// - Parameters:
    ///   - replacements: The JSON of some ordinals.
    ///   - relationship: The relationship that leads to the objects.
    ///   - options: The options that the elements were mapped with.
    /// - Returns: What was mapped from the JSON that was replaced; nil for nothing.
    package mutating func replace(
        _ replacements: [Int: [UInt8]], by relationship: EntityLayout.Relationship, mapper: RecordMapper,
        options: RecordMapper.Reader.Options
    ) throws -> MappedBatch? {
        func map(_ ordinals: [Int]) throws -> MappedBatch? {
            var collector = try RecordCollector(
                mapper, entity: mapper.model.layouts[relationship.destination].name,
                options: options.nested(by: relationship))
            for ordinal in ordinals { try collector.add(json[ordinal], index: ordinal) }
            return try collector.takeBatch()
        }
        let ordinals = replacements.keys.sorted()
        let former = try map(ordinals)
        for (ordinal, bytes) in replacements { json[ordinal] = bytes }
        objects = try map(json.indices.filter { !json[$0].isEmpty })
        // The differences of the other objects are known already.
        objects?.replaceDrift(by: try map(ordinals))
        return former
    }
}

extension MappedBatch {
    /// Returns the batch with only some of its objects and problems.
    ///
    /// - Parameter isKept: Whether the object of an element index is kept.
    func restricted(_ isKept: (Int) -> Bool) -> MappedBatch? {
        var copy = self
        copy.groups = groups.compactMap { $0.restricted(isKept) }
        copy.rejected = rejected.filter { isKept($0.index) }
        let isLeft = !copy.groups.isEmpty || !copy.rejected.isEmpty || !drift.isEmpty || toleratedCount > 0
        return isLeft ? copy : nil
    }
}

extension MappedBatch {
    /// Returns the batch in parts.
    ///
    /// - Parameter begins: The first element index of each part except the first one, in order.
    package func parts(beginningAt begins: [Int]) -> [MappedBatch] {
        guard !begins.isEmpty else { return [self] }
        var rest = self
        return zip([Int.min] + begins, begins + [Int.max]).compactMap { first, end in
            let part = rest.restricted { $0 >= first && $0 < end }
            // Counts of the whole batch belong to one part only.
            rest.replaceDrift(by: nil)
            return part
        }
    }
}

extension NestedElements {
    /// Takes the objects that were mapped after those of `packedObjects`; nil for nothing.
    ///
    /// The order of merging matters to objects of several levels, which undo the packing.
    mutating func take(_ batch: MappedBatch?) {
        guard var packed = packedObjects.take(), packed.count > 0 else {
            objects = batch
            return
        }
        let rest = batch ?? packed.findings
        packed.findings = rest
        packed.findings.groups = []
        if rest.groups.allSatisfy({ packed.accepts($0) }) {
            for group in rest.groups { packed.append(group) }
            packedObjects = packed
            return
        }
        var whole = rest
        whole.groups = Array(packed.groups(of: packed.count))
        for group in rest.groups {
            if group.mapping.layout.index == packed.mapping.layout.index {
                whole.groups[0].append(group)
            } else {
                whole.groups.append(group)
            }
        }
        objects = whole
    }
}

extension MappedBatch.Group {
    /// Adds the objects of a group of the same entity, with everything nested in them.
    fileprivate mutating func append(_ other: MappedBatch.Group) {
        let count = records.count
        for row in 0..<other.records.count { records.append(row: row, of: other.records) }
        elementIndices += other.elementIndices
        stubRows += other.stubRows.map { count + $0 }
        keylessRows += other.keylessRows.map { count + $0 }
        for (row, json) in other.undetermined { undetermined[count + row] = json }
        // Packed objects have nothing nested in them.
        nested = other.nested.map { $0?.restricted { count + $0 } }
    }

    /// The ranges of rows that are merged one after the other.
    ///
    /// The order of merges matters to nested objects of several levels, so that such a group stays
    /// whole.
    ///
    /// - Parameter rowCount: The maximum number of rows of a part.
    package func parts(of rowCount: Int) -> [Range<Int>] {
        guard !hasNested, undetermined.isEmpty else { return [0..<records.count] }
        return stride(from: 0, to: records.count, by: rowCount).map { $0..<min($0 + rowCount, records.count) }
    }

    /// Returns a part of the group.
    package func part(_ rows: Range<Int>) -> MappedBatch.Group {
        rows.count == records.count
            ? self : self.rows(rows) { rows.contains($0) ? $0 - rows.lowerBound : nil }
    }

    /// Returns the group with only some of its objects; nil if none is left.
    ///
    /// - Parameter isKept: Whether the object of an element index is kept.
    package func restricted(_ isKept: (Int) -> Bool) -> MappedBatch.Group? {
        let kept = elementIndices.indices.filter { isKept(elementIndices[$0]) }
        guard kept.count < elementIndices.count else { return self }
        guard !kept.isEmpty else { return nil }
        var newRows = [Int?](repeating: nil, count: elementIndices.count)
        for (newRow, row) in kept.enumerated() { newRows[row] = newRow }
        return rows(kept) { newRows[$0] }
    }

    /// Returns the group with only some of its rows.
    ///
    /// - Parameter newRow: Returns the new row of a row; nil to leave it out.
    private func rows(_ kept: some Sequence<Int>, newRow: (Int) -> Int?) -> MappedBatch.Group {
        var copy = MappedBatch.Group(mapping: mapping, records: RecordBatch(of: mapping.layout))
        for row in kept {
            copy.records.append(row: row, of: records)
            copy.elementIndices.append(elementIndices[row])
        }
        copy.stubRows = stubRows.compactMap(newRow)
        copy.keylessRows = keylessRows.compactMap(newRow)
        for (row, json) in undetermined { if let row = newRow(row) { copy.undetermined[row] = json } }
        copy.nested = nested.map { $0?.restricted(newRow) }
        return copy
    }
}
