import HTTPTransfer
import JSONMapper

/// Scans a page while it arrives, before it is mapped.
///
/// The scanner finds the address of the next page, so that it can be requested early, and the
/// cursors of the objects.
struct PageScanner: BodyInspector {
    private let reader: JSONReader
    private let cursor: JSONProbe?
    private var facts = PageFacts()
    /// Whether the JSON is damaged, which the mapper reports.
    private var hasFailed = false

    /// - Parameters:
    ///   - keyPath: The key path of the objects.
    ///   - captures: Key paths of values beside the objects.
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
