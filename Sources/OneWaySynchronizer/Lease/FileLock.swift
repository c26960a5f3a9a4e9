import SyncBase

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The lock of a ``FileLease``. Released with its last reference.
///
/// Every call returns at once: the lock is only tried, and the text in the file is one line.
package final class FileLock: SyncLeaseGrant {
    /// The text in the file.
    private struct Text: Codable {
        /// The number of times that the lease was granted.
        var generation = 0
        /// The holder; nil after a release.
        var holder: SyncLeaseHolder?
    }

    private static let textByteCountLimit = 4_096

    /// The directory that `path` is relative to.
    private let directory: Int32
    private let path: String
    /// The locked file; nil once it was released.
    private let descriptor: Locked<Int32?>
    private let generation: Int

    private init(_ descriptor: Int32, directory: Int32, path: String, generation: Int) {
        self.directory = directory
        self.path = path
        self.descriptor = Locked(descriptor)
        self.generation = generation
    }

    deinit {
        unlock()
    }

    /// Takes the lock if it is free.
    ///
    /// - Parameters:
    ///   - path: The path of the file, which is created if needed.
    ///   - directory: The open directory that a relative path begins at; the working directory by
    ///     default. It must stay open until the lock is released.
    ///   - holder: The holder to write into the file.
    /// - Throws: ``FileLease/Failure``.
    package static func take(
        _ path: String, in directory: Int32 = AT_FDCWD, for holder: SyncLeaseHolder
    ) throws(FileLease.Failure) -> SyncLeaseAnswer {
        while true {
            // A link could create or overwrite a file elsewhere, and opening a pipe would wait.
            let descriptor = openat(directory, path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o644)
            guard descriptor >= 0 else {
                throw FileLease.Failure(path: path, reason: errno == ELOOP ? "it is a symbolic link" : systemReason())
            }
            var isKept = false
            defer { if !isKept { close(descriptor) } }
            guard status(of: descriptor).map({ $0.st_mode & S_IFMT == S_IFREG }) == true else {
                throw FileLease.Failure(path: path, reason: "it is not a regular file")
            }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                if errno == EINTR { continue }
                guard errno == EWOULDBLOCK else { throw FileLease.Failure(path: path, reason: systemReason()) }
                return .held(by: text(in: descriptor)?.holder)
            }
            // Between opening and locking, another process may have replaced the file.
            guard isAt(path, in: directory, descriptor) else { continue }
            let generation = (text(in: descriptor)?.generation ?? 0) &+ 1
            do throws(FileLease.Failure) {
                try write(Text(generation: generation, holder: holder), to: descriptor, path)
            } catch {
                flock(descriptor, LOCK_UN)
                throw error
            }
            isKept = true
            return .granted(FileLock(descriptor, directory: directory, path: path, generation: generation))
        }
    }

    /// Verifies that the locked file is still at its path.
    ///
    /// - Throws: ``FileLease/Failure``.
    package func renew() throws {
        let isHeld = descriptor.withLock { descriptor in
            descriptor.map { Self.isAt(path, in: directory, $0) } ?? false
        }
        guard isHeld else { throw FileLease.Failure(path: path, reason: "it was removed or replaced") }
    }

    /// Removes the holder from the file, and releases the lock.
    package func release() {
        // If this fails, the text stays without meaning, as after the death of a holder.
        descriptor.withLock { descriptor in
            if let descriptor { try? Self.write(Text(generation: generation), to: descriptor, path) }
        }
        unlock()
    }

    private func unlock() {
        descriptor.withLock { descriptor in
            guard let open = descriptor else { return }
            // A child process that is just being started may have a copy of the descriptor.
            flock(open, LOCK_UN)
            close(open)
            descriptor = nil
        }
    }

    // MARK: The file

    /// Whether a path still leads to an open file.
    private static func isAt(_ path: String, in directory: Int32, _ descriptor: Int32) -> Bool {
        var found = stat()
        guard let open = status(of: descriptor), fstatat(directory, path, &found, AT_SYMLINK_NOFOLLOW) == 0 else {
            return false
        }
        return found.st_ino == open.st_ino && found.st_dev == open.st_dev
    }

    private static func status(of descriptor: Int32) -> stat? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status : nil
    }

    /// The text; nil if there is none, or if the holder is just writing it.
    private static func text(in descriptor: Int32) -> Text? {
        var bytes = [UInt8](repeating: 0, count: textByteCountLimit)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try? decoder.decode(Text.self, from: Data(bytes[..<count]))
    }

    private static func write(_ text: Text, to descriptor: Int32, _ path: String) throws(FileLease.Failure) {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(text) else {
            throw FileLease.Failure(path: path, reason: "its text cannot be encoded")
        }
        let bytes = [UInt8](data) + [UInt8(ascii: "\n")]
        guard pwrite(descriptor, bytes, bytes.count, 0) == bytes.count, ftruncate(descriptor, off_t(bytes.count)) == 0
        else {
            throw FileLease.Failure(path: path, reason: systemReason())
        }
    }

    private static func systemReason() -> String { String(cString: strerror(errno)) }
}
