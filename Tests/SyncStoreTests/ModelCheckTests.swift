import OneWayTestLimits
import SyncModel
import SyncStore
import Testing

/// What a store verifies before it does what a request says.
@Suite(.endsInTime) struct ModelCheckTests {
    private let model: DataModel

    init() throws {
        var being = SyncEntity("Being", identity: "id") {
            SyncAttribute("id", .int64)
            SyncRelationship("home", toOne: "Place", inverse: "beings")
        }
        being.isAbstract = true
        model = try DataModel([
            being, SyncEntity("Animal", parent: "Being") { SyncRelationship("den", toOne: "Place") },
            SyncEntity("Dog", parent: "Animal") {
                SyncAttribute("name", .string)
                SyncRelationship("toys", toMany: "Place", inverse: "dogs")
            }, SyncEntity("Plant", parent: "Being") { SyncAttribute("height", .int64) },
            SyncEntity("Place", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("beings", toMany: "Being", inverse: "home")
                SyncRelationship("dogs", toMany: "Dog", inverse: "toys")
                SyncRelationship("guard", toOne: "Dog")
                SyncRelationship("guests", toMany: "Animal")
                SyncRelationship("all", toMany: "Being")
            }, SyncEntity("Garden", parent: "Place") { SyncRelationship("tree", toOne: "Plant") },
        ])
    }

    private func layout(_ name: String) throws -> EntityLayout { try model.layout(of: name) }

    @Test(arguments: [
        ("Dog", "Animal", ["toys"], ["guard"]), ("Dog", "Plant", ["den", "toys"], ["guard", "guests"]),
        ("Animal", "Dog", [], []), ("Plant", "Animal", [], ["tree"]), ("Dog", "Dog", [], []),
        ("Garden", "Place", ["tree"], []),
    ]) func anObjectLosesWhatItsNewEntityDoesNotHave(from: String, to: String, own: [String], leading: [String]) throws
    {
        let lost = model.relationships(of: try layout(from), lostBy: try layout(to))
        #expect(lost.own.map(\.name).sorted() == own && lost.leading.map(\.name).sorted() == leading)
    }

    @Test(arguments: [
        ("Dog", "Plant", "Being"), ("Dog", "Animal", "Animal"), ("Animal", "Dog", "Animal"), ("Dog", "Dog", "Dog"),
        ("Being", "Dog", "Being"),
    ]) func twoEntitiesOfAFamilyHaveAnAncestor(one: String, other: String, ancestor: String) throws {
        let found = model.commonAncestor(of: try layout(one), try layout(other))
        #expect(found.name == ancestor)
    }

    @Test func onlyAnEntityOfTheFamilyCanBeTheNextOne() throws {
        let changing = try model.layouts(changing: "Plant", to: "Dog")
        #expect(changing.former.name == "Plant" && changing.entity.name == "Dog")
        #expect(throws: StoreError.unrelatedEntities(former: "Dog", entity: "Place")) {
            _ = try model.layouts(changing: "Dog", to: "Place")
        }
        #expect(throws: StoreError.abstractEntity(entity: "Being")) {
            _ = try model.layouts(changing: "Dog", to: "Being")
        }
        #expect(throws: (any Error).self) { _ = try model.layouts(changing: "Dog", to: "Cat") }
    }

    /// Records of another model are as good if it has the same attributes.
    @Test func aBatchIsOfTheModel() throws {
        let alike = try DataModel { SyncEntity("Place", identity: "id") { SyncAttribute("id", .int64) } }
        let other = try DataModel {
            SyncEntity("Place", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
            }
            SyncEntity("Cat", identity: "id") { SyncAttribute("id", .int64) }
        }
        let place = try layout("Place")
        let (own, equal) = (RecordBatch(of: place), RecordBatch(of: try alike.layout(of: "Place")))
        for batch in [own, equal] {
            let found = try model.layout(of: batch)
            #expect(found === place)
        }
        for name in ["Place", "Cat"] {
            let batch = RecordBatch(of: try other.layout(of: name))
            #expect(throws: StoreError.batchOfOtherModel(entity: name)) { _ = try model.layout(of: batch) }
        }
        #expect(throws: StoreError.batchOfOtherModel(entity: nil)) {
            _ = try model.layout(of: RecordBatch(columnCount: 1))
        }
    }

    @Test(arguments: [(0, true), (1, false), (2, true)])
    func eachRecordHasAMatch(matchCount: Int, isWrong: Bool) throws {
        var batch = RecordBatch(of: try layout("Place"))
        batch.beginRecord()
        batch.setInt(1, at: 0)
        batch.endRecord()
        #expect(try model.layout(of: MergeRequest(batch)).name == "Place")
        let request = MergeRequest(batch, matches: Array(repeating: .identity, count: matchCount))
        guard isWrong else {
            #expect(try model.layout(of: request).name == "Place")
            return
        }
        #expect(throws: StoreError.wrongMatchCount(entity: "Place")) { _ = try model.layout(of: request) }
    }

    @Test func aRelationshipIsOfTheModel() throws {
        for layout in model.layouts { for relationship in layout.relationships { try model.check(relationship) } }
        // One whose entity the model lacks, one that its entity lacks, and one that is another.
        let entities = (0..<9).map { number in
            SyncEntity("Entity\(number)", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("home", toOne: "Entity0")
                SyncRelationship("a", toOne: "Entity0")
                SyncRelationship("b", toOne: "Entity0")
                SyncRelationship("c", toOne: "Entity0")
                SyncRelationship("d", toOne: "Entity0")
                SyncRelationship("e", toOne: "Entity0")
                SyncRelationship("f", toOne: "Entity0")
            }
        }
        for layout in try DataModel(entities).layouts {
            for relationship in layout.relationships {
                #expect(throws: StoreError.relationshipOfOtherModel(relationship: relationship.name)) {
                    try model.check(relationship)
                }
            }
        }
    }
}
