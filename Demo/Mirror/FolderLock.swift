import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Keeps a second mirror, of this process or another, out of a folder while the first is at work in it.
///
/// The system gives the lock back when the process ends, however it ends.
final class FolderLock: Sendable {
    private let descriptor: Int32

    /// Takes the lock.
    ///
    /// - Throws: ``MirrorFolderError`` when another mirror has it, or when the file cannot be made.
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
        close(descriptor)
    }
}
