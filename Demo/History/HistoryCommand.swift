import Foundation
import HTTPTransfer
import JSONMapper
import StoreSync
import SyncStore
import SyncModel

/// The command `Demo history`, which lists the latest syncs into a store.
struct HistoryCommand: Command {
    let arguments: HistoryArguments
    let console: Console

    func perform() async throws {
        let store = try await arguments.store.openForReading(model: nil)
        let model = store.mapper.model
        if let entity = arguments.entity { _ = try model.required(entity) }
        let isRecorded = model[SyncEntity.pass.name] != nil
        let passes =
            isRecorded
            ? try await store.store.passes(of: arguments.entity, limit: arguments.limit) : []
        if arguments.printsJSON {
            for pass in passes { console.print(try Self.json(of: pass)) }
        } else if passes.isEmpty {
            console.print("no syncs are recorded")
        } else {
            for line in Self.table(of: passes).lines(width: console.width, style: console.style).lines {
                console.print(line)
            }
            if let error = passes.lazy.compactMap(\.error).first {
                console.print()
                console.print("The latest error: \(PrintableText.line(error, limit: 400))")
            }
        }
    }

    private static func table(of passes: [SyncHistory.Pass]) -> TextTable {
        var table = TextTable(columns: [
            .init(title: "started", isFixed: true), .init(title: "entity"), .init(title: "status"),
            .init(title: "inserted", isNumeric: true), .init(title: "updated", isNumeric: true),
            .init(title: "deleted", isNumeric: true), .init(title: "took", isNumeric: true),
        ])
        for pass in passes {
            let counts = pass.counts
            table.add([
                .init(text(of: pass.started)), .init(PrintableText.line(pass.name)),
                .init(pass.status.rawValue, role(of: pass.status)),
                .init("\(counts.inserted)", counts.inserted > 0 ? .added : .faint),
                .init("\(counts.updated)", counts.updated > 0 ? .changed : .faint),
                .init("\(counts.deleted)", counts.deleted > 0 ? .removed : .faint),
                .init(Quantity.time(pass.duration)),
            ])
        }
        return table
    }

    private static func role(of status: SyncHistory.Status) -> TextStyle.Role? {
        switch status {
        case .succeeded: nil
        case .unchanged: .faint
        case .failed: .failure
        case .cancelled: .warning
        }
    }

    /// The time in UTC, to the second.
    private static func text(of date: Date) -> String {
        DateText.text(Timestamp(date).microseconds, fraction: .none)
    }

    /// The pass as one line of JSON.
    private static func json(of pass: SyncHistory.Pass) throws -> String {
        var writer = JSONWriter()
        writer.beginObject()
        let texts: KeyValuePairs = [
            "name": pass.name, "entity": pass.entity, "started": text(of: pass.started),
            "finished": text(of: pass.finished), "status": pass.status.rawValue,
        ]
        for (name, text) in texts {
            writer.key(name)
            writer.string(text)
        }
        let numbers: KeyValuePairs<String, Int?> = [
            "number": pass.number, "inserted": pass.counts.inserted, "updated": pass.counts.updated,
            "unchanged": pass.counts.unchanged, "deleted": pass.counts.deleted, "kept": pass.counts.kept,
            "rejected": pass.rejectedCount, "pages": pass.pageCount, "bytes": pass.byteCount,
        ]
        for case (let name, let number?) in numbers {
            writer.key(name)
            writer.integer(Int64(number))
        }
        writer.key("seconds")
        try writer.double(pass.duration / .seconds(1))
        if let error = pass.error {
            writer.key("error")
            writer.string(error)
        }
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
