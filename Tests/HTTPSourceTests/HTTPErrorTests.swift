import Foundation
import HTTPTransfer
import OneWaySynchronizer
import OneWayTestLimits
import Testing

@Suite(.endsInTime) struct HTTPErrorTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT, the date of RFC 9110's examples.
    private let now = Date(timeIntervalSince1970: 784_111_777)

    @Test(arguments: [
        ("0", 0), (" 120 ", 120), ("99999999999999999999", 31_536_000),
        ("Sun, 06 Nov 1994 08:50:37 GMT", 60), ("Sunday, 06-Nov-94 08:50:37 GMT", 60), ("Sun Nov  6 08:50:37 1994", 60),
        ("Sun, 06 Nov 1994 08:48:37 GMT", 0),
    ])
    func secondsAndDatesAreRead(value: String, seconds: Int) {
        #expect(HTTPDate.retryAfter(value, now: now) == .seconds(seconds))
    }

    /// The century of a year with two digits is that of the nearest year that is at most 50 years
    /// ahead (RFC 9110, section 5.6.7).
    @Test(arguments: [
        ("Thursday, 01-Jan-76 00:00:00 GMT", 3_345_062_400.0), ("Friday, 01-Jan-77 00:00:00 GMT", 220_924_800),
        ("Tuesday, 29-Feb-00 23:59:60 GMT", 951_868_799),
    ])
    func yearsOfTwoDigitsAreRead(text: String, seconds: Double) {
        let now = Date(timeIntervalSince1970: 1_767_268_800)
        #expect(HTTPDate.parse(text, now: now)?.timeIntervalSince1970 == seconds)
    }

    @Test(arguments: [
        nil, "", "soon", "-1", "1.5", "Sun, 99 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 06 Nov 199 08:49:37 GMT", "Sun, 06 Nov 99999 08:49:37 GMT", "06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37", "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 11 1994 08:49:37 GMT",
    ])
    func anythingElseIsIgnored(value: String?) {
        #expect(HTTPDate.retryAfter(value, now: now) == nil)
    }

    @Test(arguments: [
        (HTTPError.Problem.status(503, firstLine: "", retryAfter: nil), true),
        (.status(429, firstLine: "", retryAfter: nil), true), (.status(408, firstLine: "", retryAfter: nil), true),
        (.status(404, firstLine: "", retryAfter: nil), false), (.status(501, firstLine: "", retryAfter: nil), false),
        (.status(304, firstLine: "", retryAfter: nil), false), (.timedOut, true),
        (.cutShort(received: 1, expected: 2), true), (.unreachable("", isLasting: false), true),
        (.unreachable("", isLasting: true), false), (.tooLarge(limit: 1), false), (.tooManyRedirects(limit: 1), false),
        (.forbiddenAddress("", target: ""), false), (.notJSON(firstLine: ""), false), (.pageLoop, false),
        (.cannotWrite(""), false),
        (.unsuitableSettings(""), false), (.invalidRequest(""), false),
    ])
    func onlyWhatMayPassIsTriedAgain(problem: HTTPError.Problem, isRetryable: Bool) throws {
        let error: any RetryableError = HTTPError(url: try #require(URL(string: "http://host/")), problem: problem)
        #expect(error.isRetryable == isRetryable)
    }

    @Test func theWaitIsWhatTheServerAskedFor() throws {
        let url = try #require(URL(string: "http://me:secret@host/a"))
        let error = HTTPError(url: url, problem: .status(429, firstLine: "slow down", retryAfter: .seconds(3)))
        #expect(error.retryAfter == .seconds(3))
        #expect(error.description == "http://host/a: status 429, asks to wait 3 s")
        #expect(error.debugDescription == "http://host/a: status 429, asks to wait 3 s: slow down")
    }
}
