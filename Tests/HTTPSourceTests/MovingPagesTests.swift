import OneWayTestLimits
import SyncBase
import Foundation
import HTTPSource
import HTTPTransfer
import OneWaySynchronizer
import StoreSync
import OneWayTestSupport
import Testing

/// Changes in pages, of which objects move from one to another while they are read.
@Suite(.endsInTime) struct MovingPagesTests {
    private let now = Watched(testDate)

    private func source(_ server: MovingList) throws -> HTTPJSONSource {
        let delta = HTTPAPI.Delta(cursor: .element(keyPath: "updated_at"), parameter: "since", overlap: .zero)
        return try .users(server, pages: .page(parameter: "page"), delta: delta, date: { now.value })
    }

    @discardableResult
    private func sync(_ world: SourceWorld, _ source: HTTPJSONSource) async throws -> StoreSyncResult {
        try await world.sync(source, StoreSyncOptions(keyPath: "data"))
    }

    @Test func whatMovesToAPageThatWasReadIsFound() async throws {
        let server = MovingList()
        let world = try await SourceWorld()
        try await sync(world, source(server))
        server.change { state in
            for id in 1...4 { state.users[id] = .init(name: "new", changed: -100 + id) }
            // It goes to the end, and what comes first on the second page takes its place on the
            // first, which has been read.
            state.afterFirstPage = [{ $0[1] = .init(name: "newer", changed: -10) }]
        }
        let result = try await sync(world, source(server))
        #expect(result.coverage == .changes)
        #expect(try await world.users() == [9: "first", 1: "newer", 2: "new", 3: "new", 4: "new"])
        // What was twice the same has been dealt with.
        #expect(try await sync(world, source(server)).isUnchanged)
        #expect(server.cursors.suffix(1) == [FakeAPI.text(-10)])
    }

    @Test func whereEverythingKeepsMovingTheNextRunGoesOnFromWhatIsSure() async throws {
        let server = MovingList()
        let world = try await SourceWorld()
        try await sync(world, source(server))
        server.change { state in
            for id in 1...6 { state.users[id] = .init(name: "new", changed: -100 + id) }
            state.afterFirstPage = (1...3).map { id in { $0[id] = .init(name: "newer", changed: -20 + id) } }
        }
        for _ in 0..<2 { try await sync(world, source(server)) }
        // Three times from the start; then from the last object that was on the first page when
        // that was read last.
        let since = [FakeAPI.text(-1000), FakeAPI.text(-1000), FakeAPI.text(-1000), FakeAPI.text(-97)]
        #expect(Array(server.cursors.dropFirst().prefix(4)) == since)
        #expect(
            try await world.users()
                == [9: "first", 1: "newer", 2: "newer", 3: "newer", 4: "new", 5: "new", 6: "new"])
    }

    /// The clock of whoever asks is an hour ahead, and the server does not tell its own.
    @Test func withoutTheServersClockNothingIsTakenForSeenThatWasNot() async throws {
        now.update { $0 += 3_600 }
        let server = MovingList(isOrderedByChange: false)
        server.change { state in
            for id in 1...4 { state.users[id] = .init(name: "old", changed: -100 + id) }
            // Equal readings have the same objects, but not the same values.
            state.afterFirstPage = [
                { _ in },
                { users in
                    users[1] = .init(name: "new", changed: 10)
                    users[4] = .init(name: "new", changed: 20)
                },
            ]
        }
        let world = try await SourceWorld()
        try await sync(world, source(server))
        #expect(try await world.users() == [9: "first", 1: "old", 2: "old", 3: "old", 4: "new"])
        try await sync(world, source(server))
        #expect(try await world.users() == [9: "first", 1: "new", 2: "old", 3: "old", 4: "new"])
    }
}

/// A list of users in pages of two, that changes while it is read.
private final class MovingList: HTTPClient.Transport {
    struct State {
        var users: [Int: FakeAPI.User] = [9: .init(name: "first", changed: -1000)]
        /// What happens to the users after each answer with a first page.
        var afterFirstPage: [@Sendable (inout [Int: FakeAPI.User]) -> Void] = []
        var cursors: [String] = []
    }

    private let state = Locked(State())
    private let isOrderedByChange: Bool

    init(isOrderedByChange: Bool = true) {
        self.isOrderedByChange = isOrderedByChange
    }

    func change(_ body: (inout State) -> Void) {
        state.withLock { body(&$0) }
    }

    /// What each request for a first page asked for as `since`; `-` where it was none.
    var cursors: [String] { state.withLock(\.cursors) }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let page = request.query("page").flatMap { Int($0) } ?? 1
        return state.withLock { state in
            let since = request.query("since").flatMap { try? Date($0, strategy: .iso8601) }
            let found = state.users.filter { since.map($0.value.date.distance(to:)) ?? 0 <= 0 }
            let list = found.sorted { one, other in
                isOrderedByChange ? one.value.changed < other.value.changed : one.key < other.key
            }
            let users = list.dropFirst((page - 1) * 2).prefix(2).map { id, user in
                #"{"id":\#(id),"name":"\#(user.name)","updated_at":"\#(FakeAPI.text(user.changed))"}"#
            }
            if page == 1 {
                state.cursors.append(request.query("since") ?? "-")
                if !state.afterFirstPage.isEmpty { state.afterFirstPage.removeFirst()(&state.users) }
            }
            return .json(#"{"data":[\#(users.joined(separator: ","))]}"#)
        }
    }
}

extension FakeAPI.User {
    fileprivate var date: Date { testDate.addingTimeInterval(Double(changed)) }
}
