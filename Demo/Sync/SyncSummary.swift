import HTTPTransfer
import JSONMapper
import StoreSync

/// The result of a sync as text and as JSON.
struct SyncSummary {
    let entity: String
    let origin: ModelChoice.Origin
    /// Whether `result` is a plan and nothing was written.
    let isPlan: Bool
    let result: StoreSyncResult
    /// The result of a sync from a server; nil for a file.
    var remote: RemoteSyncResult?

    private static let shownProblemCount = 20

    /// The result for people: one line per entity, the synced one first, then problems.
    var lines: [String] {
        if remote?.coverage == .unchanged { return ["nothing has changed, says the server"] }
        let others = result.countsByEntity.keys.filter { $0 != entity }.sorted()
        var lines = ([entity] + others).map { name in
            let counts = name == entity ? result.counts : result.countsByEntity[name, default: .init()]
            return "\(name): \(Self.text(counts))"
        }
        lines += driftLines
        if result.toleratedCount > 0 {
            lines.append("\(result.toleratedCount) values did not fit, and were cleared or ignored")
        }
        if result.rejectedCount > 0 {
            lines.append("\(result.rejectedCount) objects were left out:")
            lines += result.rejected.prefix(Self.shownProblemCount).map {
                "  \(PrintableText.line("\($0)", limit: 200))"
            }
            let surplus = result.rejectedCount - min(result.rejected.count, Self.shownProblemCount)
            if surplus > 0 { lines.append("  and \(surplus) more") }
        }
        if let remote {
            let what = remote.coverage == .changes ? "what has changed" : "everything"
            lines.append("\(what), in \(remote.pageCount) pages of \(SyncCommand.megabytes(remote.byteCount)) MB")
        }
        lines.append(isPlan ? "a plan; nothing was changed" : "done, by a model that was \(origin.rawValue)")
        return lines
    }

    /// One line for each difference between the payload and the model, or within the payload.
    private var driftLines: [String] {
        let entries = result.drift.entries
        guard !entries.isEmpty else { return [] }
        var lines = ["the payload differs from the model or from itself:"]
        lines += entries.prefix(Self.shownProblemCount).map { "  \(PrintableText.line("\($0)", limit: 200))" }
        let surplus = entries.count - min(entries.count, Self.shownProblemCount)
        if surplus > 0 || result.drift.omittedCount > 0 {
            lines.append("  and \(surplus) more places, \(result.drift.omittedCount) occurrences elsewhere")
        }
        return lines
    }

    /// Returns a text such as `2 inserted, 0 updated, 1 unchanged, 0 deleted`.
    static func text(_ counts: StoreSyncResult.Counts) -> String {
        let done =
            "\(counts.inserted) inserted, \(counts.updated) updated, \(counts.unchanged) unchanged, "
            + "\(counts.deleted) deleted"
        return counts.withheld > 0 ? "\(done), \(counts.withheld) kept though absent" : done
    }

    /// The result for programs, as one line of JSON.
    var json: String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("entity")
        writer.string(entity)
        writer.key("model")
        writer.string(origin.rawValue)
        writer.key("is_plan")
        writer.bool(isPlan)
        if let remote {
            writer.key("coverage")
            writer.string(remote.coverage.rawValue)
            writer.key("pages")
            writer.integer(Int64(remote.pageCount))
            writer.key("bytes")
            writer.integer(Int64(remote.byteCount))
        }
        Self.write(result.counts, to: &writer)
        writer.key("entities")
        writer.beginObject()
        for (name, counts) in result.countsByEntity.sorted(by: { $0.key < $1.key }) {
            writer.key(name)
            writer.beginObject()
            Self.write(counts, to: &writer)
            writer.endObject()
        }
        writer.endObject()
        writer.key("tolerated")
        writer.integer(Int64(result.toleratedCount))
        writer.key("drift")
        writer.beginArray()
        for entry in result.drift.entries { Self.write(entry, to: &writer) }
        writer.endArray()
        writer.key("rejected")
        writer.integer(Int64(result.rejectedCount))
        writer.key("problems")
        writer.beginArray()
        for problem in result.rejected { Self.write(problem, to: &writer) }
        writer.endArray()
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Returns the JSON for a failed sync: `{"error": "…"}`.
    static func json(ofFailure text: String) -> String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("error")
        writer.string(text)
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private static func write(_ counts: StoreSyncResult.Counts, to writer: inout JSONWriter) {
        let numbers: KeyValuePairs = [
            "inserted": counts.inserted, "updated": counts.updated, "unchanged": counts.unchanged,
            "deleted": counts.deleted, "withheld": counts.withheld,
        ]
        for (name, number) in numbers {
            writer.key(name)
            writer.integer(Int64(number))
        }
    }

    private static func write(_ entry: DriftReport.Entry, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("kind")
        writer.string(entry.kind.rawValue)
        writer.key("entity")
        writer.string(entry.entity)
        writer.key("key_path")
        writer.string(entry.keyPath)
        writer.key("count")
        writer.integer(Int64(entry.count))
        writer.key("first_index")
        writer.integer(Int64(entry.firstIndex))
        if let found = entry.found {
            writer.key("found")
            writer.string(found)
        }
        writer.endObject()
    }

    private static func write(_ problem: MappingProblem, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("entity")
        writer.string(problem.entity)
        writer.key("index")
        writer.integer(Int64(problem.index))
        writer.key("key_path")
        writer.string(problem.keyPath)
        writer.key("reason")
        writer.string("\(problem)")
        writer.endObject()
    }
}
