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
/// SQLite has no database in memory that can be read while it is written: neither a shared cache
/// nor its `memdb` file system has a write-ahead log. So there is a folder, and a process that is
/// killed leaves it behind. A folder is locked as long as it is used, and the system releases the
/// lock when the process dies. The next folder that is created removes those that nobody locks.
///
/// The parent is shared with other users, so names in it prove nothing. A folder is removed only
/// through a descriptor, and only if the same user owns it and nobody else may write in it.
final class TransientFolder: Sendable {
    let url: URL
    private let parent: FolderDescriptor
    private let folder: FolderDescriptor

    static let prefix = "OneWaySync-"
    /// How often another process can remove the new folder before it is locked.
    private static let attemptCount = 100

    /// Creates a folder.
    ///
    /// - Parameter place: The parent; by default, a shared folder of the system.
    /// - Throws: `SQLiteError` if no folder can be made there, or if other users can rename it.
    init(in place: URL = TransientFolder.parent) throws(SQLiteError) {
        parent = try FolderDescriptor(place.path(percentEncoded: false))
        guard parent.keepsEntries else {
            throw SQLiteError(
                code: SQLiteError.Code.cannotOpen,
                message:
                    "other users can rename files in \(place.path(percentEncoded: false)), so that no data is safe there"
            )
        }
        Self.removeAbandoned(in: parent)
        for _ in 1..<Self.attemptCount {
            let name = Self.prefix + UUID().uuidString
            try parent.makeFolder(name)
            if let folder = parent.lockedFolder(name) {
                self.folder = folder
                url = place.appending(path: name, directoryHint: .isDirectory)
                return
            }
        }
        throw SQLiteError(
            code: SQLiteError.Code.cannotOpen,
            message: "other processes remove every new folder in \(place.path(percentEncoded: false))")
    }

    deinit {
        // If the removal fails, the next folder removes it, or the system, which empties such
        // places.
        folder.removeFiles()
        parent.removeFolder(url.lastPathComponent)
    }

    /// The parent of these folders. On Linux, it is in memory.
    static let parent: URL = {
        let shared = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
        let manager = FileManager.default
        return manager.isWritableFile(atPath: shared.path) ? shared : manager.temporaryDirectory
    }()

    private static func removeAbandoned(in parent: FolderDescriptor) {
        for name in parent.names where name.hasPrefix(prefix) {
            guard let folder = parent.lockedFolder(name) else { continue }
            folder.removeFiles()
            parent.removeFolder(name)
        }
    }
}

/// An open folder, and the only owner of its descriptor. Entries are accessed by name in the open
/// folder, so that it does not matter who renames or replaces what is on the way to it.
private final class FolderDescriptor: Sendable {
    private let descriptor: Int32
    private let status: stat

    /// Opens a folder by its path.
    ///
    /// - Throws: `SQLiteError` if there is no folder that can be read.
    convenience init(_ path: String) throws(SQLiteError) {
        let opened = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0, let made = FolderDescriptor.status(of: opened) else { throw Self.error(path) }
        self.init(opened, made)
    }

    private init(_ descriptor: Int32, _ status: stat) {
        self.descriptor = descriptor
        self.status = status
    }

    deinit {
        // Releases the lock as well.
        close(descriptor)
    }

    private static func status(of descriptor: Int32) -> stat? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            close(descriptor)
            return nil
        }
        return status
    }

    /// Whether only the user, or the superuser, can rename and remove the user's entries: nobody
    /// else may write in the folder, or it is sticky.
    var keepsEntries: Bool {
        (status.st_uid == geteuid() || status.st_uid == 0)
            && (status.st_mode & 0o022 == 0 || status.st_mode & 0o1000 != 0)
    }

    /// The names of the entries, in any order; empty if they cannot be read.
    var names: [String] {
        // The stream gets a descriptor of its own, which it closes.
        let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { return [] }
        guard let stream = fdopendir(copy) else {
            close(copy)
            return []
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Creates a folder that only the user can use.
    func makeFolder(_ name: String) throws(SQLiteError) {
        guard mkdirat(descriptor, name, 0o700) == 0 else { throw Self.error(name) }
    }

    /// Opens and locks a folder that the user made.
    ///
    /// - Returns: Nil if it is a link, another user's, open to others, locked, or gone.
    func lockedFolder(_ name: String) -> FolderDescriptor? {
        let opened = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard opened >= 0, let status = Self.status(of: opened) else { return nil }
        let folder = FolderDescriptor(opened, status)
        guard status.st_uid == geteuid(), status.st_mode & 0o7777 == 0o700,
            flock(opened, LOCK_EX | LOCK_NB) == 0
        else { return nil }
        // Another process may have removed it before it was locked.
        var current = stat()
        guard fstatat(descriptor, name, &current, AT_SYMLINK_NOFOLLOW) == 0,
            current.st_ino == status.st_ino, current.st_dev == status.st_dev
        else { return nil }
        return folder
    }

    /// Removes everything but folders.
    func removeFiles() {
        for name in names { unlinkat(descriptor, name, 0) }
    }

    /// Removes a folder unless it has entries.
    func removeFolder(_ name: String) {
        unlinkat(descriptor, name, AT_REMOVEDIR)
    }

    private static func error(_ path: String) -> SQLiteError {
        SQLiteError(
            code: SQLiteError.Code.cannotOpen,
            message: "cannot create or open the folder \(path): \(String(cString: strerror(errno)))")
    }
}
