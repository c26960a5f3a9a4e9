import JSONMapper
import SyncModel
import SyncStore

// Merging the batches of a page.
extension PassPages {
    /// An object of a page, the ordinal of its element, and whether the page names it as gone.
    typealias Found = (ordinal: Int, object: Int64, isGone: Bool)

    private var entity: Int? { request.mapper.model[request.entity]?.index }

    /// Merges mapped objects.
    ///
    /// - Returns: The number of elements that were mapped or rejected.
    func merge(_ objects: MappedBatch) async throws -> Int {
        try await merge(objects, Origin(policy: request.rules.policy, entity: entity))
        return objects.elementCount
    }

    /// Merges elements whose JSON was kept, for the hook or because some may be named as gone.
    ///
    /// - Parameter first: The index of the first element in the payload.
    /// - Returns: The number of elements that were mapped or rejected.
    func merge(_ elements: [PayloadReader.Element], first: Int) async throws -> Int {
        var elements = elements
        var batch = try mapped(elements, areGone: false)
        if let found = batch, request.rules.isHooked {
            let hooked = try await pass.hook(found, elements.map(\.bytes))
            for (index, bytes) in hooked { elements[index].bytes = bytes }
            if !hooked.isEmpty { batch = try mapped(elements, areGone: false) }
        }
        let origin = Origin(policy: request.rules.policy, entity: entity, elementIndex: { first + $0 })
        let gone = try mapped(elements, areGone: true)
        try await merge(batch, origin, gone: gone)
        return (batch?.elementCount ?? 0) + (gone?.elementCount ?? 0)
    }

    private func mapped(_ elements: [PayloadReader.Element], areGone: Bool) throws -> MappedBatch? {
        var options = request.readerOptions(for: pass.transaction)
        // An object that is gone may be named by its identifier only.
        if areGone { options.acceptsIdentifiers = true }
        options.addedKey = elements.first?.addedKey
        var collector = try RecordCollector(request.mapper, entity: request.entity, options: options)
        for (index, element) in elements.enumerated() where element.isGone == areGone {
            try collector.add(element.bytes, index: index)
        }
        return try collector.takeBatch()
    }

    /// Merges objects, and finds the stored objects that are named as gone.
    private func merge(_ objects: MappedBatch?, _ origin: Origin, gone: MappedBatch? = nil) async throws {
        guard notesObjects else {
            let collect = { (merge: GroupMerge) in self.merged.formUnion(merge.mergedObjects) }
            if let objects { try await pass.mergeListed(objects, origin, request.notesMerged ? collect : nil) }
            return
        }
        var found: [Found] = []
        found.reserveCapacity((objects?.recordCount ?? 0) + (gone?.recordCount ?? 0))
        if let objects {
            try await pass.mergeListed(objects, origin) { merged in
                found += merged.objects.map { ($0.ordinal, $0.row.object, false) }
            }
        }
        if let gone {
            let objects = try await pass.find(gone, elementIndex: origin.elementIndex)
            found += objects.map { ($0.ordinal, $0.object, true) }
        }
        note(found.sorted { $0.ordinal < $1.ordinal })
    }
}

extension StorePass {
    /// Finds the stored objects of a batch, and reports elements without a key.
    ///
    /// - Parameter elementIndex: Returns the index in the payload of an ordinal's element.
    func find(
        _ batch: MappedBatch, elementIndex: (Int) -> Int = { $0 }
    ) async throws -> [(ordinal: Int, object: Int64)] {
        func reject(_ problem: MappingError.Problem) {
            state.problems.reject(
                problem.moved(to: elementIndex(problem.index)), isElement: true, mayBeListed: false)
        }
        batch.rejected.forEach(reject)
        var found: [(ordinal: Int, object: Int64)] = []
        for group in batch.groups {
            let keyColumns = group.mapping.layout.keyColumns
            group.records.withReader { reader in
                for row in 0..<reader.count {
                    guard let column = keyColumns.first(where: { !reader.isIdentified(row, by: [$0]) }) else {
                        continue
                    }
                    reject(group.mapping.missing(column, index: group.elementIndices[row]))
                }
            }
            for (ordinal, object) in zip(group.elementIndices, try await transaction.find(group.records)) {
                if let object { found.append((ordinal, object)) }
            }
        }
        return found
    }
}

extension MappedBatch {
    /// The number of elements that were mapped or rejected.
    fileprivate var elementCount: Int { recordCount + rejected.count }
}
