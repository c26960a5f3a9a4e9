import Foundation
import ServerTestLimits
import Testing

@testable import Upstream

@Suite(.endsInTime)
struct UpstreamTests {
    @Test func usersDependOnTheSeedOnly() {
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        let first = UpstreamUsers(count: 50, seed: 7, now: now).present.map(\.email)
        #expect(first == UpstreamUsers(count: 50, seed: 7, now: now).present.map(\.email))
        #expect(first != UpstreamUsers(count: 50, seed: 8, now: now).present.map(\.email))
        #expect(first.count == 50)
    }

    @Test func aMomentEqualsThatOfItsText() throws {
        for milliseconds in 0..<1000 {
            let moment = Moment(Date(timeIntervalSince1970: 1_700_000_000 + Double(milliseconds) / 1000))
            let text = String(decoding: try JSONEncoder().encode(moment), as: UTF8.self)
            #expect(Moment(text.trimmingCharacters(in: ["\""])) == moment)
        }
        #expect(Moment("yesterday") == nil)
    }

    @Test func changesSinceAMomentIncludeThoseOfTheMoment() {
        let (first, second) = (Date(timeIntervalSince1970: 1_700_000_000), Date(timeIntervalSince1970: 1_700_000_001))
        var users = UpstreamUsers(count: 50, seed: 7, now: first)
        users.change(count: 20, now: second)
        #expect(users.changes(since: Moment(first.addingTimeInterval(-60 * 49))).count == users.users.count)
        let changed = users.changes(since: Moment(second))
        #expect(!changed.isEmpty)
        #expect(changed.allSatisfy { $0.updated == Moment(second) })
    }

    @Test func numbersOutOfRangeAreRefused() async throws {
        let upstream = try await ServerProcess([], command: "upstream")
        for (method, path, status) in [
            ("GET", "users?page=0", 400), ("GET", "users?page=x", 400), ("GET", "users?page=9223372036854775807", 400),
            ("GET", "users?page=9223372036854775808", 400), ("GET", "users?page=1000000&per_page=1000", 200),
            ("POST", "change?count=-1", 400), ("POST", "change?count=1001", 400), ("POST", "change?count=1", 204),
        ] {
            let (answer, _) = try await upstream.request(path, method: method)
            #expect(answer == status, "\(path)")
        }
        #expect(await upstream.stop() == 0)
    }
}
