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
    /// - Throws: ``MirrorFolderError`` if another mirror has the lock, or the file cannot be
    ///   created.
    init(file: URL) throws(MirrorFolderError) {
        descriptor = open(file.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
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
