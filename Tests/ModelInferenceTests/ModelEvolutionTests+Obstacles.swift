import JSONMapper
import ModelInference
import SyncModel
import Testing

/// What keeps a model from holding a later sample.
extension ModelEvolutionTests {
    @Test(arguments: [
        (#"[{"id":1,"o":{"p":1}}]"#, #"[{"id":1,"o":"text"}]"#, Evolution.Obstacle.Kind.notObjects, "o"),
        (#"[{"id":1,"o":{"p":1}}]"#, #"[{"id":1,"o":[{"p":1}]}]"#, .otherCount, "o"),
        (#"[{"id":1}]"#, #"[{"id":1},{"id":1,"a":2}]"#, .identity, "id"),
        (#"[{"id":1}]"#, #"[{"id":1},{"a":2}]"#, .identity, "id"),
        (#"[{"id":1}]"#, #"[{"id":1},{"id":null}]"#, .identity, "id"),
        (#"[{"id":1}]"#, #"[{"id":1},{"id":"a"}]"#, .keyType, "id"),
        (#"[{"id":1,"o":{"id":1,"p":1}}]"#, #"[{"id":1,"o":{"id":true,"p":1}}]"#, .keyType, "id"),
        (
            #"[{"id":1,"o":{"id":1,"p":1}}]"#,
            #"[{"id":1,"o":{"id":1,"p":1}},{"id":2,"o":{"id":1,"p":2}}]"#, .identity, ""
        ),
    ])
    func obstaclesAreReportedWithTheirSolutions(
        first: String, second: String, kind: Evolution.Obstacle.Kind, key: String
    ) throws {
        let evolved = try evolve(first, with: second)
        #expect(evolved.obstacles.map(\.kind) == [kind])
        #expect(evolved.obstacles.map(\.key) == [key])
        #expect(evolved.obstacles.first?.description.contains("rebuild") == true)
        let canBecomeJSON = kind == .notObjects || kind == .otherCount
        #expect(evolved.obstacles.first?.canBecomeJSON == canBecomeJSON)
        #expect(evolved.obstacles.first?.description.contains("as JSON") == canBecomeJSON)
        let entity = try #require(evolved.obstacles.first?.entity)
        let identity =
            key.isEmpty ? "objects of \(entity) have no key any more" : "id does not identify every \(entity)"
        #expect((evolved.obstacles.first?.reason == identity) == (kind == .identity))
        // Exported again, such an object has no key for what is not stored.
        let style = evolved.model[entity]?.relationship(key)?.declaration.userInfo[JSONDialect.emptyAnnotation]
        if kind == .notObjects { #expect(style == "omit") }
    }

    /// Some servers write `{}` or `[]` for none.
    @Test(arguments: [#"{}"#, "[]", "[{}]", "null"]) func anEmptyValueIsNoObstacle(value: String) throws {
        for first in [#"{"id":1,"p":1}"#, #"[{"id":1,"p":1}]"#] {
            let evolved = try evolve(#"[{"id":1,"o":\#(first)}]"#, with: #"[{"id":1,"o":\#(value)}]"#)
            #expect(evolved.obstacles.isEmpty, "\(first)")
            #expect(evolved.changes.isEmpty, "\(first)")
        }
    }

    /// Values of the type of the destination's key relate the objects with these keys.
    @Test(arguments: [
        (#"{"id":1,"p":1}"#, "1", true), (#"{"id":1,"p":1}"#, #""a""#, false), (#"{"id":"a","p":1}"#, #""b""#, true),
        (#"{"id":"a","p":1}"#, "1", false), (#"{"p":1}"#, "1", false), (#"[{"id":1,"p":1}]"#, "1", false),
    ])
    func anIdentifierIsNoObstacle(first: String, second: String, identifies: Bool) throws {
        let evolved = try evolve(#"[{"id":1,"o":\#(first)}]"#, with: #"[{"id":1,"o":\#(second)},{"id":2,"o":null}]"#)
        #expect(evolved.obstacles.map(\.kind) == (identifies ? [] : [.notObjects]))
        #expect(evolved.changes.isEmpty)
    }

    @Test func eachEntityHasItsObstacle() throws {
        let evolved = try evolve(
            #"[{"id":1,"o":{"id":1,"p":1},"q":{"id":1,"r":1}}]"#,
            with: #"[{"id":1,"o":{"id":true,"p":1},"q":{"id":1,"r":1}},{"id":2,"q":{"id":1,"r":2}}]"#)
        #expect(Set(evolved.obstacles.map { "\($0.entity) \($0.kind)" }) == ["O keyType", "Q identity"])
    }
}
