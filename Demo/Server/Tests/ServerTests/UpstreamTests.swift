import Foundation
import Testing

@testable import Upstream

@Suite struct UpstreamTests {
    @Test func usersDependOnTheSeedOnly() {
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        let first = UpstreamUsers(count: 50, seed: 7, now: now).present.map(\.email)
        #expect(first == UpstreamUsers(count: 50, seed: 7, now: now).present.map(\.email))
        #expect(first.count == 50)
    }
}
