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

    /// Locks the file of a folder, and returns its descriptor.
    ///
    /// - Throws: `SQLiteError` if the file cannot be opened, or somebody else has the lock.
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
    /// Creates the error of a file that the system did not open or lock.
    fileprivate init(_ path: String, systemCode: Int32) {
        self.init(
            code: Code.cannotOpen, message: "cannot open and lock \(path): \(String(cString: strerror(systemCode)))")
    }
}
