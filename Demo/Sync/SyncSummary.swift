import HTTPTransfer
import JSONMapper
import StoreSync
import SyncModel

/// The result of a sync, as at most a screen of text and as JSON.
struct SyncSummary {
    /// What a sync that was done may have left undone.
    enum Finding: String, CaseIterable {
        /// Objects were left out.
        case rejected
        /// The JSON differs from the model.
        case drift
        /// Absent objects were kept.
        case kept
        /// The model could not take over something.
        case obstacles
    }

    let entity: String
    let origin: ModelChoice.Origin
    /// Whether `result` is a plan and nothing was written.
    let isPlan: Bool
    let result: StoreSyncResult
    /// The result of a sync from a server; nil for a file.
    var remote: StoreSyncResult?
    /// How long the sync took.
    var duration = Duration.zero
    /// The number of bytes that were read.
    var byteCount = 0
    /// The number of objects in the list of a server; nil if the sync has not read all of it, and
    /// for a file.
    var elementCount: Int?
    /// Sentences about the database and the model, such as that no key was found.
    var notes: [String] = []
    /// What the model of the database took over from the JSON.
    var modelChanges: [String] = []
    /// What it could not take over.
    var modelObstacles: [String] = []
    /// What to do next.
    var advice: [String] = []
    /// What to do about keys and values that a wider model could hold; nil if nothing helps.
    var newsAdvice: String?

    /// The maximum numbers of lines, so that all of them fit a terminal of 24 lines.
    private enum Limit {
        static let tables = 8
        static let drift = 4
        static let rejected = 2
        static let notes = 3
        static let changes = 4
    }

    /// Adds what a person should know about the database and the model, and what to do next.
    ///
    /// - Parameters:
    ///   - choice: The model.
    ///   - arguments: The arguments of the sync.
    ///   - notes: Sentences about the database.
    ///   - advice: What to do next.
    mutating func describe(
        _ choice: ModelChoice, of arguments: SyncArguments, notes: [String], advice: [String]
    ) {
        let sample = isPartial(choice.sample) ? choice.sample : nil
        let sampleNotes = sample.map { [$0.note(on: choice.origin)] } ?? []
        self.notes = notes.map { PrintableText.line($0, limit: 300) } + sampleNotes + choice.notes
        modelChanges = choice.changes
        modelObstacles = choice.obstacles
        newsAdvice = adviceOnNews(choice, sample, arguments)
        self.advice = advice
    }

    /// Whether the list has more objects than a sample. If that is unknown, it is assumed.
    private func isPartial(_ sample: SampleExtent?) -> Bool {
        guard let sample, let elementCount else { return sample != nil }
        return elementCount > sample.objectCount
    }

    /// Returns what to do about keys and values that a wider model could hold.
    ///
    /// - Parameter sample: The sample that decided about the model, if it is partial.
    private func adviceOnNews(_ choice: ModelChoice, _ sample: SampleExtent?, _ arguments: SyncArguments) -> String? {
        if let sample {
            // The model has the keys of the sample. A value that does not fit can be an obstacle.
            guard choice.obstacles.isEmpty || result.drift.count(of: .unknownKey) > 0 else { return nil }
            let isKept = arguments.store != .memory && !arguments.isPlan
            return sample.advice(needsOption: isKept && !arguments.isEvolving)
        }
        guard choice.origin == .kept, choice.obstacles.isEmpty, !arguments.isEvolving,
            choice.model[entity]?.entity.isInferred == true
        else { return nil }
        return "The model stays as it was: --evolve extends it by what is new, --strict makes this a failure."
    }

    /// What the sync left undone.
    var findings: Set<Finding> {
        var findings: Set<Finding> = []
        if result.rejectedCount > 0 { findings.insert(.rejected) }
        if !result.drift.isEmpty { findings.insert(.drift) }
        if keptCount > 0 { findings.insert(.kept) }
        if !modelObstacles.isEmpty { findings.insert(.obstacles) }
        return findings
    }

    // MARK: Text

    /// The result for people.
    ///
    /// - Parameters:
    ///   - width: The width of the terminal; nil for no limit.
    ///   - style: The colours.
    func lines(width: Int?, style: TextStyle) -> [String] {
        /// A text on one line, which is cut if the terminal is narrower.
        func fitted(_ text: String, _ role: TextStyle.Role? = nil) -> String {
            style(width.map { text.fitted(to: $0) } ?? text, role)
        }
        var lines: [String] = []
        if remote?.coverage == .unchanged {
            lines.append("unchanged: the server reports no changes")
        } else {
            lines += tableLines(width, style)
            if keptCount > 0 {
                let kept = "\(Quantity.count(keptCount, "object")) absent from the JSON"
                lines.append(fitted("\(kept) \(keptCount == 1 ? "was" : "were") kept", .warning))
            }
            if result.excludedRelationshipCount > 0 {
                let values = "\(Quantity.count(result.excludedRelationshipCount, "value")) of relationships"
                lines.append(fitted("\(values) ignored: --operations includes none for them", .warning))
            }
            for text in changeLines { lines.append(fitted(text)) }
            let parts = [driftLines, rejectedLines]
            for part in parts {
                for (index, text) in part.enumerated() { lines.append(fitted(text, index == 0 ? .warning : nil)) }
            }
        }
        let warnings =
            result.warnings.map { "warning: \(PrintableText.line($0, limit: 300))" }
            + modelObstacles.map { PrintableText.line($0, limit: 300) } + notes
        lines += warnings.prefix(Limit.notes).map { fitted($0, .warning) }
        lines.append(style(ending, .heading))
        if hasNews, let newsAdvice { lines.append(newsAdvice) }
        return lines + advice
    }

    /// Whether the JSON has keys or values that a wider model could hold.
    private var hasNews: Bool {
        result.drift.entries.contains {
            [.unknownKey, .unfitValue, .notAllowed, .rounded, .converted, .changedShape].contains($0.kind)
        }
    }

    /// The changes of the model.
    private var changeLines: [String] {
        guard !modelChanges.isEmpty else { return [] }
        var lines = ["the model \(isPlan ? "would be" : "was") \(origin == .given ? "changed" : "extended"):"]
        lines += modelChanges.prefix(Limit.changes).map { "  \(PrintableText.line($0, limit: 200))" }
        let surplus = modelChanges.count - Limit.changes
        if surplus > 0 { lines.append("  and \(Quantity.grouped(surplus)) more; --json lists all") }
        return lines
    }

    /// The last sentence: whether the sync is done, how long it took, and how much it read.
    private var ending: String {
        var amount = Quantity.bytes(byteCount)
        if let remote { amount = "\(Quantity.count(remote.pageCount, "page")), \(Quantity.bytes(remote.byteCount))" }
        if remote?.coverage == .changes { amount += ", changes only" }
        let facts = "\(Quantity.time(duration)), \(amount), \(origin.rawValue) model"
        return isPlan ? "plan: nothing was changed (\(facts))" : "done in \(facts)"
    }

    private var keptCount: Int {
        result.countsByEntity.values.reduce(0) { $0 + $1.kept }
    }

    /// The counts by table: the synced entity first, then those with the most changes.
    private func tableLines(_ width: Int?, _ style: TextStyle) -> [String] {
        let others = result.countsByEntity.filter { $0.key != entity }.sorted { one, other in
            one.value.changeCount != other.value.changeCount
                ? one.value.changeCount > other.value.changeCount : one.key < other.key
        }
        var table = TextTable(columns: [
            .init(title: "table"), .init(title: "inserted", isNumeric: true), .init(title: "updated", isNumeric: true),
            .init(title: "unchanged", isNumeric: true), .init(title: "deleted", isNumeric: true),
        ])
        let own = result.countsByEntity[entity] ?? result.counts
        for (name, counts) in [(entity, own)] + others.prefix(Limit.tables - 1).map({ ($0.key, $0.value) }) {
            table.add([TextTable.Cell(PrintableText.line(name))] + Self.cells(counts))
        }
        let rest = others.dropFirst(Limit.tables - 1)
        if !rest.isEmpty {
            var counts = StoreSyncResult.Counts()
            for other in rest {
                counts.inserted += other.value.inserted
                counts.updated += other.value.updated
                counts.unchanged += other.value.unchanged
                counts.deleted += other.value.deleted
            }
            table.add([TextTable.Cell("\(rest.count) more", .faint)] + Self.cells(counts))
        }
        return table.lines(width: width, style: style).lines
    }

    private static func cells(_ counts: StoreSyncResult.Counts) -> [TextTable.Cell] {
        [
            TextTable.Cell("\(counts.inserted)", counts.inserted > 0 ? .added : .faint),
            TextTable.Cell("\(counts.updated)", counts.updated > 0 ? .changed : .faint),
            TextTable.Cell("\(counts.unchanged)", counts.unchanged > 0 ? nil : .faint),
            TextTable.Cell("\(counts.deleted)", counts.deleted > 0 ? .removed : .faint),
        ]
    }

    /// The differences between the JSON and the model, or within the JSON.
    private var driftLines: [String] {
        let entries = result.drift.entries
        guard !entries.isEmpty else { return [] }
        var lines = ["the JSON differs from the model or contradicts itself:"]
        lines += entries.prefix(Limit.drift).map { "  \(PrintableText.line("\($0)", limit: 200))" }
        let surplus = entries.count - Limit.drift
        if surplus > 0 { lines.append("  and \(Quantity.count(surplus, "more place")); --json lists all") }
        return lines
    }

    private var rejectedLines: [String] {
        guard result.rejectedCount > 0 else { return [] }
        var lines = ["\(Quantity.count(result.rejectedCount, "object")) could not be synced:"]
        lines += result.rejected.prefix(Limit.rejected).map { "  \(PrintableText.line("\($0)", limit: 200))" }
        let surplus = result.rejectedCount - min(result.rejected.count, Limit.rejected)
        if surplus > 0 { lines.append("  and \(Quantity.grouped(surplus)) more; --json lists them") }
        return lines
    }

    /// Returns a text such as `2 inserted, 0 updated, 1 unchanged, 0 deleted`.
    static func text(_ counts: StoreSyncResult.Counts) -> String {
        let done =
            "\(counts.inserted) inserted, \(counts.updated) updated, \(counts.unchanged) unchanged, "
            + "\(counts.deleted) deleted"
        return counts.kept > 0 ? "\(done), \(counts.kept) kept though absent" : done
    }
}

extension StoreSyncResult.Counts {
    /// The number of objects that were written.
    fileprivate var changeCount: Int { inserted + updated + deleted }
}
