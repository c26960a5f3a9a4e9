import JSONMapper
import OneWayTestLimits
import SyncModel
import SyncStore
import Testing

@testable import StoreSync

/// What the state of a pass decides, from the payload alone. No store takes part.
@Suite(.endsInTime) struct PassStateTests {
    /// A pass over a list of companies, which can be nested in their users.
    private struct World {
        let mapper: RecordMapper
        var state: PassState

        init(_ rules: SyncRules = SyncRules(StoreSyncOptions(), isInferred: false)) throws {
            let model = try DataModel {
                SyncEntity("Company", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncRelationship("users", toMany: "User", inverse: "company")
                    SyncRelationship("tags", toMany: "Tag", inverse: "companies")
                    SyncRelationship("rooms", toMany: "Room", owns: true)
                }
                SyncEntity("User", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncRelationship("company", toOne: "Company", inverse: "users")
                    SyncRelationship("desk", toOne: "Desk", inverse: "user", deleteRule: .cascade)
                }
                SyncEntity("Tag", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncRelationship("companies", toMany: "Company", inverse: "tags")
                }
                SyncEntity("Room", identity: "id") { SyncAttribute("id", .int64) }
                SyncEntity("Desk") {
                    SyncAttribute("size", .int64)
                    SyncRelationship("user", toOne: "User", inverse: "desk")
                }
            }
            mapper = try RecordMapper(model)
            state = PassState(mapper.model, rules, list: try mapper.model.layout(of: "Company"))
        }

        /// A relationship by its entity and name, such as `Company.users`.
        func relationship(_ name: String) throws -> EntityLayout.Relationship {
            let parts = name.split(separator: ".").map(String.init)
            return try #require(try mapper.model.layout(of: parts[0]).relationship(parts[1]))
        }

        /// The values of a relationship in the JSON of objects, whose numbers are given.
        func links(
            _ name: String, _ json: [String], _ objects: [ObjectID], nestedBy outer: String? = nil
        ) throws -> GroupLinks {
            let relationship = try relationship(name)
            let layout = mapper.model.layouts[relationship.source]
            var collector = try RecordCollector(
                mapper, entity: layout.name, options: state.rules.readerOptions)
            for (index, json) in json.enumerated() { try collector.add(Array(json.utf8), index: index) }
            let group = try #require(try collector.takeBatch()?.groups.first)
            var origin = Origin(policy: state.rules.policy)
            origin.relationship = try outer.map(self.relationship)
            origin.inverse = origin.relationship.flatMap { mapper.model.inverse(of: $0) }
            let result = MergeRequest.Result(objects.map { .init($0, .unchanged) })
            return GroupLinks(group, result, origin, relationship.index, in: mapper.model, 0)
        }

        /// The elements of a relationship, whose objects have their identities as numbers.
        func merged(_ links: GroupLinks) throws -> MergedElements {
            let elements = try #require(links.elements(laterCounts: state.laterCounts(links.origin)))
            var merged = MergedElements(elements) { Int(elements.owners[$0]) }
            for group in elements.groups {
                for (row, ordinal) in group.elementIndices.enumerated() {
                    guard case .int(let number) = group.records.value(row: row, column: 0) else { continue }
                    merged.targets[ordinal] = number
                }
            }
            return merged
        }

        var kinds: [DriftReport.Kind: Int] {
            Dictionary(state.problems.drift.entries.map { ($0.kind, $0.count) }, uniquingKeysWith: +)
        }
    }

    // MARK: Which statement counts

    /// Statements about the users of companies, after statements about company 1.
    struct Decision: Sendable, CustomTestStringConvertible {
        let json: [String]
        let objects: [ObjectID]
        var outer: String?
        let counting: [Int]
        var beaten: [Int] = []

        var testDescription: String { "\(json) in \(outer ?? "the list")" }
    }

    static let decisions = [
        Decision(json: [#"{"id":1,"users_ids":[5]}"#], objects: [1], counting: [0]),
        Decision(json: [#"{"id":1,"users_ids":[5]}"#], objects: [1], outer: "Tag.companies", counting: [], beaten: [0]),
        Decision(json: [#"{"id":2,"users_ids":[5]}"#], objects: [2], outer: "Tag.companies", counting: [0]),
        Decision(
            json: [#"{"id":2,"users_ids":[5]}"#, #"{"id":2,"users_ids":[6]}"#, #"{"id":3,"users_ids":[7]}"#],
            objects: [2, 2, 3], outer: "Tag.companies", counting: [0, 2], beaten: [1]),
    ]

    @Test(arguments: decisions) func theListOrTheFirstStatementCounts(row: Decision) throws {
        var world = try World()
        let relationship = try world.relationship("Company.users")
        world.state.statements.insert([1], relationship, targets: [5], inverse: nil)
        let links = try world.links("Company.users", row.json, row.objects, nestedBy: row.outer)
        let elements = try #require(links.elements(laterCounts: world.state.laterCounts(links.origin)))
        let decision = world.state.decide(elements, links, early: nil)
        #expect(row.json.indices.filter { decision.isCounting[$0] } == row.counting)
        #expect(row.json.indices.filter { decision.isBeaten[$0] } == row.beaten)
    }

    @Test func ofRepeatedElementsOfTheListTheLastOneCounts() throws {
        let world = try World()
        let json = [#"{"id":1,"users_ids":[5]}"#, #"{"id":1,"users_ids":[6]}"#]
        let links = try world.links("Company.users", json, [1, 1])
        #expect(try world.merged(links).sources.map(\.row) == [1])
    }

    /// Whether a nested statement waits until the list has been read.
    @Test(arguments: [
        ("Company.tags", "Tag.companies", true), ("Company.users", "User.company", true),
        ("User.company", "Company.users", false), ("User.desk", "Company.users", false),
    ])
    func whatTheListMayDecideWaits(name: String, outer: String, waits: Bool) throws {
        var world = try World()
        let links = try world.links(name, [#"{"id":1}"#], [1], nestedBy: outer)
        func isWaiting(_ origin: Origin) -> Bool {
            world.state.waitsForList(links.relationship, of: links.layout, origin)
        }
        #expect(isWaiting(links.origin) == waits)
        #expect(!isWaiting(Origin(policy: links.origin.policy)))
        world.state.nested.isListRead = true
        #expect(!isWaiting(links.origin))
    }

    // MARK: What nested statements get

    /// A nested statement about the users of a company that has users 5 and 6.
    struct Statement: Sendable, CustomTestStringConvertible {
        let users: [Int]
        /// The users whose company the payload has stated before.
        let decided: [ObjectID]
        /// The companies, so far, of users whose own statement is not linked yet.
        var open: [ObjectID: [ObjectID]] = [:]
        /// The users that the company has after the statement.
        let targets: [ObjectID]
        var differs = true

        var testDescription: String { "\(users) after statements of \(decided), open \(open)" }
    }

    static let statements = [
        Statement(users: [5, 7], decided: [], targets: [5, 7], differs: false),
        Statement(users: [5, 7], decided: [5], targets: [5, 7], differs: false),
        Statement(users: [5, 7], decided: [7], targets: [5]),
        Statement(users: [5], decided: [6], targets: [5, 6]),
        Statement(users: [7], decided: [6, 7], targets: [6]),
        Statement(users: [5], decided: [6], open: [6: [1]], targets: [5, 6]),
        Statement(users: [5], decided: [6], open: [6: [2]], targets: [5], differs: false),
        Statement(users: [5, 7], decided: [7], open: [7: [1]], targets: [5, 7], differs: false),
        Statement(users: [5, 7], decided: [7], open: [7: [2]], targets: [5]),
    ]

    @Test(arguments: statements) func aNestedStatementKeepsWhatWasDecided(row: Statement) throws {
        var world = try World()
        let inverse = try world.relationship("User.company")
        world.state.statements.insert(row.decided, inverse, targets: [], inverse: nil)
        for (user, companies) in row.open {
            world.state.openTargets[RelationshipSource(inverse.id, of: user)] = companies
        }
        let links = try world.links(
            "Company.users", [#"{"id":1,"users_ids":\#(row.users)}"#], [1], nestedBy: "Tag.companies")
        let merged = try world.merged(links)
        let contested = world.state.contested(merged, links)
        let share = world.state.share(merged, links, contested: contested, [1: [5, 6]])
        let statement = LinkStatement(merged.sources[0], 1, targets: merged.targets, share)
        #expect(statement.targets.sorted() == row.targets && share.differs.isEmpty != row.differs)
        world.state.note(merged, links, share)
        #expect(world.kinds == (row.differs ? [.conflict: 1] : [:]))
        #expect(world.state.statements.stated(links.relationship).contains(1))
    }

    /// A statement that differs from the one that counts is reported.
    @Test(arguments: [([5, 6], 0), ([6, 5], 0), ([5], 1), ([5, 7], 1)])
    func aBeatenStatementIsCompared(users: [Int], conflicts: Int) throws {
        var world = try World()
        let links = try world.links(
            "Company.users", [#"{"id":1,"users_ids":\#(users)}"#], [1], nestedBy: "Tag.companies")
        world.state.compare(try world.merged(links), links, with: BeatenStatements(current: [1: [5, 6]]))
        #expect(world.kinds[.conflict, default: 0] == conflicts)
    }

    // MARK: The list

    @Test func aDuplicateOfTheListIsReportedUnlessItMayBeReadAgain() throws {
        var listed = try World().state.listed
        let rows: [MergeRequest.Result.Row?] = [.init(1, .inserted), nil, .init(2, .unchanged)]
        #expect(listed.canBeNested && listed.insert(rows).isEmpty)
        #expect(listed.insert([.init(3, .inserted), .init(2, .unchanged)]) == [1])
        listed.reportsDuplicates = false
        #expect(listed.insert(rows).isEmpty)
        listed.beginAnew()
        #expect(!listed.contains(1))
    }

    // MARK: The end

    /// Objects that lost their source, and whether they are deleted unless a source has them.
    struct Orphan: Sendable, CustomTestStringConvertible {
        let relationship: String
        let object: ObjectID
        /// The objects of the payload, of the same entity.
        var seen: [ObjectID] = []
        var mayLackObjects = false
        let isCandidate: Bool

        var testDescription: String { "\(relationship) \(object), seen \(seen), lacking \(mayLackObjects)" }
    }

    static let orphans = [
        Orphan(relationship: "Company.users", object: 5, isCandidate: true),
        Orphan(relationship: "Company.users", object: 5, seen: [5], isCandidate: false),
        Orphan(relationship: "Company.users", object: 5, mayLackObjects: true, isCandidate: false),
        Orphan(relationship: "Company.rooms", object: 5, mayLackObjects: true, isCandidate: true),
        Orphan(relationship: "User.desk", object: 5, seen: [5], mayLackObjects: true, isCandidate: true),
        Orphan(relationship: "Company.tags", object: 5, isCandidate: true),
    ]

    @Test(arguments: orphans) func anOrphanWithAnotherPlaceIsKept(row: Orphan) throws {
        var world = try World()
        let relationship = try world.relationship(row.relationship)
        let destination = world.mapper.model.layouts[relationship.destination]
        _ = world.state.counts.count(MergeRequest.Result(row.seen.map { .init($0, .unchanged) }), of: destination)
        world.state.problems.mayLackObjects = row.mayLackObjects
        world.state.orphaned.insert([row.object], by: relationship)
        let candidates = world.state.takeOrphaned()
        // Where an object may be lacking, some are counted instead.
        #expect(candidates.filter { !$0.areKept }.map(\.objects) == (row.isCandidate ? [[row.object]] : []))
        #expect(candidates.contains(where: \.areKept) == (row.mayLackObjects && !row.isCandidate))
        #expect(world.state.takeOrphaned().isEmpty)
    }

    /// Company 1 names users 5, which is there, and 6 and 7, which are not.
    @Test(arguments: [([6, 7], [5, 6, 7], 0), ([6], [5, 6], 1), ([], [], 2)] as [([ObjectID], [ObjectID], Int)])
    func theEndLinksWhatHasCome(come: [ObjectID], linked: [ObjectID], pending: Int) throws {
        var world = try World()
        let links = try world.links("Company.users", [#"{"id":1,"users_ids":[5,6,7]}"#], [1])
        var merged = try world.merged(links)
        let identifiers = try #require(merged.elements.identifierGroups.first)
        for row in 1...2 {
            merged.targets[row] = nil
            merged.unknown.add(row, of: identifiers.records, ordinal: row)
        }
        world.state.defer(merged, links, PassState.Share())
        #expect(world.state.deferred.lacksObjects(of: 1, links.relationship))
        let unknown = try #require(world.state.deferred.unknown[links.relationship.id])
        let found = (0..<unknown.count).map { row -> ObjectID? in
            guard case .int(let number) = unknown.value(row: row, column: 0) else { return nil }
            return come.contains(number) ? number : nil
        }
        let resolution = world.state.deferred.resolved(
            [links.relationship.id: found], world.state.rules, in: world.mapper.model)
        #expect(resolution.batches.map(\.targets) == (linked.isEmpty ? [] : [linked]))
        #expect(resolution.pending.targets.values.joined().count == pending)
        world.state.endChange()
        #expect(!world.state.deferred.isEmpty)
    }
}
