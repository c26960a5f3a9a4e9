import JSONMapper

/// A scanner's findings in a page.
struct PageFacts: Sendable {
    /// A value outside the objects that was found by the name of its key.
    struct Named: Sendable {
        /// The key path as the page writes it.
        let keyPath: String
        let value: JSONValue
    }

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
    /// Values outside the objects, by the names of their keys.
    var namedValues: JSONNameProbe.Values = [:]
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

    /// The values whose key paths have the name of a key path, in the order of their key paths.
    func values(named keyPath: String) -> [Named] {
        guard !namedValues.isEmpty, let found = namedValues[JSONNameProbe.name(of: keyPath)] else { return [] }
        return found.sorted { $0.key < $1.key }.map { Named(keyPath: $0.key, value: $0.value) }
    }

    /// The first whole number whose key path has the name of a key path; nil if there is none.
    func number(named keyPath: String) -> (keyPath: String, value: Int)? {
        for named in values(named: keyPath) {
            if let number = named.value.wholeNumber { return (named.keyPath, number) }
        }
        return nil
    }

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
