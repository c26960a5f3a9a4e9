import Foundation
import HTTPTransfer

/// Whether the pages of a reading are complete, and come from the server itself.
///
/// Only such pages prove that objects are absent.
struct PageFreshness: Sendable {
    /// How much earlier a response may be dated than a previous one: `Date` has a resolution of one
    /// second, and the clocks of a service differ slightly.
    private static let tolerance: TimeInterval = 1

    /// The latest `Date` of the pass.
    private var latestDate: Date?
    /// Why the pages of this reading do not prove absences; nil if they do.
    private(set) var doubt: String?

    /// Begins another reading of the pages.
    mutating func beginAgain() {
        doubt = nil
    }

    /// Records a page.
    ///
    /// - Parameter isOpenEnded: Whether only the end of the body shows where the page ends.
    mutating func note(_ head: HTTPHead, isOpenEnded: Bool) {
        if isOpenEnded, !head.isFramed {
            let encoding = head.headers.contentEncoding.map { PrintableText.line($0, limit: 40) }
            let reason = encoding.map { "was compressed (\($0))" } ?? "had neither a length nor chunks"
            doubt = doubt ?? "a page \(reason), and may have ended too early"
        }
        switch head.status {
        case 202, 203: doubt = doubt ?? "a page had the status \(head.status)"
        default: break
        }
        if let age = head.headers["Age"].flatMap({ Int($0.trimmingCharacters(in: .whitespaces)) }), age > 0 {
            doubt = doubt ?? "a page came from a cache, \(age) s old"
        }
        guard let date = head.headers["Date"].flatMap({ HTTPDate.parse($0) }) else { return }
        if let latestDate, latestDate.timeIntervalSince(date) > Self.tolerance {
            doubt = doubt ?? "a page was dated earlier than a page before it, as by a cache"
        }
        latestDate = latestDate.map { max($0, date) } ?? date
    }
}
