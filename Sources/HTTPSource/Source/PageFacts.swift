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

/// Finds in a page, as it arrives, what has to be known before the page itself is mapped: where the next one is, so that it can be asked for
/// in the meantime, and how far the objects reach.
struct PageScanner: BodyInspector {
    private let reader: JSONReader
    private let cursor: JSONProbe?
    private var facts = PageFacts()
    /// Whether the page is no JSON as expected; whoever maps it says so.
    private var hasFailed = false

    /// - Parameters:
    ///   - keyPath: Where the objects are.
    ///   - captures: Key paths beside them.
    ///   - cursor: The field of each object that is its cursor.
    init(keyPath: String, captures: [String], cursor: String?) {
        reader = JSONReader(layout: .array(at: keyPath).capturing(captures))
        self.cursor = cursor.map { JSONProbe([$0]) }
    }

    mutating func inspect(_ bytes: [UInt8]) {
        guard !hasFailed else { return }
        do {
            try reader.append(bytes)
            try read()
        } catch {
            hasFailed = true
        }
    }

    private mutating func read() throws {
        guard let cursor else {
            while try reader.next({ try $0.skipValue() }) != nil {}
            return
        }
        while let found = try reader.next({ try cursor.read(&$0) }) {
            guard let value = found[0].flatMap({ SyncCursor($0) }) else { continue }
            let cursors = facts.cursors ?? PageFacts.Cursors(earliest: value, latest: value)
            facts.cursors = PageFacts.Cursors(
                earliest: .earlier(cursors.earliest, value), latest: .later(cursors.latest, value))
        }
    }

    mutating func finish() -> PageFacts {
        reader.finish()
        if !hasFailed { try? read() }
        facts.elementCount = reader.elementCount
        facts.captured = reader.captured
        return facts
    }
}
