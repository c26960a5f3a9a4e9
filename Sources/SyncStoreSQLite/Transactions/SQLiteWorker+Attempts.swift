import SyncStoreSQL

// Changes that are undone if the database refuses them.
extension SQLiteWorker {
    func beginAttempt() throws -> SQLKeptLinks {
        try interruptible { try indexed().execute("SAVEPOINT sync_change") }
        return keptLinks
    }

    func endAttempt(restoring kept: SQLKeptLinks?) throws {
        let undo = kept == nil ? "" : "ROLLBACK TO sync_change; "
        try interruptible { try opened().execute("\(undo)RELEASE sync_change") }
        if let kept { (keptLinks, knownLinks) = (kept, SQLiteKnownLinks()) }
    }
}
