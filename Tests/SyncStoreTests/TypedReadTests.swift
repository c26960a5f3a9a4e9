import OneWayTestLimits
import OneWayTestSupport
import SyncModel
import SyncStore
import Testing

/// Typed reads of a store in memory, beside the same in plain Swift. Every store is tested by
/// `ScenarioTests`.
@Suite(.endsInTime) struct TypedReadTests {
    struct Book: SyncObject, Equatable {
        var id: Int
        var title: String
        var pages: Int?
        var price: Double
        var author: Related<Author?>
        static let declaration = SyncDeclaration<Book>(.identity(\.id))
    }

    struct Author: SyncObject, Equatable {
        var id: Int
        var name: String
        static let declaration = SyncDeclaration<Author>(.identity(\.id))
    }

    /// Few titles and page counts, so that orders have ties.
    private static let books: [Book] = {
        var random = SeededRandom(seed: 5)
        return (1...60).shuffled(using: &random).map { id in
            Book(
                id: id, title: "title \(Int.random(in: 1...5, using: &random))",
                pages: id % 7 == 0 ? nil : Int.random(in: 1...4, using: &random) * 100,
                price: Double(Int.random(in: 1...40, using: &random)) / 4,
                author: .included(
                    id % 5 == 0 ? nil : Author(id: id % 3, name: "author \(id % 3)")))
        }
    }()

    private func store() async throws -> MemoryStore {
        let store = MemoryStore(exactly: try DataModel(Book.self))
        try await store.insert(Self.books)
        return store
    }

    /// Books by title, and those of one title by descending number of pages, none first; ties in
    /// the order of their insertion.
    private static var inOrder: [Book] {
        books.enumerated().sorted { one, other in
            if one.element.title != other.element.title { return one.element.title < other.element.title }
            let (pages, others) = (one.element.pages ?? .max, other.element.pages ?? .max)
            return pages == others ? one.offset < other.offset : pages > others
        }.map(\.element)
    }

    @Test func ordersLimitsAndOffsetsAreThoseOfSwift() async throws {
        let store = try await store()
        let all = try await store.all(
            Book.self, orderedBy: \.title, \.pages.descending, including: \.author)
        #expect(all == Self.inOrder)
        for (limit, offset) in [(10, 0), (10, 55), (0, 0), (100, 3), (1, 60)] {
            let some = try await store.all(
                ObjectQuery<Book>(
                    orderedBy: \.title, \.pages.descending, limit: limit, offset: offset, including: \.author))
            #expect(some == Array(Self.inOrder.dropFirst(offset).prefix(limit)))
        }
        let first = try await store.first(Book.self, where: \.author == nil, orderedBy: \.id.descending)
        #expect(first?.id == 60)
    }

    @Test func aLimitOfNothingIsNothing() async throws {
        let store = try await store()
        let none = ObjectQuery<Book>(orderedBy: \.title, limit: 0)
        #expect(try await store.read { try await $0.first(none) } == nil)
        let page = try await store.page(none)
        #expect(page.objects.isEmpty && page.next == nil)
        let several = ObjectQuery<Book>(orderedBy: \.title, \.pages.descending, limit: 5)
        #expect(try await store.read { try await $0.first(several)?.id } == Self.inOrder[0].id)
    }

    @Test(arguments: [1, 7, 59, 60, 61])
    func pagesAfterAKeyAreTheWholeInOrder(limit: Int) async throws {
        let store = try await store()
        let query = ObjectQuery<Book>(orderedBy: \.title, \.pages.descending, limit: limit)
        var (ids, key, sizes) = ([Int](), StoreQuery.PageKey?.none, [Int]())
        repeat {
            let page = try await store.page(query, after: key)
            ids += page.objects.map(\.id)
            sizes.append(page.objects.count)
            key = page.next
        } while key != nil
        #expect(ids == Self.inOrder.map(\.id))
        #expect(sizes.dropLast().allSatisfy { $0 == limit })
    }

    @Test func valuesAndGroupsAreThoseOfSwift() async throws {
        let store = try await store()
        let titles = Dictionary(grouping: Self.books, by: \.title)
        #expect(try await store.distinct(Book.self, of: \.title) == titles.keys.sorted())
        let counts = try await store.counts(Book.self, by: \.title)
        #expect(
            counts
                == titles.sorted { $0.key < $1.key }.map { StoreQuery.GroupCount(value: $0.key, count: $0.value.count) }
        )
        let pages = Self.books.compactMap(\.pages)
        #expect(try await store.minimum(Book.self, of: \.pages) == pages.min())
        #expect(try await store.maximum(Book.self, of: \.pages) == pages.max())
        #expect(try await store.sum(Book.self, of: \.pages) == pages.reduce(0, +))
        #expect(try await store.average(Book.self, of: \.pages) == Double(pages.reduce(0, +)) / Double(pages.count))
        #expect(try await store.sum(Book.self, of: \.price) == Self.books.reduce(0) { $0 + $1.price })
        #expect(try await store.sum(Book.self, of: \.pages, where: \.id > 60) == nil)
        #expect(try await store.distinct(Book.self, of: \.author.name) == [nil, "author 0", "author 1", "author 2"])
    }

    @Test func batchesHaveAllObjectsInOrder() async throws {
        let batches = try await store().read { reader in
            var batches: [[Int]] = []
            try await reader.batches(of: ObjectQuery<Book>(orderedBy: \.id), rowCount: 25) {
                batches.append($0.map(\.id))
            }
            return batches
        }
        #expect(batches == [Array(1...25), Array(26...50), Array(51...60)])
    }
}
