import CoreDataModel
import COneWaySQLite
import Foundation
import JSONMapper
import OneWaySynchronizer
import StoreSync
import SyncBase
import SyncModel
import SyncStoreSQLite

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Syncs the first generation of users into a file, as the Demo does, and kills itself before a
/// call that changes a file: `killed-sync FILE COUNT`, after COUNT such calls.
enum KilledSyncRole {
    /// How many calls are left.
    private static let rest = Locked(0)

    static func run(_ arguments: [String]) async throws {
        guard arguments.count == 2, let count = Int(arguments[1]) else { throw UsageError() }
        rest.value = count
        try killAtCalls()
        let mapper = try RecordMapper(try Generation.model())
        var options = SQLiteStore.Options()
        options.note = String(decoding: try mapper.model.coreDataXML(), as: UTF8.self)
        let storeOptions = options
        let lease = SQLiteLease(for: arguments[0])
        try await lease.withLease(waiting: .forever) {
            let store = try JSONStore(
                try await SQLiteStore(exactly: mapper.model, at: .file(arguments[0]), options: storeOptions),
                mapper: mapper)
            let generation = Generation(1, of: 1...40)
            try await store.sync(.bytes(generation.parts().flatMap(\.self)), into: "User")
        }
    }

    /// Replaces the system calls of SQLite that change files; see
    /// https://www.sqlite.org/c3ref/vfs.html.
    private static func killAtCalls() throws {
        guard let vfs = sqlite3_vfs_find(nil), let replace = vfs.pointee.xSetSystemCall else { throw UsageError() }
        let write: @convention(c) (Int32, UnsafeRawPointer?, Int, off_t) -> Int = { file, bytes, count, offset in
            KilledSyncRole.take()
            return pwrite(file, bytes, count, offset)
        }
        let truncate: @convention(c) (Int32, off_t) -> Int32 = { file, size in
            KilledSyncRole.take()
            return ftruncate(file, size)
        }
        let remove: @convention(c) (UnsafePointer<CChar>) -> Int32 = { path in
            KilledSyncRole.take()
            return unlink(path)
        }
        for name in ["pwrite", "pwrite64"] {
            _ = replace(vfs, name, unsafeBitCast(write, to: sqlite3_syscall_ptr.self))
        }
        _ = replace(vfs, "ftruncate", unsafeBitCast(truncate, to: sqlite3_syscall_ptr.self))
        _ = replace(vfs, "unlink", unsafeBitCast(remove, to: sqlite3_syscall_ptr.self))
    }

    private static func take() {
        let isOver = rest.withLock { rest in
            rest -= 1
            return rest < 0
        }
        if isOver { kill(getpid(), SIGKILL) }
    }
}
