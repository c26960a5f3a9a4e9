import OneWayTestLimits
import SyncModel
import OneWayTestSupport
import Testing

@Suite(.endsInTime) struct EntityLayoutTests {
    /// Forests of entities, every relationship with its inverse, the same for the same seed.
    private static func model(seed: Int) throws -> DataModel {
        var generator = SeededRandom(seed: UInt64(seed))
        func random(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }
        let count = 1 + random(8)
        // Declared in another order than that of descent: entity i inherits from one of a higher
        // number.
        var entities = (0..<count).map { index in
            let parent = index < count - 1 && random(3) > 0 ? "E\(index + 1 + random(count - index - 1))" : nil
            let names = (0..<random(4)).map { "a\(index)_\($0)" }
            return SyncEntity(
                "E\(index)", parent: parent, identity: Array(names.prefix(random(2))),
                attributes: names.map { SyncAttribute($0, .int64) }, relationships: [])
        }
        for place in 0..<random(6) {
            let (one, other) = (random(count), random(count))
            entities[one].relationships.append(SyncRelationship("r\(place)", toMany: "E\(other)", inverse: "i\(place)"))
            entities[other].relationships.append(SyncRelationship("i\(place)", toOne: "E\(one)", inverse: "r\(place)"))
        }
        return try DataModel(entities)
    }

    @Test(arguments: 0..<200)
    func placesHoldWhateverTheInheritance(seed: Int) throws {
        let model = try Self.model(seed: seed)
        for layout in model.layouts {
            #expect(model.layouts[layout.index] === layout)
            #expect(model[layout.name] === layout)
            #expect(layout.family.first == layout.index)
            for (column, attribute) in layout.attributes.enumerated() {
                #expect(layout.column(of: attribute.name) == column)
            }
            for (index, relationship) in layout.relationships.enumerated() {
                #expect(relationship.index == index)
                #expect(layout.relationship(relationship.name) == relationship)
                let destination = model.layouts[relationship.destination]
                let inverse = try #require(relationship.inverse.map { destination.relationships[$0] })
                #expect(inverse.destination == relationship.source)
                #expect(model.layouts[inverse.destination].relationships[try #require(inverse.inverse)] == relationship)
            }
            guard let parent = layout.parent.map({ model.layouts[$0] }) else {
                #expect(layout.root == layout.index)
                #expect(layout.attributes == layout.entity.attributes)
                continue
            }
            #expect(layout.root == parent.root)
            #expect(layout.attributes == parent.attributes + layout.entity.attributes)
            #expect(Array(layout.relationships.prefix(parent.relationships.count)) == parent.relationships)
            #expect(Array(layout.identityColumns.prefix(parent.identityColumns.count)) == parent.identityColumns)
            #expect(parent.family.contains(layout.index))
            #expect(layout.isKind(of: parent) && !parent.isKind(of: layout))
        }
        for layout in model.layouts {
            let family = model.layouts.filter { $0.isKind(of: layout) }.map(\.index)
            #expect(layout.family.sorted() == family)
        }
    }
}
