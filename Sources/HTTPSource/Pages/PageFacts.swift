import JSONMapper

/// What was found in a page while it arrived.
struct PageFacts: Sendable {
    /// The earliest and the latest of some cursors.
    struct Cursors: Sendable {
        var earliest: SyncCursor
        var latest: SyncCursor
    }

    /// How many objects it has.
    var elementCount = 0
    /// Values beside the objects, by their key paths.
    var captured: [String: JSONValue] = [:]
    /// Those of the objects; nil where they have none.
    var cursors: Cursors?
}
