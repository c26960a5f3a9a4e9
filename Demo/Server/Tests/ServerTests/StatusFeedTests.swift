import Foundation
import ServerTestLimits
import Testing

@testable import Server

@Suite(.endsInTime)
struct StatusFeedTests {
    /// A browser closes the status page at the moment of a change.
    @Test func observersMayLeaveWhileTheStatusChanges() async throws {
        let feed = StatusFeed(source: try #require(URL(string: "http://example.com/users?token=secret")))
        #expect(feed.status.source == "http://example.com/users")
        let changing = Task.detached {
            while !Task.isCancelled { feed.update { $0.counts["users", default: 0] += 1 } }
        }
        for _ in 0..<2000 {
            await withTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask { for await _ in feed.statuses() {} }
                }
                await Task.yield()
                group.cancelAll()
            }
        }
        changing.cancel()
        await changing.value
        #expect(feed.status.counts["users", default: 0] > 0)
    }

    @Test func anObserverSeesTheStatusNowAndTheLastOne() async throws {
        let feed = StatusFeed(source: try #require(URL(string: "http://example.com")))
        feed.update { $0.counts["users"] = 1 }
        var statuses = feed.statuses().makeAsyncIterator()
        #expect(await statuses.next()?.counts == ["users": 1])
        feed.update { $0.counts["users"] = 2 }
        feed.update { $0.counts["users"] = 3 }
        #expect(await statuses.next()?.counts == ["users": 3])
    }
}
