import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A folder, in memory if the system has a file system there, that is removed with its last
/// reference.
///
/// As long as it exists, a file in it is locked. When the process dies, the system releases the
/// lock. The next folder that is created finds and removes the folders whose file is not locked.
final class TransientFolder: Sendable {
    let url: URL
    private let lock: Int32

    private static let prefix = "SQLiteStore-"

    init() throws {
        let manager = FileManager.default
        let parent = Self.parent
        Self.removeAbandoned(in: parent)
        let name = Self.prefix + UUID().uuidString
        // It has another name until its file is locked, so that it is not removed as abandoned.
        let unlocked = parent.appending(path: ".\(name)")
        try manager.createDirectory(
            at: unlocked, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        do {
            lock = try Self.lock(unlocked, flags: O_CREAT)
        } catch {
            try? manager.removeItem(at: unlocked)
            throw error
        }
        do {
            url = parent.appending(path: name)
            try manager.moveItem(at: unlocked, to: url)
        } catch {
            try? manager.removeItem(at: unlocked)
            close(lock)
            throw error
        }
    }

    deinit {
        // If the removal fails, the next folder removes it, or the system, which empties such
        // places.
        try? FileManager.default.removeItem(at: url)
        close(lock)
    }

    /// The parent of these folders.
    static let parent: URL = {
        // On Linux, this folder is in memory.
        let shared = URL(fileURLWithPath: "/dev/shm", isDirectory: true)
        let manager = FileManager.default
        return manager.isWritableFile(atPath: shared.path) ? shared : manager.temporaryDirectory
    }()

    /// Locks the file of a folder, and returns its descriptor.
    ///
    /// - Throws: `SQLiteError` if the file cannot be opened, or another process has the lock.
    private static func lock(_ folder: URL, flags: Int32 = 0) throws(SQLiteError) -> Int32 {
        let path = folder.appending(path: "lock").path
        let descriptor = open(path, O_RDWR | O_CLOEXEC | flags, 0o600)
        guard descriptor >= 0 else { throw SQLiteError(path, systemCode: errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            throw SQLiteError(path, systemCode: code)
        }
        return descriptor
    }

    private static func removeAbandoned(in parent: URL) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        for name in names where name.hasPrefix(prefix) {
            let folder = parent.appending(path: name)
            guard let descriptor = try? lock(folder) else { continue }
            try? FileManager.default.removeItem(at: folder)
            close(descriptor)
        }
    }
}

extension SQLiteError {
    /// Creates the error for a file that the system could not open or lock.
    fileprivate init(_ path: String, systemCode: Int32) {
        self.init(
            code: Code.cannotOpen, message: "cannot open and lock \(path): \(String(cString: strerror(systemCode)))")
    }
}
