import SyncBase
import Foundation
import OneWaySynchronizer

/// The local side of a mirror: a folder with a file for each item, and beside it what is known about each.
///
///     FOLDER/<name>              an item's content
///     FOLDER/previews/<name>     its preview
///     FOLDER/.mirror/records/<name>   its key, revision and size, as JSON
///     FOLDER/.mirror/incoming/   what is being downloaded; emptied when a pass begins
///     FOLDER/.mirror/lock        locked during a pass
///
/// Names are those of ``SafeName``. A file appears by being renamed into its place, so it is always whole; its record is
/// written before a file first appears and again after it has, so that a process that dies in between leaves an item
/// that is known to be incomplete, never a file that nobody knows. Files that the mirror did not write are never
/// overwritten or removed.
final class MirrorFolder: Sendable {
    /// What is known about an item.
    struct Record: Codable, Equatable {
        var key: String
        /// The revision of the content; nil when the server gave none, or there is no content yet.
        var revision: String?
        /// The size of the content; nil when there is none yet.
        var byteCount: Int?
    }

    let url: URL
    private let state = Locked<FolderLock?>(nil)

    /// Nothing is touched yet, and the folder need not exist.
    init(url: URL) {
        self.url = url
    }

    private var internals: URL { url.appending(path: ".mirror") }
    private var records: URL { internals.appending(path: "records") }
    private var incoming: URL { internals.appending(path: "incoming") }
    private var previews: URL { url.appending(path: "previews") }

    /// Where an item's content is, or would be.
    func contentFile(for key: MirrorKey) -> URL { url.appending(path: SafeName.of(key)) }

    /// Where an item's preview is, or would be.
    func previewFile(for key: MirrorKey) -> URL { previews.appending(path: SafeName.of(key)) }

    private func recordFile(for key: MirrorKey) -> URL { records.appending(path: SafeName.of(key)) }

    // MARK: A pass

    /// Makes the folder if there is none, locks it, and throws away what a previous process left half done.
    ///
    /// - Throws: ``MirrorFolderError`` when another mirror is at work in it, or when it cannot be written.
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

    /// Lets others in.
    func endPass() {
        state.withLock { $0 = nil }
    }

    // MARK: What is there

    /// The keys of all items that are stored, wholly or in part; none when the folder does not exist.
    ///
    /// - Throws: ``MirrorFolderError`` when a record cannot be read.
    func keys() throws(MirrorFolderError) -> Set<MirrorKey> {
        guard exists(records) else { return [] }
        var keys: Set<MirrorKey> = []
        let names = try attempt("read \(records.path)") {
            try FileManager.default.contentsOfDirectory(atPath: records.path)
        }
        for name in names {
            let record = try read(records.appending(path: name))
            let key = MirrorKey(record.key)
            // A record that was copied to another name would have the wrong files removed.
            guard SafeName.of(key) == name else { throw .damagedRecord(records.appending(path: name).path) }
            keys.insert(key)
        }
        return keys
    }

    /// Whether an item is stored as the list has it: the same revision, and its files all there.
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

    /// Has a file written beside the mirror, and gives it back only when it is whole.
    ///
    /// - Parameter write: Gets the address of a file that does not exist yet, and writes it.
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

    /// Puts a received file in the place of an item's content.
    func storeContent(_ file: URL, byteCount: Int, of item: MirrorItem) throws(MirrorFolderError) {
        let key = item.owsPrimaryKey
        try claim(key, for: contentFile(for: key), file: file)
        try move(file, to: contentFile(for: key))
        if item.previewURL == nil { try remove(previewFile(for: key)) }
        try write(Record(key: key.text, revision: item.revision, byteCount: byteCount))
    }

    /// Puts a received file in the place of an item's preview.
    func storePreview(_ file: URL, of item: MirrorItem) throws(MirrorFolderError) {
        let key = item.owsPrimaryKey
        try attempt("make \(previews.path)") {
            try FileManager.default.createDirectory(at: previews, withIntermediateDirectories: true)
        }
        try claim(key, for: previewFile(for: key), file: file)
        try move(file, to: previewFile(for: key))
    }

    /// Removes an item's files, and its record last. What is gone already is no error.
    func remove(_ key: MirrorKey) throws(MirrorFolderError) {
        try remove(contentFile(for: key))
        try remove(previewFile(for: key))
        try remove(recordFile(for: key))
    }

    /// Makes sure that an item has a record before its first file appears, and that the file is the mirror's own.
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

    /// Renames, which replaces what has that name in one step.
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

    /// Whether there is something of that name, be it a link to nothing.
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

/// What is wrong with a mirror's folder.
enum MirrorFolderError: Error, Equatable, CustomStringConvertible {
    /// Another mirror is at work in this folder.
    case inUse(String)
    /// A file that the mirror did not write has the name that an item needs.
    case inTheWay(String)
    /// A record cannot be read.
    case damagedRecord(String)
    /// The system refused something; the text says what and why.
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
