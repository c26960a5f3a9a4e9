import JSONMapper
import SyncModel
import SyncStore

extension StorePass {
    /// Merges records. Rows that the store refuses are set aside, or fail with the place of their
    /// elements.
    ///
    /// - Parameter elementIndex: Returns the index in the payload of a row's element.
    func merge(
        _ request: MergeRequest, linking links: [MergeRequest.InitialLinks] = [], elementIndex: (Int) -> Int
    ) async throws -> MergeRequest.Result {
        var request = request
        request.setsRefusedAside = rules.setsRefusedAside
        let result: MergeRequest.Result
        do { result = try await transaction.merge(request, linking: links) } catch StoreError.refused(var refusal) {
            refusal.index = refusal.index.map(elementIndex)
            throw StoreError.refused(refusal)
        }
        for refusal in result.refused { reject(refusal, index: refusal.index.map(elementIndex)) }
        if let layout = request.records.layout {
            for row in result.waitingRows {
                guard let merged = result.rows[row] else { continue }
                state.refused[ObjectReference(merged.object, of: layout)] = elementIndex(row)
            }
        }
        return result
    }

    /// Gives objects the unique values for which they wait, after everything absent was deleted.
    ///
    /// Objects that do not get them are set aside: those that the pass inserted are deleted again,
    /// and others keep null.
    ///
    /// - Throws: `StoreError.refused` for the first such object unless they are set aside.
    func settleValues() async throws {
        let refused: [StoreError.Refusal]
        do {
            refused = try await transaction.settleValues()
            if let first = refused.first, !rules.setsRefusedAside { throw StoreError.refused(first) }
        } catch StoreError.refused(var refusal) {
            refusal.index = refusedElement(of: refusal.object, try model.layout(of: refusal.entity))
            throw StoreError.refused(refusal)
        }
        var inserted: [String: [ObjectID]] = [:]
        for refusal in refused {
            let layout = try model.layout(of: refusal.entity)
            reject(refusal, index: refusedElement(of: refusal.object, layout))
            guard let object = refusal.object,
                state.counts.inserted(layout).contains(object) || call?.hasInserted(object, of: layout) == true
            else { continue }
            inserted[layout.name, default: []].append(object)
        }
        for (entity, objects) in inserted.sorted(by: { $0.key < $1.key }) {
            let query = StoreQuery(entity, objects: .only(objects))
            state.counts.countDeleted(try await transaction.remove(query, reportsKeys: true))
        }
    }

    /// The element of an object that waits for unique values; nil if it is unknown.
    private func refusedElement(of object: ObjectID?, _ layout: EntityLayout) -> Int? {
        object.flatMap { state.refused[ObjectReference($0, of: layout)] }
    }

    /// Reports a refused object that is set aside.
    func reject(_ refusal: StoreError.Refusal, index: Int?) {
        var refusal = refusal
        refusal.index = nil
        state.problems.reject(
            MappingError.Problem(
                entity: refusal.entity, attribute: refusal.attributes.first, index: index ?? 0,
                reason: .refusedByStore("\(refusal)")),
            isElement: false, mayBeListed: true, mayAcceptLater: true)
    }
}
