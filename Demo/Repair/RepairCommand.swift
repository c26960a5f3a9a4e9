import HTTPTransfer
import OneWaySynchronizer
import SyncStoreSQL

/// The command `Demo repair`, which creates parts of a store's tables again.
struct RepairCommand: Command {
    let arguments: RepairArguments
    let console: Console

    func perform() async throws {
        let store = arguments.store
        guard store.newFiles.isEmpty else { throw store.absence }
        let defects = try await arguments.isPlan ? store.defects(repairing: false) : repair()
        guard !defects.isEmpty else { return console.print("nothing is missing") }
        console.print(arguments.isPlan ? "missing:" : "created again:")
        for defect in defects { console.print("  \(PrintableText.line("\(defect)", limit: 200))") }
        if defects.contains(where: \.heldData) {
            console.print("The values of lost tables and columns come back with the next sync.")
        }
    }

    /// Repairs the store while no sync of this tool runs.
    private func repair() async throws -> [SQLSchemaError.Defect] {
        do {
            guard let lease = arguments.store.lease else { return try await arguments.store.defects(repairing: true) }
            return try await lease.withLease { try await arguments.store.defects(repairing: true) }
        } catch SQLSchemaError.damaged(let defects) {
            throw Irreparable(defects: defects)
        }
    }
}

/// An error for parts of tables that cannot be created again.
private struct Irreparable: Error, CustomStringConvertible {
    let defects: [SQLSchemaError.Defect]

    var description: String {
        let parts = defects.map { PrintableText.line("\($0)", limit: 200) }.joined(separator: ", ")
        return "\(parts) cannot be created again, because objects are related by it; undo what dropped or renamed it, "
            + "or fill the database anew (of SQLite with Demo sync --rebuild)"
    }
}
