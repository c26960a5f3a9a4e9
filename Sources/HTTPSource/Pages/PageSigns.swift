/// The signs on a page that more pages follow or not.
struct PageSigns: Sendable {
    /// Whether a value or a header field states that the page is the last.
    var isStatedLast = false
    /// Whether the page has fewer objects than the page before it.
    var isShort = false
    /// The value or header field that states that more pages follow; nil if there is none.
    var more: String?
    /// Whether the server counts more pages than have been read.
    var isBeforeLastNumber = false

    /// Whether the page is the last. A short page is not the last if more pages are stated to
    /// follow.
    var isLast: Bool { isStatedLast || isShort && more == nil }

    /// Records the statement of a value or a header field.
    mutating func note(isLast: Bool, by name: String) {
        if isLast { isStatedLast = true } else { more = more ?? name }
    }

    /// Why the page does not prove that objects are absent; nil if nothing contradicts it.
    ///
    /// - Parameters:
    ///   - page: The index of the page, from 0.
    ///   - isEmpty: Whether the page has neither objects nor tombstones.
    func doubt(page: Int, isEmpty: Bool) -> String? {
        guard let more else { return nil }
        if isStatedLast { return "page \(page + 1) is said to be the last, although \(more) says that more follow" }
        if isBeforeLastNumber, isEmpty {
            return "page \(page + 1) is empty, although \(more) says that more follow"
        }
        return nil
    }
}
