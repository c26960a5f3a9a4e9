import OneWayStoreKinds
import OneWayTestLimits
import SyncModel
import SyncStore
import Testing

/// Inserted objects are found within their parents, and leave nothing behind that they owned.
@Suite(.serialized, .endsInTime) struct ObjectInsertionTests {
    private struct Order: SyncObject {
        var id: Int
        var lines: Related<[Line]>
        static let declaration = SyncDeclaration<Order>(
            .identity(\.id), .toMany(\.lines, inverse: \.order, deleteRule: .cascade))
    }

    private struct Line: SyncObject {
        var number: Int?
        var text: String
        var order: Related<Order?>
        static let declaration = SyncDeclaration<Line>(.identity(\.number, within: \.order))
    }

    private func order(_ id: Int, _ lines: [Line]? = nil) -> Order {
        Order(id: id, lines: lines.map { Related.included($0) } ?? .notIncluded)
    }

    private func line(_ number: Int?, _ text: String, of order: Order? = nil) -> Line {
        Line(number: number, text: text, order: order == nil ? .notIncluded : .included(order))
    }

    /// The texts and numbers of all lines, with the identity of their order.
    private func lines(in store: any Store) async throws -> [String] {
        try await store.all(Line.self, orderedBy: \.text, including: \.order).map { line in
            let order = (line.order.value ?? nil).map { "\($0.id)" }
            return "\(line.text) \(line.number ?? 0) of \(order ?? "none")"
        }
    }

    @Test(arguments: StoreKind.all)
    func aChildIsFoundInTheParentThatItStates(kind: StoreKind) async throws {
        try await kind.use { makeStore in
            let store = try await makeStore(try DataModel(Order.self))
            for text in ["a", "b"] { try await store.insert(line(1, text, of: order(1))) }
            try await store.insert([line(1, "c", of: order(2)), line(2, "d", of: order(1))])
            var found = try await lines(in: store)
            #expect(found == ["b 1 of 1", "c 1 of 2", "d 2 of 1"])
            // The last one of each identity counts.
            let numbers = try await store.transaction {
                try await $0.insert([
                    line(1, "e", of: order(1)), line(1, "f", of: order(2)), line(1, "g", of: order(1)),
                ])
            }
            #expect(numbers[0] == numbers[2] && numbers[0] != numbers[1])
            found = try await lines(in: store)
            #expect(found == ["d 2 of 1", "f 1 of 2", "g 1 of 1"])
        }
    }

    @Test(arguments: StoreKind.all)
    func aChildIsFoundInTheParentThatContainsIt(kind: StoreKind) async throws {
        try await kind.use { makeStore in
            let store = try await makeStore(try DataModel(Order.self))
            try await store.insert([order(1, [line(1, "a"), line(2, "b")]), order(2, [line(1, "c")])])
            let former = try await store.records(StoreQuery("Line", where: PropertyPath("text") == "b")).map(\.object)
            try await store.insert([order(1, [line(2, "d"), line(3, "e")]), order(2)])
            var found = try await lines(in: store)
            #expect(found == ["c 1 of 2", "d 2 of 1", "e 3 of 1"])
            let kept = try await store.records(StoreQuery("Line", where: PropertyPath("text") == "d")).map(\.object)
            #expect(kept == former)
            // Without a number, nothing identifies a child.
            for _ in 1...2 { try await store.insert(order(1, [line(nil, "f"), line(nil, "g")])) }
            found = try await lines(in: store)
            #expect(found == ["c 1 of 2", "f 0 of 1", "g 0 of 1"])
            try await store.insert(order(1, []))
            found = try await lines(in: store)
            #expect(found == ["c 1 of 2"])
        }
    }

    private struct Post: SyncObject {
        var id: Int
        var comments: Related<[Comment]>
    }

    private struct Comment: SyncObject {
        var text: String
        var image: Related<Image?>
        static let declaration = SyncDeclaration<Comment>(.toOne(\.image, deleteRule: .cascade))
    }

    private struct Image: SyncObject {
        var id: Int
    }

    @Test(arguments: StoreKind.all)
    func aChildWithoutIdentityIsReplaced(kind: StoreKind) async throws {
        try await kind.use { makeStore in
            let store = try await makeStore(try DataModel(Post.self))
            func insert(images: [Int]) async throws {
                let comments = images.map { Comment(text: "a", image: .included(Image(id: $0))) }
                try await store.insert(Post(id: 1, comments: .included(comments)))
            }
            // The cascade of a replaced comment does not reach what the new one holds.
            for images in [[1], [1], [2, 3], [3], [3]] {
                try await insert(images: images)
                let comments = try await store.all(Comment.self, including: \.image)
                #expect(comments.compactMap { $0.image.value??.id }.sorted() == images)
                let stored = try await store.all(Image.self, orderedBy: \.id).map(\.id)
                #expect(stored == images)
            }
        }
    }

    private struct Book: SyncObject {
        var id: Int
        var cover: Related<Cover?>
        static let declaration = SyncDeclaration<Book>(.identity(\.id), .toOne(\.cover, inverse: \.book))
    }

    private struct Cover: SyncObject {
        var color: String
        var book: Related<Book?>
    }

    @Test(arguments: StoreKind.all)
    func theOnlyChildOfAParentIsReplacedFromBothEnds(kind: StoreKind) async throws {
        try await kind.use { makeStore in
            let store = try await makeStore(try DataModel(Book.self))
            for color in ["red", "blue"] {
                try await store.insert(Cover(color: color, book: .included(Book(id: 1, cover: .notIncluded))))
            }
            var colors = try await store.all(Cover.self).map(\.color)
            #expect(colors == ["blue"])
            try await store.insert(Book(id: 1, cover: .included(Cover(color: "green", book: .notIncluded))))
            colors = try await store.all(Cover.self).map(\.color)
            #expect(colors == ["green"])
        }
    }

    private struct Album: SyncObject {
        var id: Int
        var photos: Related<[Photo]>
        static let declaration = SyncDeclaration<Album>(
            .identity(\.id), .toMany(\.photos, inverse: \.albums, owns: true))
    }

    private struct Photo: SyncObject {
        var id: Int
        var albums: Related<[Album]>
    }

    @Test(arguments: StoreKind.all)
    func anOwnedObjectStaysWithItsOtherOwner(kind: StoreKind) async throws {
        try await kind.use { makeStore in
            let store = try await makeStore(try DataModel(Album.self))
            func album(_ id: Int, _ photos: [Int]) -> Album {
                Album(id: id, photos: .included(photos.map { Photo(id: $0, albums: .notIncluded) }))
            }
            func photos() async throws -> [Int] { try await store.all(Photo.self, orderedBy: \.id).map(\.id) }
            try await store.insert([album(1, [1, 2, 3]), album(2, [2])])
            try await store.insert(album(1, [3]))
            var stored = try await photos()
            #expect(stored == [2, 3])
            // A move.
            try await store.insert([album(1, []), album(2, [3])])
            stored = try await photos()
            #expect(stored == [3])
        }
    }
}
