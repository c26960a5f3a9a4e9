import OneWayTestLimits
import SyncModel
import SyncStore
import Testing

/// Live queries see commits that change only what their objects lead to.
@Suite(.endsInTime) struct LiveRelationshipTests {
    struct Office: SyncObject, Equatable {
        var id: Int
        var rooms: Related<[Room]>
        static let declaration = SyncDeclaration<Office>(
            .identity(\.id), .toMany(\.rooms, inverse: \.office, ordered: true))
    }

    struct Room: SyncObject, Equatable {
        var id: Int
        var floor = 0
        var office: Related<Office?>
        var lamp: Related<Lamp?>
        static let declaration = SyncDeclaration<Room>(.identity(\.id))
    }

    struct Lamp: SyncObject, Equatable {
        var id: Int
        var power: Int
        static let declaration = SyncDeclaration<Lamp>(.identity(\.id))
    }

    private func room(_ id: Int, lamp: Int? = nil, power: Int = 10) -> Room {
        Room(id: id, office: .notIncluded, lamp: .included(lamp.map { Lamp(id: $0, power: power) }))
    }

    /// Two offices: the first one has the rooms 1 and 2, the second one has room 3.
    private func store() async throws -> MemoryStore {
        let store = MemoryStore(exactly: try DataModel(Office.self))
        try await store.insert([
            Office(id: 1, rooms: .included([room(1, lamp: 1), room(2, lamp: 2)])),
            Office(id: 2, rooms: .included([room(3, lamp: 3)])),
        ])
        return store
    }

    @Test(
        arguments: [
            (.any(\.rooms, where: \.lamp.power > 50), [[], [2], []]),
            (!.any(\.rooms, where: \.lamp.power > 50), [[1, 2], [1], [1, 2]]),
            (.all(\.rooms, where: \.lamp.power < 50) && \.id > 0, [[1, 2], [1], [1, 2]]),
            (\.id == 1 || .count(\.rooms, where: \.lamp.power > 50, in: 1...), [[1], [1, 2], [1]]),
        ] as [(ObjectPredicate<Office>, [[Int]])])
    func whatAConditionLeadsToIsObserved(condition: ObjectPredicate<Office>, expected: [[Int]]) async throws {
        let store = try await store()
        var states = store.values(of: Office.self, where: condition, orderedBy: \.id).makeAsyncIterator()
        #expect(try await states.next()?.map(\.id) == expected[0])
        try await store.insert(Lamp(id: 1, power: 11))
        try await store.insert(Lamp(id: 3, power: 100))
        #expect(try await states.next()?.map(\.id) == expected[1])
        try await store.insert(Lamp(id: 3, power: 20))
        #expect(try await states.next()?.map(\.id) == expected[2])
    }

    @Test func objectsThatAConditionCountsAreObserved() async throws {
        let store = try await store()
        var states = store.values(of: Office.self, where: .any(\.rooms, where: \.floor == 2)).makeAsyncIterator()
        #expect(try await states.next() == [])
        try await store.insert(Room(id: 3, floor: 2, office: .notIncluded, lamp: .notIncluded))
        #expect(try await states.next()?.map(\.id) == [2])
    }

    @Test func whatAnOrderLeadsToIsObserved() async throws {
        let store = try await store()
        var states = store.values(of: Room.self, orderedBy: \.lamp.power, \.id).makeAsyncIterator()
        #expect(try await states.next()?.map(\.id) == [1, 2, 3])
        try await store.insert(Lamp(id: 3, power: 1))
        #expect(try await states.next()?.map(\.id) == [3, 1, 2])
    }

    @Test func whatIsIncludedIsObserved() async throws {
        let store = try await store()
        var states = store.values(of: Office.self, orderedBy: \.id, including: \.rooms.lamp).makeAsyncIterator()
        func powers(_ offices: [Office]?) -> [[Int?]]? {
            offices?.map { $0.rooms.value?.map { $0.lamp.value??.power } ?? [] }
        }
        #expect(powers(try await states.next()) == [[10, 10], [10]])
        try await store.insert(Lamp(id: 2, power: 7))
        #expect(powers(try await states.next()) == [[10, 7], [10]])
    }

    @Test func changedLinksOfIncludedListsAreObserved() async throws {
        let store = try await store()
        var states = store.values(of: Office.self, orderedBy: \.id, including: \.rooms).makeAsyncIterator()
        func rooms(_ offices: [Office]?) -> [[Int]]? { offices?.map { $0.rooms.value?.map(\.id) ?? [] } }
        #expect(rooms(try await states.next()) == [[1, 2], [3]])
        // Another order.
        try await store.insert(Office(id: 1, rooms: .included([room(2, lamp: 2), room(1, lamp: 1)])))
        #expect(rooms(try await states.next()) == [[2, 1], [3]])
        // Another office for the same rooms.
        try await store.insert(
            Office(id: 1, rooms: .included([room(2, lamp: 2), room(1, lamp: 1), room(3, lamp: 3)])))
        #expect(rooms(try await states.next()) == [[2, 1, 3], []])
        try await store.insert(Office(id: 2, rooms: .included([room(3, lamp: 3)])))
        #expect(rooms(try await states.next()) == [[2, 1], [3]])
    }

    private struct Shelf: SyncObject {
        var id: Int
        var front: Related<[Book]>
        var back: Related<[Book]>
        static let declaration = SyncDeclaration<Shelf>(.identity(\.id))
    }

    private struct Book: SyncObject {
        var id: Int
        static let declaration = SyncDeclaration<Book>(.identity(\.id))
    }

    /// Both lists together still have the same books.
    @Test func anObjectThatMovesFromOneListToAnotherIsObserved() async throws {
        let store = MemoryStore(exactly: try DataModel(Shelf.self))
        func put(front: [Int], back: [Int]) async throws {
            func books(_ ids: [Int]) -> Related<[Book]> { .included(ids.map { Book(id: $0) }) }
            try await store.insert(Shelf(id: 1, front: books(front), back: books(back)))
        }
        try await put(front: [1], back: [])
        var states = store.values(of: Shelf.self, including: \.front, \.back).makeAsyncIterator()
        func places(_ shelves: [Shelf]?) -> [[Int]?]? {
            shelves?.first.map { [$0.front.value?.map(\.id), $0.back.value?.map(\.id)] }
        }
        #expect(places(try await states.next()) == [[1], []])
        try await put(front: [], back: [1])
        #expect(places(try await states.next()) == [[], [1]])
    }
}
