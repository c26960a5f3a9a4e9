import SyncModel

/// The differences between elements and their model. Those of the latest elements may still be
/// discarded.
struct ElementDrift {
    /// A difference between an element and the model.
    private struct Note {
        /// Nil if the drift report does not count the difference.
        let kind: DriftReport.Kind?
        let keyPath: String
        let found: JSONKind?
        /// The value, for debugging; nil if it is not kept.
        let value: String?
        let isTolerated: Bool
        /// The index of the element.
        let index: Int
    }

    private let entity: String
    private let walk: MappingWalk
    private var unknownKeys = UnknownKeys()
    /// The differences of elements that may still be discarded.
    private var notes: [Note] = []
    /// The element of the walk to which the notes and the latest unknown keys belong.
    private var notedElement = 0
    /// The number of values of relationships that the open element has and the batch leaves out.
    private var openExcludedCount = 0
    /// The drift of committed elements, and the numbers of their values that did not fit, or of
    /// relationships that the batch leaves out.
    private var report = DriftReport()
    private var toleratedCount = 0
    private var excludedCount = 0

    init(of layout: EntityLayout, _ walk: MappingWalk) {
        entity = layout.name
        self.walk = walk
    }

    /// Records a difference.
    ///
    /// - Parameters:
    ///   - kind: Nil if the drift report does not count the difference.
    ///   - value: The value, for debugging; nil, the default, if it is not kept.
    ///   - isTolerated: Whether a value did not fit.
    ///   - index: The index of the element.
    mutating func note(
        _ kind: DriftReport.Kind?, path: [String]?, found: JSONKind?, value: String? = nil, isTolerated: Bool,
        index: Int
    ) {
        begin()
        notes.append(
            Note(
                kind: kind, keyPath: path?.joined(separator: ".") ?? "", found: found, value: value,
                isTolerated: isTolerated, index: index))
    }

    /// Counts a key if it is already registered as unknown.
    ///
    /// - Returns: Whether the key was counted. If not, it must be registered.
    mutating func countUnknown(_ hash: UInt64, index: Int) -> Bool {
        begin()
        return unknownKeys.count(hash, element: index)
    }

    /// Registers and counts an unknown key.
    mutating func addUnknown(_ hash: UInt64, path: [String], found: JSONKind?, index: Int) {
        if !unknownKeys.add(hash, path: path, found: found, index: index) {
            note(.unknownKey, path: path, found: found, isTolerated: false, index: index)
        }
    }

    /// Counts a value of a relationship that the batch leaves out. Only elements of the walk itself
    /// have such values.
    mutating func countExcluded() {
        begin()
        openExcludedCount += 1
    }

    /// Commits all differences so far.
    mutating func commit() {
        unknownKeys.commit()
        if !notes.isEmpty { flushNotes() }
        excludedCount += openExcludedCount
        openExcludedCount = 0
    }

    /// Reverts the differences of elements from an index on, unless they were committed.
    mutating func revert(from index: Int) {
        while let last = notes.last, last.index >= index { notes.removeLast() }
        unknownKeys.revert(from: index)
        openExcludedCount = 0
    }

    /// Returns the report, with the numbers of values that did not fit and of relationships' values
    /// that the batch leaves out, and starts a new one.
    mutating func take() -> (drift: DriftReport, toleratedCount: Int, excludedCount: Int) {
        commit()
        unknownKeys.flush(entity: entity, into: &report)
        defer {
            report = DriftReport()
            (toleratedCount, excludedCount) = (0, 0)
        }
        return (report, toleratedCount, excludedCount)
    }

    /// Commits the differences of earlier elements when the walk has reached another one.
    private mutating func begin() {
        guard notedElement != walk.element else { return }
        commit()
        notedElement = walk.element
    }

    private mutating func flushNotes() {
        for note in notes {
            if let kind = note.kind {
                report.add(
                    kind, entity: entity, keyPath: note.keyPath, index: note.index,
                    found: note.found.map { "\($0)" }, value: note.value)
            }
            if note.isTolerated { toleratedCount += 1 }
        }
        notes.removeAll(keepingCapacity: true)
    }
}
