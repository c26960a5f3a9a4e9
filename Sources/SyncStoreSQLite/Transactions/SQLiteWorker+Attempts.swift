import SyncStoreSQL

// Changes that are undone if the database refuses them.
extension SQLiteWorker {
    func beginAttempt() throws {
        try interruptible { try indexed().execute("SAVEPOINT sync_change") }
        keptBefore = keptLinks
    }

    func endAttempt(isUndone: Bool) throws {
        let undo = isUndone ? "ROLLBACK TO sync_change; " : ""
        try interruptible { try opened().execute("\(undo)RELEASE sync_change") }
        if isUndone { (keptLinks, knownLinks) = (keptBefore, SQLiteKnownLinks()) }
    }
}
