#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// What tells a file from a changed one: its size and the time of its content.
///
/// Both survive a copy of the folder that keeps times.
struct FileStamp: Hashable, Sendable {
    var byteCount: Int
    /// Nanoseconds since 1970.
    var modified: Int64
}

/// The kind and the stamp of a file.
struct FileStatus: Hashable, Sendable {
    var stamp: FileStamp
    var isFile: Bool
    var isFolder: Bool
    /// Whether a file has more names than one, as in a copy that consists of hard links.
    var isLinked: Bool
    /// The number of the file and of its file system.
    var identity: [UInt64]

    init(_ status: stat) {
        #if canImport(Darwin)
        let modified = status.st_mtimespec
        #else
        let modified = status.st_mtim
        #endif
        stamp = FileStamp(
            byteCount: Int(status.st_size),
            modified: Int64(modified.tv_sec) &* 1_000_000_000 &+ Int64(modified.tv_nsec))
        isFile = status.st_mode & S_IFMT == S_IFREG
        isFolder = status.st_mode & S_IFMT == S_IFDIR
        isLinked = status.st_nlink > 1
        identity = [UInt64(status.st_ino), UInt64(truncatingIfNeeded: status.st_dev)]
    }
}
