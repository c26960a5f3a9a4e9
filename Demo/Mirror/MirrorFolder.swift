import SyncBase
import Foundation
import OneWaySynchronizer

/// The local side of a mirror: a folder with one file per item, and a record of each.
///
///     FOLDER/<name>              the content of an item
///     FOLDER/previews/<name>     its preview
///     FOLDER/.mirror/records/<name>   its key, revision and size, as JSON
///     FOLDER/.mirror/incoming/   files being downloaded; emptied when a pass begins
///     FOLDER/.mirror/lock        locked during a pass
///
/// Names come from ``SafeName``. A file is renamed into place, so it is always complete. Its record
/// is written before the file first appears, and again afterwards. If the process ends in between,
/// the item is known to be incomplete, and no file is left without a record. Files that the mirror
/// did not write are never overwritten or removed.
final class MirrorFolder: Sendable {
    /// The stored state of an item.
    struct Record: Codable, Equatable {
        var key: String
        /// The revision of the content; nil if the server gave none, or there is no content yet.
        var revision: String?
        /// The size of the content in bytes; nil if there is no content yet.
        var byteCount: Int?
    }

    let url: URL
    private let state = Locked<FolderLock?>(nil)

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
        try attempt("make \(url.path)") {
            try FileManager.default.createDirectory(at: records, withIntermediateDirectories: true)
        }
        let lock = try FolderLock(file: internals.appending(path: "lock"))
        state.withLock { $0 = lock }
        try attempt("empty \(incoming.path)") {
            if exists(incoming) { try FileManager.default.removeItem(at: incoming) }
            try FileManager.default.createDirectory(at: incoming, withIntermediateDirectories: true)
        }
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
            let record = try read(records.appending(path: name))
            let key = MirrorKey(record.key)
            // A record copied to another name would cause the removal of the wrong files.
            guard SafeName.of(key) == name else { throw .damagedRecord(records.appending(path: name).path) }
            keys.insert(key)
        }
        return keys
    }

    /// Returns whether an item is stored with the listed revision and all of its files.
    func isCurrent(_ item: MirrorItem) throws(MirrorFolderError) -> Bool {
        let key = item.owsPrimaryKey
        guard let revision = item.revision, exists(recordFile(for: key)) else { return false }
        let record = try read(recordFile(for: key))
        guard record.revision == revision, let byteCount = record.byteCount else { return false }
        let attributes = try? FileManager.default.attributesOfItem(atPath: contentFile(for: key).path)
        guard (attributes?[.size] as? NSNumber)?.intValue == byteCount else { return false }
        return item.previewURL == nil || exists(previewFile(for: key))
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
            return file
        } catch {
            try? FileManager.default.removeItem(at: file)
            throw error
        }
    }

    /// Moves a received file into place as the content of an item.
    func storeContent(_ file: URL, byteCount: Int, of item: MirrorItem) throws(MirrorFolderError) {
        let key = item.owsPrimaryKey
        try claim(key, for: contentFile(for: key), file: file)
        try move(file, to: contentFile(for: key))
        if item.previewURL == nil { try remove(previewFile(for: key)) }
        try write(Record(key: key.text, revision: item.revision, byteCount: byteCount))
    }

    /// Moves a received file into place as the preview of an item.
    func storePreview(_ file: URL, of item: MirrorItem) throws(MirrorFolderError) {
        let key = item.owsPrimaryKey
        try attempt("make \(previews.path)") {
            try FileManager.default.createDirectory(at: previews, withIntermediateDirectories: true)
        }
        try claim(key, for: previewFile(for: key), file: file)
        try move(file, to: previewFile(for: key))
    }

    /// Removes an item's files, then its record; missing files are not an error.
    func remove(_ key: MirrorKey) throws(MirrorFolderError) {
        try remove(contentFile(for: key))
        try remove(previewFile(for: key))
        try remove(recordFile(for: key))
    }

    /// Writes a record before an item's first file appears, and checks that no other file is in its
    /// place.
    private func claim(_ key: MirrorKey, for target: URL, file: URL) throws(MirrorFolderError) {
        guard !exists(recordFile(for: key)) else { return }
        guard !exists(target) else {
            try remove(file)
            throw .inTheWay(target.path)
        }
        try write(Record(key: key.text, revision: nil, byteCount: nil))
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

    private func remove(_ file: URL) throws(MirrorFolderError) {
        guard exists(file) else { return }
        try attempt("remove \(file.path)") { try FileManager.default.removeItem(at: file) }
    }

    /// Returns whether a file exists, including a broken symbolic link.
    private func exists(_ file: URL) -> Bool {
        (try? FileManager.default.attributesOfItem(atPath: file.path)) != nil
    }

    private func attempt<Value>(_ action: String, _ body: () throws -> Value) throws(MirrorFolderError) -> Value {
        do {
            return try body()
        } catch {
            throw .system("cannot \(action): \(error.localizedDescription)")
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
        case .inTheWay(let path): "\(path): a file that this mirror did not write is in the way"
        case .damagedRecord(let path): "\(path): the record is damaged; delete it and the file of the same name"
        case .system(let text): text
        }
    }
}
