import JSONMapper
import StoreSync

extension SyncSummary {
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
        writer.key("seconds")
        // A duration is a finite number.
        writer.raw("\((duration / .milliseconds(1)).rounded() / 1_000)".utf8)
        if remote == nil {
            writer.key("bytes")
            writer.integer(Int64(byteCount))
        }
        let lists: KeyValuePairs = [
            "warnings": result.warnings, "notes": notes, "model_changes": modelChanges,
            "model_obstacles": modelObstacles,
        ]
        for (key, texts) in lists {
            writer.key(key)
            writer.beginArray()
            for text in texts { writer.string(text) }
            writer.endArray()
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
        writer.key("excluded_relationships")
        writer.integer(Int64(result.excludedRelationshipCount))
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
            "deleted": counts.deleted, "kept": counts.kept,
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

    private static func write(_ problem: MappingError.Problem, to writer: inout JSONWriter) {
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
