import SyncBase
import Foundation
import OneWaySynchronizer

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The local side of a mirror: a folder with a file for each item, and a record of each.
///
///     FOLDER/<name>              the content of an item
///     FOLDER/previews/<name>     its preview
///     FOLDER/.mirror/records/<name>   its key, revision and own files, as JSON
///     FOLDER/.mirror/incoming/   files being downloaded; emptied when a pass begins
///     FOLDER/.mirror/lock        locked during a pass
///
/// Names are those of ``SafeName``. A file appears by being renamed into its place, so it is always
/// whole. The record claims a file before the file first appears, so that a process that dies in
/// between leaves an item that is known to be incomplete. Content and preview are claimed apart.
/// Files that the mirror did not write, or that somebody has changed since, and directories are
/// never overwritten or removed. A copy of the folder is a mirror too if it has the times of the
/// files.
final class MirrorFolder: Sendable {
    /// A file as the mirror wrote it.
    struct Claim: Codable, Equatable {
        /// The number of the file in its file system.
        var inode: UInt64
        var byteCount: Int
        /// When the content was written, in microseconds since 1970; nil in records of version
        /// 0.1.0.
        var modified: Int64?
    }

    /// What is known about an item.
    struct Record: Codable, Equatable {
        var key: String
        /// The revision of the content; nil if the server gave none, or if there is no content yet.
        var revision: String?
        /// The size of the content; nil if there is none yet.
        var byteCount: Int?
        /// The content file; nil if the mirror has not written one.
        var content: Claim?
        /// The preview file; nil if the mirror has not written one.
        var preview: Claim?
    }

    let url: URL
    private let state = Locked<FolderLock?>(nil)
    private let notes = Locked<[String]>([])

    /// Creates a mirror of a folder, which need not exist. The folder is not accessed.
    init(url: URL) {
        self.url = url
    }

    private var internals: URL { url.appending(path: ".mirror") }
    private var records: URL { internals.appending(path: "records") }
    private var incoming: URL { internals.appending(path: "incoming") }
    private var previews: URL { url.appending(path: "previews") }

    /// Returns the file of an item's content, whether or not it exists.
    func contentFile(for key: MirrorKey) -> URL { url.appending(path: SafeName.of(key)) }

    /// Returns the file of an item's preview, whether or not it exists.
    func previewFile(for key: MirrorKey) -> URL { previews.appending(path: SafeName.of(key)) }

    private func recordFile(for key: MirrorKey) -> URL { records.appending(path: SafeName.of(key)) }

    // MARK: Passes

    /// Creates the folder if needed, locks it, and deletes incomplete downloads of earlier
    /// processes.
    ///
    /// - Throws: ``MirrorFolderError`` if another mirror uses the folder, or it cannot be written.
    func beginPass() throws(MirrorFolderError) {
        try attempt("make the folder \(url.path)") {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        }
        // One after the other, so that nothing is made where a link leads to.
        for folder in [internals, records, incoming] { try makeFolder(folder) }
        let lock = try FolderLock(file: internals.appending(path: "lock"))
        state.withLock { $0 = lock }
        notes.withLock { $0 = [] }
        // Whatever is not a file that a download was written to stays.
        for name in (try? FileManager.default.contentsOfDirectory(atPath: incoming.path)) ?? []
        where UUID(uuidString: name) != nil {
            _ = unlink(incoming.appending(path: name).path)
        }
    }

    /// Returns and forgets what a person should know: files that were left alone.
    func takeNotes() -> [String] {
        notes.withLock { notes in
            defer { notes = [] }
            return notes
        }
    }

    private func note(_ text: String) {
        notes.withLock { if !$0.contains(text) { $0.append(text) } }
    }

    /// Makes a directory if there is none. A link to one is an error.
    private func makeFolder(_ folder: URL) throws(MirrorFolderError) {
        guard mkdir(folder.path, 0o777) == 0 || errno == EEXIST else {
            throw .system("cannot make \(folder.path): \(String(cString: strerror(errno)))")
        }
        guard status(of: folder)?.isDirectory == true else { throw .inTheWay(folder.path) }
    }

    /// Releases the lock.
    func endPass() {
        state.withLock { $0 = nil }
    }

    // MARK: Contents

    /// Returns the keys of all complete and incomplete items; empty if the folder does not exist.
    ///
    /// - Throws: ``MirrorFolderError`` if a record cannot be read.
    func keys() throws(MirrorFolderError) -> Set<MirrorKey> {
        guard exists(records) else { return [] }
        var keys: Set<MirrorKey> = []
        let names = try attempt("read \(records.path)") {
            try FileManager.default.contentsOfDirectory(atPath: records.path)
        }
        for name in names {
            let file = records.appending(path: name)
            // A record copied to another name would cause the removal of the wrong files.
            guard let record = try? read(file), SafeName.of(MirrorKey(record.key)) == name else {
                note("\(file.path) is not a record of this mirror, and was left alone")
                continue
            }
            keys.insert(MirrorKey(record.key))
        }
        return keys
    }

    /// Returns whether an item is stored with the listed revision and all of its files.
    func isCurrent(_ item: MirrorItem) throws(MirrorFolderError) -> Bool {
        let key = item.owsPrimaryKey
        guard let revision = item.revision, exists(recordFile(for: key)) else { return false }
        let record = try read(recordFile(for: key))
        guard record.revision == revision, let byteCount = record.byteCount else { return false }
        guard let content = status(of: contentFile(for: key)), content.isFile, content.claim.byteCount == byteCount
        else {
            return false
        }
        guard item.previewURL != nil else { return record.preview == nil }
        return record.preview != nil && status(of: previewFile(for: key))?.isFile == true
    }

    // MARK: Changes

    /// Downloads a file into the incoming folder, and deletes it again if the download fails.
    ///
    /// - Parameter write: Receives the URL of a file that does not exist yet, and writes it.
    /// - Returns: The URL of the complete file.
    func receive(_ write: (URL) async throws -> Void) async throws -> URL {
        let file = incoming.appending(path: UUID().uuidString)
        do {
            try await write(file)
            try flush(file)
            return file
        } catch {
            _ = unlink(file.path)
            throw error
        }
    }

    /// Moves a received file into place as the content of an item.
    func storeContent(_ file: URL, byteCount: Int, of item: MirrorItem) throws(MirrorFolderError) {
        let key = item.owsPrimaryKey
        var record = try put(file, at: contentFile(for: key), of: key, claim: \.content)
        if item.previewURL == nil {
            try removePreview(of: key, record)
            record.preview = nil
        }
        record.revision = item.revision
        record.byteCount = byteCount
        try write(record)
    }

    /// Moves a received file into place as the preview of an item.
    func storePreview(_ file: URL, of item: MirrorItem) throws(MirrorFolderError) {
        try makeFolder(previews)
        _ = try put(file, at: previewFile(for: item.owsPrimaryKey), of: item.owsPrimaryKey, claim: \.preview)
    }

    /// Removes an item's files, then its record; missing files are not an error.
    func remove(_ key: MirrorKey) throws(MirrorFolderError) {
        guard exists(recordFile(for: key)) else { return }
        let record = try read(recordFile(for: key))
        if let claim = record.content { try removeOwn(contentFile(for: key), claim) }
        try removePreview(of: key, record)
        try unlinkFile(recordFile(for: key))
    }

    // MARK: Ownership

    /// Moves a received file into its place, after the record has claimed it.
    private func put(
        _ file: URL, at target: URL, of key: MirrorKey, claim: WritableKeyPath<Record, Claim?>
    ) throws(MirrorFolderError) -> Record {
        do throws(MirrorFolderError) {
            var record = exists(recordFile(for: key)) ? try read(recordFile(for: key)) : Record(key: key.text)
            guard MirrorKey(record.key) == key else { throw .damagedRecord(recordFile(for: key).path) }
            guard let received = status(of: file) else { throw .system("cannot find \(file.path)") }
            let before = status(of: target)
            if let before { guard owns(before, record[keyPath: claim]) else { throw .inTheWay(target.path) } }
            record[keyPath: claim] = received.claim
            if claim == \.content {
                record.revision = nil
                record.byteCount = nil
            }
            try write(record)
            // A link, unlike a renaming, fails if somebody else has put a file there meanwhile.
            if before == nil, link(file.path, target.path) == 0 {
                try unlinkFile(file)
            } else if before == nil, errno == EEXIST {
                throw .inTheWay(target.path)
            } else {
                try move(file, to: target)
            }
            return record
        } catch {
            _ = unlink(file.path)
            throw error
        }
    }

    /// Whether a file is the one that a claim is about, with the content that it had.
    ///
    /// A file has another number in a copy of the folder, and the same number after somebody has
    /// written to it. Both leave the time as the sign.
    private func owns(_ status: FileStatus, _ claim: Claim?) -> Bool {
        guard let claim, status.isFile, status.claim.byteCount == claim.byteCount else { return false }
        return claim.modified.map { $0 == status.claim.modified } ?? (status.claim.inode == claim.inode)
    }

    /// Removes a file if it is the claimed one, and otherwise leaves it alone.
    private func removeOwn(_ file: URL, _ claim: Claim) throws(MirrorFolderError) {
        guard let status = status(of: file) else { return }
        guard owns(status, claim) else {
            return note("\(file.path) was not written by this mirror, or was changed since, and was left alone")
        }
        try unlinkFile(file)
    }

    /// Removes an item's preview, but not from where a link in place of the folder leads.
    private func removePreview(of key: MirrorKey, _ record: Record) throws(MirrorFolderError) {
        guard let claim = record.preview, status(of: previews)?.isDirectory == true else { return }
        try removeOwn(previewFile(for: key), claim)
    }

    private func unlinkFile(_ file: URL) throws(MirrorFolderError) {
        guard unlink(file.path) == 0 || errno == ENOENT else {
            throw .system("cannot remove \(file.path): \(String(cString: strerror(errno)))")
        }
    }

    /// The kind of a file, and what a claim would say of it; links are not followed.
    private struct FileStatus {
        var claim: Claim
        var isFile: Bool
        var isDirectory: Bool
    }

    private func status(of file: URL) -> FileStatus? {
        var status = stat()
        guard lstat(file.path, &status) == 0 else { return nil }
        let kind = status.st_mode & S_IFMT
        #if canImport(Darwin)
        let modified = status.st_mtimespec
        #else
        let modified = status.st_mtim
        #endif
        let claim = Claim(
            inode: UInt64(status.st_ino), byteCount: Int(status.st_size),
            modified: Int64(modified.tv_sec) * 1_000_000 + Int64(modified.tv_nsec) / 1_000)
        return FileStatus(claim: claim, isFile: kind == S_IFREG, isDirectory: kind == S_IFDIR)
    }

    /// Has the system write a file to the disk.
    private func flush(_ file: URL) throws(MirrorFolderError) {
        let descriptor = open(file.path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        guard descriptor >= 0, fsync(descriptor) == 0 else {
            throw .system("cannot write \(file.path): \(String(cString: strerror(errno)))")
        }
    }

    private func read(_ file: URL) throws(MirrorFolderError) -> Record {
        do {
            return try JSONDecoder().decode(Record.self, from: try Data(contentsOf: file))
        } catch {
            throw .damagedRecord(file.path)
        }
    }

    private func write(_ record: Record) throws(MirrorFolderError) {
        let file = incoming.appending(path: UUID().uuidString)
        try attempt("write \(file.path)") { try JSONEncoder().encode(record).write(to: file) }
        try flush(file)
        try move(file, to: recordFile(for: MirrorKey(record.key)))
    }

    /// Renames a file, which replaces the target atomically.
    private func move(_ file: URL, to target: URL) throws(MirrorFolderError) {
        guard rename(file.path, target.path) == 0 else {
            let reason = String(cString: strerror(errno))
            try? FileManager.default.removeItem(at: file)
            throw .system("cannot write \(target.path): \(reason)")
        }
    }

    /// Returns whether a file exists, including a broken symbolic link.
    private func exists(_ file: URL) -> Bool {
        status(of: file) != nil
    }

    private func attempt<Value>(_ action: String, _ body: () throws -> Value) throws(MirrorFolderError) -> Value {
        do {
            return try body()
        } catch {
            throw .system("cannot \(action): \(FailureText.reason(error))")
        }
    }
}

/// An error of a mirror's folder.
enum MirrorFolderError: Error, Equatable, CustomStringConvertible {
    /// Another mirror uses the folder.
    case inUse(String)
    /// A file that the mirror did not write has the name of an item's file.
    case inTheWay(String)
    /// A record cannot be read.
    case damagedRecord(String)
    /// A system call failed; the text contains the operation and the reason.
    case system(String)

    var description: String {
        switch self {
        case .inUse(let path): "\(path): another mirror is at work here"
        case .inTheWay(let path):
            "\(path): a file that this mirror did not write, or that was changed since, is in the way; move it away"
        case .damagedRecord(let path): "\(path): the record is damaged; delete it and the file of the same name"
        case .system(let text): text
        }
    }
}
