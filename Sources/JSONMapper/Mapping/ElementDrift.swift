import SyncModel

/// The differences of elements from their model: those of committed elements, and those of elements
/// that may still be discarded.
struct ElementDrift {
    /// A difference between an element and the model.
    private struct Note {
        /// Nil if the drift report does not count it.
        let kind: DriftReport.Kind?
        let keyPath: String
        let found: JSONKind?
        let isTolerated: Bool
        /// The index of the element.
        let index: Int
    }

    private let entity: String
    private let walk: MappingWalk
    private var unknownKeys = UnknownKeys()
    /// What was found in elements that may still be discarded.
    private var notes: [Note] = []
    /// The element of the walk that notes and unknown keys were last taken from.
    private var notedElement = 0
    /// The drift of committed elements, and the number of their values that did not fit.
    private var report = DriftReport()
    private var toleratedCount = 0

    init(of layout: EntityLayout, _ walk: MappingWalk) {
        entity = layout.name
        self.walk = walk
    }

    /// Notes a difference.
    ///
    /// - Parameters:
    ///   - kind: Nil if the drift report does not count it.
    ///   - isTolerated: Whether a value did not fit.
    ///   - index: The index of the element.
    mutating func note(_ kind: DriftReport.Kind?, path: [String]?, found: JSONKind?, isTolerated: Bool, index: Int) {
        begin()
        notes.append(
            Note(
                kind: kind, keyPath: path?.joined(separator: ".") ?? "", found: found, isTolerated: isTolerated,
                index: index))
    }

    /// Counts a key that was found to be unknown before.
    ///
    /// - Returns: Whether the key is known to be unknown. If false, nothing was counted.
    mutating func countUnknown(_ hash: UInt64, index: Int) -> Bool {
        begin()
        return unknownKeys.count(hash, element: index)
    }

    /// Counts a key that is unknown.
    mutating func addUnknown(_ hash: UInt64, path: [String], found: JSONKind?, index: Int) {
        unknownKeys.add(hash, path: path, found: found, index: index, entity: entity, evictingInto: &report)
    }

    /// Keeps what was found so far.
    mutating func commit() {
        unknownKeys.commit()
        if !notes.isEmpty { flushNotes() }
    }

    /// Takes back what was found in elements from an index on, unless it was committed.
    mutating func revert(from index: Int) {
        while let last = notes.last, last.index >= index { notes.removeLast() }
        unknownKeys.revert(from: index)
    }

    /// Returns the report, with the number of values that did not fit, and begins a new one.
    mutating func take() -> (drift: DriftReport, toleratedCount: Int) {
        commit()
        unknownKeys.flush(entity: entity, into: &report)
        defer {
            report = DriftReport()
            toleratedCount = 0
        }
        return (report, toleratedCount)
    }

    /// Keeps what was noted before the element of the walk that is being read.
    private mutating func begin() {
        guard notedElement != walk.element else { return }
        commit()
        notedElement = walk.element
    }

    private mutating func flushNotes() {
        for note in notes {
            if let kind = note.kind {
                report.add(
                    kind, entity: entity, keyPath: note.keyPath, index: note.index, found: note.found.map { "\($0)" })
            }
            if note.isTolerated { toleratedCount += 1 }
        }
        notes.removeAll(keepingCapacity: true)
    }
}
