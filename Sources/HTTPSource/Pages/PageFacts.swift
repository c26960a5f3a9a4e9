import JSONMapper

/// What a scanner found in a page.
struct PageFacts: Sendable {
    /// The earliest and the latest of some cursors.
    struct Cursors: Sendable {
        var earliest: SyncCursor
        var latest: SyncCursor
    }

    /// The number of objects.
    var elementCount = 0
    /// A list of tombstones.
    var tombstones: [JSONValue] = []
    /// Values beside the objects, by their key paths.
    var captured: [String: JSONValue] = [:]
    /// The cursors of the objects; nil if they have none.
    var cursors: Cursors?
    /// The value of the last object that leads to the next page.
    var lastElement: JSONValue?
    /// The error that an object or an event reports; nil if none does.
    var failure: String?
    /// A hash of the objects, the same for equal pages within a process; nil if it was not wanted.
    var digest: Int?
}
