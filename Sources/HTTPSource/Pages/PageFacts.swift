import JSONMapper

/// A scanner's findings in a page.
struct PageFacts: Sendable {
    /// The earliest and the latest of some cursors of one kind, and their number.
    struct Cursors: Sendable {
        var earliest: SyncCursor
        var latest: SyncCursor
        var count = 1
    }

    /// The number of objects.
    var elementCount = 0
    /// A list of tombstones.
    var tombstones: [JSONValue] = []
    /// Values outside the objects, by their key paths.
    var captured: [String: JSONValue] = [:]
    /// The cursors of the objects, one element for each kind.
    var cursors: [Cursors] = []
    /// The last object's value that leads to the next page.
    var lastElement: JSONValue?
    /// The error that an object or an event reports; nil if none does.
    var failure: HTTPAPI.ReplyCheck.Failure?
    /// Whether the page ended with the source's sign of the end.
    var hasEndSign = false
    /// A hash of the objects, equal for equal pages within a process; nil if it was not requested.
    var digest: Int?

    /// Adds the cursor of an object.
    mutating func note(_ cursor: SyncCursor) {
        guard let index = cursors.firstIndex(where: { $0.latest.kind == cursor.kind }) else {
            cursors.append(Cursors(earliest: cursor, latest: cursor))
            return
        }
        let known = cursors[index]
        cursors[index] = Cursors(
            earliest: .earlier(known.earliest, cursor), latest: .later(known.latest, cursor), count: known.count + 1)
    }
}
