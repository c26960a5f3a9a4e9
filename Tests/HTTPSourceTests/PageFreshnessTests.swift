import Foundation

import OneWayTestLimits
import Testing

@testable import HTTPSource
@testable import HTTPTransfer

/// Which replies prove that an object is absent, at the limits of each sign.
@Suite(.endsInTime) struct PageFreshnessTests {
    private func doubt(_ heads: [(status: Int, headers: HTTPHeaders)]) throws -> String? {
        let url = try #require(URL(string: "https://api.test/users"))
        var freshness = PageFreshness()
        for head in heads {
            let found = HTTPHead(url: url, status: head.status, headers: head.headers, isFramed: true)
            freshness.note(found, isOpenEnded: false)
        }
        return freshness.doubt
    }

    @Test(arguments: [
        ("0", false), (" 0 ", false), ("1", true), ("30", true), ("-1", false), ("", false), ("old", false),
    ])
    func anAgeAboveZeroIsThatOfACache(age: String, isDoubtful: Bool) throws {
        #expect(try (doubt([(200, ["Age": age])]) != nil) == isDoubtful)
    }

    @Test(arguments: [(200, false), (201, false), (202, true), (203, true), (204, false)])
    func aStatusCanPromiseLess(status: Int, isDoubtful: Bool) throws {
        #expect(try (doubt([(status, [:])]) != nil) == isDoubtful)
    }

    @Test(arguments: [(0, false), (-1, false), (-2, true), (5, false)])
    func aPageMayBeDatedOneSecondEarlierThanThePageBefore(seconds: Int, isDoubtful: Bool) throws {
        let dates = [30, 30 + seconds].map { "Thu, 01 Jan 2026 12:00:\($0) GMT" }
        let heads = dates.map { (status: 200, headers: ["Date": $0] as HTTPHeaders) }
        #expect(try (doubt(heads) != nil) == isDoubtful)
        // The latest date of all pages counts.
        #expect(
            try (doubt([heads[0], (200, ["Date": "Thu, 01 Jan 2026 12:00:29 GMT"]), heads[1]]) != nil) == isDoubtful)
    }
}
