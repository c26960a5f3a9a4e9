import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A lock that excludes other mirrors, of any process, from a folder.
///
/// The system releases the lock when the process ends, for any reason.
final class FolderLock: Sendable {
    private let descriptor: Int32

    /// Creates a lock by acquiring it, without waiting.
    ///
    /// - Throws: ``MirrorFolderError`` if another mirror has the lock, the file cannot be created,
    ///   or a symbolic link has its name.
    init(file: URL) throws(MirrorFolderError) {
        // A link could create a file outside the folder.
        descriptor = open(file.path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            if errno == ELOOP { throw .inTheWay(file.path) }
            throw .system("cannot open \(file.path): \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw .inUse(file.deletingLastPathComponent().deletingLastPathComponent().path)
        }
    }

    deinit {
        // A child process that is just being started may have a copy of the descriptor.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
