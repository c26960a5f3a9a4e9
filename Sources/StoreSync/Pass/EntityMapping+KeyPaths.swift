import JSONMapper
import SyncModel

extension EntityMapping {
    /// The key path of an attribute, its keys separated by dots; empty if no key leads to it.
    func keyPath(of column: Int) -> String {
        keys.attributes[column].path()?.joined(separator: ".") ?? ""
    }

    /// The key path of a relationship, its keys separated by dots; its name if no key leads to it.
    func keyPath(of relationship: EntityLayout.Relationship) -> String {
        keys.relationships[relationship.index].path()?.joined(separator: ".") ?? relationship.name
    }

    /// The problem of an object without a value for an attribute.
    func missing(_ column: Int, index: Int) -> MappingError.Problem {
        missing(layout.attributes[column].name, keyPath(of: column), index)
    }

    /// The problem of an object without a target of a relationship.
    func missing(_ relationship: EntityLayout.Relationship, index: Int) -> MappingError.Problem {
        missing(relationship.name, keyPath(of: relationship), index)
    }

    private func missing(_ property: String, _ keyPath: String, _ index: Int) -> MappingError.Problem {
        MappingError.Problem(
            entity: layout.name, attribute: property, keyPath: keyPath, index: index, reason: .missingMandatory)
    }
}
