import JSONMapper
import SyncBase
import SyncModel
import SyncStore

/// Objects that lacked a mandatory relationship when they were merged. A later part of the payload
/// may supply it, so the pass reports them at its end.
struct IncompleteObjects {
    /// An object without a target, and the index in the payload of the element that contains it.
    struct Place {
        let object: ObjectID
        let index: Int
    }

    /// The objects of each relationship, in the order of the payload.
    private(set) var places: [EntityLayout.Relationship.ID: [Place]] = [:]

    /// Adds the objects of a group for which the payload states no target of a mandatory
    /// relationship.
    mutating func insert(_ group: MappedBatch.Group, _ result: MergeRequest.Result, _ origin: Origin) {
        for relationship in group.mapping.layout.relationships
        where !relationship.declaration.isOptional && relationship.id != origin.inverse?.id {
            let sources = group.hasNested ? group.nested[relationship.index]?.sources ?? [] : []
            let stated = Set(sources.filter { !$0.ordinals.isEmpty }.map(\.row))
            for (row, merged) in result.rows.enumerated() where !stated.contains(row) {
                guard let merged else { continue }
                places[relationship.id, default: []].append(
                    Place(object: merged.object, index: origin.elementIndex(group.elementIndices[row])))
            }
        }
    }
}

extension StorePass {
    /// Reports objects that lack a mandatory relationship at the end of the pass.
    ///
    /// - Throws: `MappingError.unfit` in an import of a dialect that demands mandatory values.
    func reportIncomplete() async throws {
        for (id, places) in state.incomplete.places.sortedByKey {
            let layout = model.layouts[id.source]
            let relationship = layout.relationships[id.index]
            var reported = ObjectSet()
            for part in places.parts(of: Self.incompletePartCount) {
                let objects = Array(Set(part.map(\.object))).sorted()
                let linked = ObjectSet(try await transaction.links(relationship, of: objects).map(\.source))
                let stored = try await transaction.records(StoreQuery(layout.name, objects: .only(objects)))
                let entities = Dictionary(stored.map { ($0.object, $0.record.entityName) }) { first, _ in first }
                for place in part where !linked.contains(place.object) {
                    guard let entity = entities[place.object], reported.insert(place.object) else { continue }
                    let problem = try mapper.mapping(of: entity).missing(relationship, index: place.index)
                    if rules.demandsMandatory { throw MappingError.unfit(problem) }
                    state.problems.drift.add(
                        .missingRelationship, entity: entity, keyPath: problem.keyPath, index: place.index)
                }
            }
        }
        state.incomplete = IncompleteObjects()
    }

    /// The number of objects whose links one query reads.
    private static var incompletePartCount: Int { 8192 }
}
