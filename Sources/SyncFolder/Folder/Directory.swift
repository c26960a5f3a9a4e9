import COneWayFiles

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// An open directory. Names in it are used without following symbolic links.
final class Directory: Sendable {
    let descriptor: Int32
    /// The path for messages, without a final slash except for the root.
    let path: String

    private init(_ descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit {
        close(descriptor)
    }

    /// Opens a directory by its path, in which links are followed; nil if there is none.
    static func open(_ path: String) throws(FolderError) -> Directory? {
        let shown = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        let descriptor = openPath(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor >= 0 { return Directory(descriptor, path: shown) }
        if errno == ENOENT { return nil }
        throw .system("cannot open \(shown): \(Self.reason())")
    }

    func path(of name: String) -> String { path == "/" ? "/\(name)" : "\(path)/\(name)" }

    /// Opens a directory in this one; nil if there is none and none is to be made.
    ///
    /// - Throws: ``FolderError/inTheWay(path:isFolder:)`` if the name is that of a file or a link.
    func directory(_ name: String, isMade: Bool) throws(FolderError) -> Directory? {
        while true {
            let found = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            if found >= 0 { return Directory(found, path: path(of: name)) }
            switch errno {
            case ENOENT where isMade:
                guard mkdirat(descriptor, name, 0o777) == 0 || errno == EEXIST else { throw failure("make", name) }
            case ENOENT: return nil
            case ELOOP, ENOTDIR, EMLINK: throw inTheWay(name)
            default: throw failure("open", name)
            }
        }
    }

    /// Opens the directory at the end of several names; nil if there is none and none is to be
    /// made.
    func directory(at names: ArraySlice<String>, isMade: Bool) throws(FolderError) -> Directory? {
        var directory = self
        for name in names {
            guard let next = try directory.directory(name, isMade: isMade) else { return nil }
            directory = next
        }
        return directory
    }

    /// Opens or creates a regular file; for reading by default.
    ///
    /// - Returns: A descriptor that the caller closes.
    func file(_ name: String, _ flags: Int32 = O_RDONLY) throws(FolderError) -> Int32 {
        // Opening a pipe would wait for its other end.
        let file = openat(descriptor, name, O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0o666)
        guard file >= 0 else {
            if errno == ELOOP { throw inTheWay(name) }
            throw failure("open", name)
        }
        guard Self.status(of: file)?.isFile == true else {
            close(file)
            throw inTheWay(name)
        }
        return file
    }

    /// The status of a name; nil if there is none, or if the system does not tell it.
    func status(_ name: String) -> FileStatus? {
        try? knownStatus(name)
    }

    /// The status of a name; nil only if there is none.
    func knownStatus(_ name: String) throws(FolderError) -> FileStatus? {
        var status = stat()
        if fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return FileStatus(status) }
        if errno == ENOENT { return nil }
        throw failure("read", name)
    }

    static func status(of file: Int32) -> FileStatus? {
        var status = stat()
        return fstat(file, &status) == 0 ? FileStatus(status) : nil
    }

    /// Removes a file, if there is one.
    func remove(_ name: String) throws(FolderError) {
        guard unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else { throw failure("remove", name) }
    }

    /// Removes a directory if it is empty.
    ///
    /// - Returns: Whether it is gone.
    func removeEmptyDirectory(_ name: String) -> Bool {
        unlinkat(descriptor, name, AT_REMOVEDIR) == 0
    }

    /// Removes a directory if it has only directories without files, at any depth. The empty ones
    /// of one that stays can be gone.
    ///
    /// - Returns: Whether it is gone.
    func removeEmptyDirectories(_ name: String) -> Bool {
        guard let inner = try? directory(name, isMade: false), let names = try? inner.names(),
            names.allSatisfy({ inner.removeEmptyDirectories($0) })
        else { return false }
        return removeEmptyDirectory(name)
    }

    /// Renames a file, which replaces another one atomically.
    func move(_ name: String, to target: Directory, _ newName: String) throws(FolderError) {
        guard renameat(descriptor, name, target.descriptor, newName) == 0 else {
            throw target.failure("write", newName)
        }
    }

    /// Renames a file to a name that must be free.
    func move(_ name: String, toFree target: Directory, _ newName: String) throws(FolderError) {
        if owf_rename_to_free(descriptor, name, target.descriptor, newName) == 0 { return }
        if [EINVAL, ENOSYS, ENOTSUP].contains(errno) {
            // A link, unlike a renaming, fails if somebody else has put a file there meanwhile.
            if linkat(descriptor, name, target.descriptor, newName, 0) == 0 { return try remove(name) }
            // Some file systems have no links either.
            if errno != EEXIST { return try move(name, to: target, newName) }
        }
        guard errno == EEXIST else { throw target.failure("write", newName) }
        throw target.inTheWay(newName)
    }

    /// The names in the directory, without `.` and `..`.
    func names() throws(FolderError) -> [String] {
        // A second descriptor with a position of its own.
        let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0, let stream = fdopendir(copy) else {
            if copy >= 0 { close(copy) }
            throw failure("read", ".")
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// The error of a name whose place is taken.
    func inTheWay(_ name: String) -> FolderError {
        .inTheWay(path: path(of: name), isFolder: status(name)?.isFolder == true)
    }

    func failure(_ action: String, _ name: String) -> FolderError {
        .system("cannot \(action) \(path(of: name)): \(Self.reason())")
    }

    static func reason() -> String { String(cString: strerror(errno)) }
}

/// The function `open`, under a name that the type's methods do not hide.
private func openPath(_ path: String, _ flags: Int32) -> Int32 {
    open(path, flags)
}

extension Int32 {
    /// Writes all bytes to this open file.
    ///
    /// - Returns: Whether all were written; if not, `errno` says why.
    func writeAll(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { buffer in
            var offset = 0
            while offset < buffer.count {
                let count = write(self, buffer.baseAddress.map { $0 + offset }, buffer.count - offset)
                if count < 0 {
                    if errno == EINTR { continue }
                    return false
                }
                offset += count
            }
            return true
        }
    }
}
