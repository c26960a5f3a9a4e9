import Foundation
import HTTPTransfer
import SyncBase

/// What an index says about a file: the minute of its last change, and its exact size.
struct ListedFile: Hashable, Sendable {
    /// How much older than a response its file must be, so that a later change has another minute:
    /// two minutes in seconds, because clocks differ.
    private static let settledAge: TimeInterval = 120

    /// Changes with the date and the size in the index, and with the address.
    var mark: String
    var byteCount: Int
    /// The minute of the hour. The time zone is not known.
    private var minute: Int

    /// Reads the words behind a link, as `24-Nov-2026`, `10:00` and `1234`; nil for others, such as
    /// a rounded size.
    init?(_ words: [String], of url: URL) {
        guard words.count == 3, let byteCount = Self.number(words[2]) else { return nil }
        let date = words[0].split(separator: "-")
        let time = words[1].split(separator: ":").map { $0.utf8.count == 2 ? Self.number($0) : nil }
        guard date.count == 3, date.contains(where: { $0.utf8.count == 4 && Self.number($0) != nil }),
            time.count == 2 || time.count == 3, time[0] != nil, let minute = time[1]
        else { return nil }
        let text = "\(words[0]) \(words[1]) \(byteCount) \(url.absoluteString)"
        let digest = SHA256.digest(of: text.utf8)
        mark = String(digest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }, radix: 36)
        self.byteCount = byteCount
        self.minute = minute
    }

    /// Whether a change after a response would show in the index: the index has the minute of
    /// `Last-Modified`, and this minute was over.
    func isSettled(by headers: HTTPHeaders) -> Bool {
        guard let modified = headers["Last-Modified"].flatMap({ HTTPDate.parse($0) }),
            let date = headers["Date"].flatMap({ HTTPDate.parse($0) }),
            date.timeIntervalSince(modified) >= Self.settledAge
        else { return false }
        // All time zones differ by quarters of an hour.
        let difference = Int((modified.timeIntervalSince1970 / 60).rounded(.down)) - minute
        return difference.isMultiple(of: 15)
    }

    private static func number(_ text: some StringProtocol) -> Int? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
    }
}
