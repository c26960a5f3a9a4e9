import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A folder, in memory where the system has a file system there, that is gone with the last
/// reference.
///
/// A file in it is locked for as long. The system takes the lock off when the process dies, by
/// which the next folder that is made finds those that nobody uses any more.
final class TransientFolder: Sendable {
    let url: URL
    private let lock: Int32

    private static let prefix = "SQLiteStore-"

    init() throws {
        let manager = FileManager.default
        let parent = Self.parent
        Self.removeAbandoned(in: parent)
        let name = Self.prefix + UUID().uuidString
        // It has another name until it is locked, so that nobody takes it for abandoned.
        let unlocked = parent.appending(path: ".\(name)")
        try manager.createDirectory(
            at: unlocked, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let lock = Self.locked(unlocked, flags: O_CREAT)
        do {
            guard lock >= 0 else { throw CocoaError(.fileLocking) }
            url = parent.appending(path: name)
            try manager.moveItem(at: unlocked, to: url)
        } catch {
            try? manager.removeItem(at: unlocked)
            if lock >= 0 { close(lock) }
            throw error
        }
        self.lock = lock
    }

    deinit {
        // What cannot be removed is left to the next one, and to the system, which empties such
        // places.
        try? FileManager.default.removeItem(at: url)
        close(lock)
    }

    /// Where such folders are.
    static let parent: URL = {
        // Linux keeps this one in memory.
        let shared = URL(fileURLWithPath: "/dev/shm", isDirectory: true)
        let manager = FileManager.default
        return manager.isWritableFile(atPath: shared.path) ? shared : manager.temporaryDirectory
    }()

    /// Locks the file of a folder.
    ///
    /// - Returns: Its descriptor; a negative number where it cannot be opened, or somebody else has
    ///   the lock.
    private static func locked(_ folder: URL, flags: Int32 = 0) -> Int32 {
        let descriptor = open(folder.appending(path: "lock").path, O_RDWR | O_CLOEXEC | flags, 0o600)
        guard descriptor >= 0 else { return -1 }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return -1
        }
        return descriptor
    }

    private static func removeAbandoned(in parent: URL) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        for name in names where name.hasPrefix(prefix) {
            let folder = parent.appending(path: name)
            let lock = locked(folder)
            guard lock >= 0 else { continue }
            try? FileManager.default.removeItem(at: folder)
            close(lock)
        }
    }
}
