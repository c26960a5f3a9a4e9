import JSONMapper
import OneWayStoreTestSupport
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Cases that random payloads found, in the form in which ``RandomCaseTests`` reports them.
@Suite(.endsInTime) struct KnownCaseTests {
    struct Known: Sendable, CustomTestStringConvertible {
        let name: String
        /// The relationships, then the payloads.
        let text: String

        var testDescription: String { name }
    }

    /// Nothing contradicts itself: no conflict, and the second sync writes nothing.
    @Test(
        arguments: [
            Known(
                name: "a child that its parent identifies names the parent, which has it again",
                text: """
                    Ant.r4 to Egg, inverse Egg.s4
                    [{"id":3,"r4":{"id":1,"s4":{"id":3,"r4":{"id":1,"rank":1}}}}]
                    """),
            Known(
                name: "the second mention of a child that its parent identifies says more",
                text: """
                    Ant.r1 many to Bee, inverse Bee.s1 many
                    Ant.r5 many to Egg, inverse Egg.s5
                    [{"id":3,"r1":[{"id":4,"s1":[{"id":3,"r5":[{"id":2}]}]},{"id":5,"s1":[{"id":3,"r5":[{"id":2,"rank":2}]}]}]}]
                    """),
            Known(
                name: "an object without an identity names the one around it, which its parent identifies",
                text: """
                    Ant.r2 to Egg, inverse Egg.s2
                    Egg.r3 to Dot, inverse Dot.s3
                    [{"id":1,"r2":{"id":1,"r3":{"rank":212,"s3":{"id":1}}}}]
                    """),
            Known(
                name: "an object that another one identifies names an object that goes",
                text: """
                    Ant.r2 many to Egg, inverse Egg.s2
                    Egg.r3 to Ant, inverse Ant.s3 many
                    [{"id":2}]
                    [{"id":1,"r2":[{"id":2,"r3_id":2}]}]
                    """),
            Known(
                name: "an object that a list leads to is of a sub-entity, as is said later",
                text: """
                    Fly.r1 to Cat, inverse none
                    Ant.r2 many to Bee, inverse none
                    Ant.r3 many to Bee, inverse none
                    [{"id":2,"r3":[{"id":1}]},{"id":3,"r3":[{"id":2},{"id":1,"kind":1}]},{"id":4,"r2_ids":[2,1]}]
                    """),
            Known(
                name: "the list says of which sub-entity an object is, and a nested object does not",
                text: """
                    Fly.r1 to Cat, inverse none
                    Ant.r2 to Bee, inverse none
                    Ant.r3 to Ant, inverse none
                    [{"id":1,"r2":{"id":3,"kind":1}},{"id":2,"r3":{"id":1,"r2":{"id":3}}}]
                    """),
            Known(
                name: "a nested object says of which sub-entity an object is, and the list does not",
                text: """
                    Fly.r1 to Cat, inverse none
                    Ant.r2 to Bee, inverse none
                    Ant.r3 to Ant, inverse none
                    [{"id":1,"r2":{"id":3}},{"id":2,"r3":{"id":1,"r2":{"id":3,"kind":1}}}]
                    """),
            Known(
                name: "an object of a sub-entity becomes one of the entity above, which only one place says",
                text: """
                    Fly.r1 to Cat, inverse none
                    Ant.r2 to Bee, inverse none
                    Ant.r3 to Bee, inverse none
                    [{"id":1,"r2":{"id":3,"kind":1,"r1":{"id":1}}}]
                    [{"id":1,"r2":{"id":3}},{"id":2,"r3":{"id":3,"kind":0}}]
                    """),
            Known(
                name: "several objects name the one around them, which its parent identifies",
                text: """
                    Ant.r4 to Egg, inverse Egg.s4
                    Egg.r5 many to Dot, inverse Dot.s5
                    [{"id":4,"r4":{"id":2,"r5":[{"rank":521,"s5":{"id":2,"rank":2}},{"rank":522,"s5":{"id":2,"rank":2}}]}}]
                    """),
            Known(
                name: "an object without an identity names an object that goes",
                text: """
                    Ant.r4 many to Dot, inverse none
                    Dot.r5 to Ant, inverse Ant.s5 many
                    [{"id":1}]
                    [{"id":2,"r4":[{"rank":121,"r5_id":1}]}]
                    """),
            Known(
                name: "an object without an identity no longer names the object that goes",
                text: """
                    Ant.r4 many to Dot, inverse none
                    Dot.r5 to Ant, inverse Ant.s5 many
                    [{"id":4,"r4":[{"rank":142,"r5":{"id":3}}]}]
                    [{"id":4,"r4":[{"rank":142}]}]
                    """),
            Known(
                name: "the object that an object without an identity names lets it go first",
                text: """
                    Ant.r4 many to Dot, inverse none
                    Dot.r5 to Ant, inverse Ant.s5 many
                    [{"id":4,"r4":[{"rank":142,"r5_id":3}]},{"id":3}]
                    [{"id":3,"s5":[]},{"id":4,"r4":[{"rank":142,"r5_id":null}]}]
                    """),
            Known(
                name: "one of several objects that name the one around them names the parent of that one, too",
                text: """
                    Ant.r3 to Egg, inverse Egg.s3
                    Egg.r4 many to Dot, inverse Dot.s4
                    [{"id":4,"r3":{"id":1,"r4":[{"rank":511,"s4":{"id":1,"rank":1,"s3_id":4}},{"rank":512,"s4":{"id":1,"rank":1}}]}}]
                    """),
            Known(
                name:
                    "an object names the one around it, which is new in an ordered relationship of a parent that it names",
                text: """
                    Ant.r3 ordered to Egg, inverse Egg.s3
                    Egg.r4 many to Dot, inverse Dot.s4
                    [{"id":3}]
                    [{"id":3,"r3":[{"id":1,"r4":[{"rank":412,"s4":{"id":1,"s3_id":3}},{"rank":411}]},{"id":2}]}]
                    """),
        ], [false, true])
    func aPayloadThatAgreesWithItselfHolds(known: Known, areChanges: Bool) async throws {
        try await check(known, isConsistent: true, areChanges: areChanges)
    }

    /// A change deletes nothing that it states.
    @Test(arguments: [
        Known(
            name: "the owner of a list's object goes",
            text: """
                Ant.r2 many to Egg, inverse Egg.s2
                Egg.r4 many to Ant, inverse Ant.s4 owns
                [{"id":1,"r2":[{"id":1,"r4_ids":[1]}]}]
                [{"id":1,"r2":[]}]
                """),
        Known(
            name: "an object moves, beside an identifier without an object",
            text: """
                Ant.r0 many to Bee, inverse none owns
                Ant.r1 many to Cat, inverse none
                [{"id":1,"r0":[{"id":3}]}]
                [{"id":1,"r0":[]},{"id":3,"r1_ids":[4]},{"id":4,"r0":[{"id":3}]}]
                """),
        Known(
            name: "an identifier names an object that lost its place",
            text: """
                Ant.r1 many to Ant, inverse Ant.s1
                [{"id":3},{"id":1,"r1_ids":[3]}]
                [{"id":2,"s1":{"id":1,"s1_id":3,"r1":[{"id":2},{"id":4}]}}]
                """),
    ])
    func aChangeDeletesNothingThatItStates(known: Known) async throws {
        try await check(known, isConsistent: true, areChanges: true)
    }

    /// The size of batches makes no difference.
    @Test(arguments: [
        Known(
            name: "an identifier without an object, and another object in its place",
            text: """
                Ant.r1 to Ant, inverse Ant.s1
                [{"id":3,"s1_id":1},{"id":1},{"id":2,"r1":{"id":3}}]
                """),
        Known(
            name: "an element contradicts itself, and another one agrees with one half",
            text: """
                Ant.r1 to Ant, inverse Ant.s1
                [{"id":4,"s1":{"id":2,"r1_id":null}},{"id":2,"r1_id":null}]
                """),
        Known(
            name: "no identifiers, and then no objects",
            text: """
                Ant.r0 many to Bee, inverse none
                Bee.r1 many to Bee, inverse none
                Cat.r4 to Bee, inverse Bee.s4 many
                [{"id":3,"r0":[{"id":3,"s4":[{"id":3}]}]}]
                [{"id":3,"r0":[{"id":3,"s4_ids":[]}]},{"id":4,"r0":[{"id":3,"r1":[{"id":3,"s4":[]}]}]}]
                """),
        Known(
            name: "an object names the one around it, and the list names another by an identifier",
            text: """
                Ant.r0 to Cat, inverse Cat.s0 many
                [{"id":2,"r0":{"id":3,"s0":[{"id":1,"r0":{"id":3,"rank":2}}]}},{"id":1,"r0_id":1},{"id":3,"r0":{"id":1}}]
                """),
        Known(
            name: "an object around another one in the list states a relationship differently",
            text: """
                Ant.r1 many to Bee, inverse Bee.s1
                Ant.r3 to Bee, inverse Bee.s3 many
                [{"id":1,"r3":{"id":1,"s1":{"id":1,"r3":{"id":3}}}},{"id":3,"r3":{"id":2,"s1":{"id":3,"r1":[]}}}]
                """),
        Known(
            name: "an object in an ordered relationship states another source, beside one that moves",
            text: """
                Ant.r2 ordered to Ant, inverse Ant.s2
                [{"id":3,"r2":[{"id":1}]},{"id":4,"s2":{"id":2},"r2":[{"id":4},{"id":1}]}]
                """),
        Known(
            name: "several objects name the one around them, with different identities within its parent",
            text: """
                Ant.r4 to Egg, inverse Egg.s4
                Egg.r5 many to Dot, inverse Dot.s5
                [{"id":4,"r4":{"id":2,"r5":[{"rank":521,"s5":{"id":2,"rank":2}},{"rank":522,"s5":{"id":3,"rank":3}}]}}]
                """),
        Known(
            name: "an object without an identity names another one, and goes with the one that contains it",
            text: """
                Ant.r2 many to Egg, inverse Egg.s2
                Egg.r4 many to Dot, inverse none
                Dot.r5 to Ant, inverse Ant.s5 many
                [{"id":1,"r2":[{"id":1,"r4":[{"rank":1,"r5_id":1}]}]},{"id":1,"r2":[]}]
                """),
    ])
    func batchesMakeNoDifference(known: Known) async throws {
        try await check(known, isConsistent: false, areChanges: false)
    }

    private func check(_ known: Known, isConsistent: Bool, areChanges: Bool) async throws {
        let lines = known.text.split(separator: "\n").map(String.init)
        let relations = lines.compactMap { RandomCase.Relation($0) }
        let payloads = lines.dropFirst(relations.count)
        #expect(!relations.isEmpty && payloads.allSatisfy { $0.hasPrefix("[") })
        let mapper = try RandomCase(relations: relations, payloads: [], isConsistent: isConsistent).mapper()
        var worlds: [RealJSONWorld] = []
        for rowCount in [1, 2, 1000] {
            let store = HookedStore(MemoryStore(exactly: mapper.model), SmallBatches(rowCount))
            worlds.append(try RealJSONWorld(store, mapper: mapper))
        }
        for payload in payloads {
            var first: (contents: [String], conflictCount: Int)?
            for world in worlds {
                let outcome = try await world.outcome(of: payload, into: "Ant", isChange: areChanges)
                #expect(outcome.problems.filter { isConsistent || !$0.isOfSecondSync } == [])
                let conflictCount = outcome.result.drift.count(of: .conflict)
                if isConsistent { #expect(conflictCount == 0, "\(outcome.result.drift)") }
                let contents = try await world.contents()
                #expect(first?.contents ?? contents == contents)
                #expect(first?.conflictCount ?? conflictCount == conflictCount)
                first = (contents, conflictCount)
            }
        }
    }
}

extension RandomCase.Relation {
    /// Reads a relationship in the form in which a case describes it; nil for anything else.
    fileprivate init?(_ description: String) {
        let words = description.split(separator: " ").map { $0.filter { $0 != "," } }
        guard let to = words.firstIndex(of: "to"), let inverse = words.firstIndex(of: "inverse"), to < inverse,
            let source = End(words[..<to]), let destination = RandomCase.entityNames.firstIndex(of: words[to + 1])
        else { return nil }
        var (rest, rules) = (words[(inverse + 1)...], Set<String>())
        while let rule = rest.last, ["cascade", "deny", "owns", "mandatory"].contains(rule) {
            rules.insert(rest.removeLast())
        }
        let isSymmetric = rest == ["itself"]
        self.init(
            source: source,
            target: isSymmetric
                ? source
                : End(rest) ?? End(entity: destination, name: "", isToMany: false, isOrdered: false),
            hasInverse: rest != ["none"], isSymmetric: isSymmetric,
            deleteRule: rules.contains("cascade") ? .cascade : rules.contains("deny") ? .deny : .nullify,
            owns: rules.contains("owns"), isMandatory: rules.contains("mandatory"))
    }
}

extension RandomCase.Relation.End {
    fileprivate init?(_ words: ArraySlice<String>) {
        let path = words.first?.split(separator: ".") ?? []
        guard path.count == 2, let entity = RandomCase.entityNames.firstIndex(of: String(path[0])) else { return nil }
        let kind = words.dropFirst().first
        self.init(entity: entity, name: String(path[1]), isToMany: kind != nil, isOrdered: kind == "ordered")
    }
}
