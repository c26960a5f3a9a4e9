import JSONMapper
import SyncModel

/// An error for a name that a model does not have, with the most similar name that it has.
struct NameError: Error, CustomStringConvertible {
    let description: String

    private static let listedCount = 8

    /// Creates an error for an unknown entity.
    ///
    /// - Parameter isAddable: Whether `sync --evolve` may add the entity to the model.
    init(entity: String, in model: DataModel, isAddable: Bool = false) {
        let known = model.dataEntities.map(\.name)
        let suggestion = Suggestion.nearest(to: entity, among: known).map { "; did you mean \($0)?" }
        description =
            "there is no entity \(entity)" + (suggestion ?? Self.list(known, of: "the model has"))
            + (isAddable ? "; --evolve adds \(entity)" : "")
    }

    /// Creates an error for an unknown property.
    init(property: String, of entity: EntityLayout) {
        let known = entity.attributes.map(\.name) + entity.relationships.map(\.name)
        let suggestion = Suggestion.nearest(to: property, among: known).map { "; did you mean \($0)?" }
        description =
            "\(entity.name) has no property \(property)" + (suggestion ?? Self.list(known, of: "it has"))
    }

    /// Creates an error for a condition on an attribute that is JSON.
    private init(json attribute: String, of entity: String) {
        description =
            "\(entity).\(attribute) is JSON, which conditions do not look into; SQL does, with json_each and ->> in "
            + "SQLite, and with the operators of jsonb in PostgreSQL"
    }

    /// Returns the error to show for an error of a store or a mapper.
    static func explaining(_ error: any Error, in model: DataModel) -> any Error {
        switch error {
        case ModelError.unknownEntity(let entity), MappingError.unknownEntity(let entity):
            NameError(entity: entity, in: model)
        case RecordPredicateError.unknownProperty(let entity, _, let name):
            model[entity].map { NameError(property: name, of: $0) } ?? error
        case RecordPredicateError.wrongType(let entity, let key, .json): NameError(json: key, of: entity)
        case RecordPredicateError.unsuitableProperty(let entity, _, let name)
        where model[entity]?.entity.attributes.first { $0.name == name }?.type == .json:
            NameError(json: name, of: entity)
        default: error
        }
    }

    private static func list(_ names: [String], of subject: String) -> String {
        guard !names.isEmpty else { return "" }
        let surplus = names.count - listedCount
        return "; \(subject) \(names.prefix(listedCount).joined(separator: ", "))"
            + (surplus > 0 ? " and \(surplus) more" : "")
    }
}

extension DataModel {
    /// The entities of data, without those that record the progress of syncs.
    var dataEntities: [SyncEntity] {
        entities.filter { !$0.isBookkeeping }
    }

    /// Returns the entity with a name.
    ///
    /// - Throws: ``NameError`` with a suggestion if there is none.
    func required(_ entity: String) throws(NameError) -> EntityLayout {
        guard let layout = self[entity] else { throw NameError(entity: entity, in: self) }
        return layout
    }
}
