import SyncModel

/// The differences between the model of a database and another one, each as one line.
struct ModelDifference {
    private(set) var lines: [String] = []
    /// Whether the other model lacks entities or properties.
    private(set) var hasDrops = false

    /// Compares two models. Bookkeeping does not count.
    init(from old: DataModel, to new: DataModel) {
        let former = Dictionary(old.dataEntities.map { ($0.name, $0) }) { first, _ in first }
        var kept: Set<String> = []
        for entity in new.dataEntities {
            guard let found = former[entity.name] ?? entity.formerName.flatMap({ former[$0] }) else {
                lines.append("\(entity.name) is new")
                continue
            }
            kept.insert(found.name)
            if found.name != entity.name { lines.append("\(found.name) is \(entity.name) now") }
            compare(Self.properties(of: found), Self.properties(of: entity), of: entity.name)
        }
        drop(old.dataEntities.map(\.name).filter { !kept.contains($0) })
    }

    private mutating func drop(_ names: [String]) {
        lines += names.map { "\($0) is dropped" }
        if !names.isEmpty { hasDrops = true }
    }

    /// A property, and what it holds.
    private struct Property {
        let name: String
        let formerName: String?
        let content: String
    }

    private static func properties(of entity: SyncEntity) -> [Property] {
        let attributes = entity.attributes.map {
            Property(name: $0.name, formerName: $0.formerName, content: $0.type.rawValue)
        }
        let relationships = entity.relationships.map {
            Property(
                name: $0.name, formerName: $0.formerName,
                content: $0.isToMany ? "a list of \($0.destination)" : $0.destination)
        }
        return attributes + relationships
    }

    private mutating func compare(_ old: [Property], _ new: [Property], of entity: String) {
        let former = Dictionary(old.map { ($0.name, $0) }) { first, _ in first }
        var kept: Set<String> = []
        for property in new {
            let place = "\(entity).\(property.name)"
            guard let found = former[property.name] ?? property.formerName.flatMap({ former[$0] }) else {
                lines.append("\(place) is new: \(property.content)")
                continue
            }
            kept.insert(found.name)
            if found.name != property.name { lines.append("\(entity).\(found.name) is \(property.name) now") }
            if found.content != property.content {
                lines.append("\(place) is \(property.content) now, no longer \(found.content)")
            }
        }
        drop(old.map(\.name).filter { !kept.contains($0) }.map { "\(entity).\($0)" })
    }
}
