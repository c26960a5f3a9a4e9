import COneWayFiles
import Foundation
import HTTPTransfer
import OneWaySynchronizer
import SyncBase

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A folder with its index, opened for a pass or for reading.
///
///     FOLDER/a/b                 the content of the item a/b
///     FOLDER/.mirror/previews/…  the previews, under the same names
///     FOLDER/.mirror/index       what the mirror has written
///     FOLDER/.mirror/parts/…     files that are being downloaded
///     FOLDER/.mirror/lock        locked during a pass
final class OpenFolder: Sendable {
    private static let lockName = "lock"
    private static let partsName = "parts"
    static let previewsName = "previews"

    /// What only a pass has. Its files are open until the pass is released.
    private struct Writing: Sendable {
        let internals: Directory
        let parts: Directory
        let lock: any SyncLeaseGrant
        let index: Int32
    }

    private struct State {
        var index: FolderIndex
        var lastNumber = 0
        /// What a person should know.
        var notes: [String] = []
    }

    let root: Directory
    private let writing: Writing?
    private let state: Locked<State>
    /// Whether the file system considers names equal that differ in case.
    let ignoresCase: Bool

    // MARK: Opening

    /// Opens a folder for reading; nil if it does not exist.
    static func reading(_ folder: URL) throws(FolderError) -> OpenFolder? {
        guard let root = try Directory.open(folder.path(percentEncoded: false)) else { return nil }
        guard let internals = try root.directory(FilePath.internals, isMade: false) else { return nil }
        return OpenFolder(root, nil, try FolderIndex(in: internals), ignoresCase: hasOneCase(internals))
    }

    /// Makes a folder if needed, locks it, and removes what killed processes left.
    ///
    /// - Throws: ``FolderError/inUse(path:holder:)`` if another pass has it.
    static func writing(_ folder: URL) throws(FolderError) -> OpenFolder {
        let path = folder.path(percentEncoded: false)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw .system("cannot make the folder \(path): \(reason(of: error))")
        }
        guard let root = try Directory.open(path), let internals = try root.directory(FilePath.internals, isMade: true),
            let parts = try internals.directory(partsName, isMade: true)
        else { throw .system("cannot make the folder \(path): it was removed at once") }
        let lock = try lock(of: internals, path)
        var index = try FolderIndex(in: internals)
        let damagedLineCount = index.damagedLineCount
        let file = try index.open(in: internals)
        let writing = Writing(internals: internals, parts: parts, lock: lock, index: file)
        let opened = OpenFolder(root, writing, index, ignoresCase: hasOneCase(internals))
        if damagedLineCount > 0 {
            opened.note("\(internals.path(of: FolderIndex.name)): \(damagedLineCount) damaged lines were left out")
        }
        try opened.removeLeftovers()
        return opened
    }

    private init(_ root: Directory, _ writing: Writing?, _ index: FolderIndex, ignoresCase: Bool) {
        self.root = root
        self.writing = writing
        state = Locked(State(index: index))
        self.ignoresCase = ignoresCase
    }

    deinit {
        if let writing { close(writing.index) }
    }

    private static func lock(of internals: Directory, _ path: String) throws(FolderError) -> any SyncLeaseGrant {
        let answer: SyncLeaseAnswer
        do throws(FileLease.Failure) {
            answer = try FileLock.take(lockName, in: internals.descriptor, for: SyncLeaseHolder())
        } catch {
            if internals.status(lockName)?.isFile == true { throw .system("cannot lock \(path): \(error.reason)") }
            throw internals.inTheWay(lockName)
        }
        switch answer {
        case .granted(let grant): return grant
        case .held(let holder): throw .inUse(path: path, holder: holder)
        case .unavailable(let error): throw .system("cannot lock \(path): \(error)")
        }
    }

    /// Whether the file system finds the lock by another spelling, too.
    private static func hasOneCase(_ internals: Directory) -> Bool {
        guard let lock = internals.status(lockName) else { return false }
        return internals.status(lockName.uppercased())?.identity == lock.identity
    }

    /// Why the system refused something, without the words that Foundation puts around it.
    private static func reason(of error: any Error) -> String {
        let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error
        let code = (underlying as NSError?)?.code
        return code.map { String(cString: strerror(Int32($0))) } ?? error.localizedDescription
    }

    /// Removes files of downloads that no pass continues.
    private func removeLeftovers() throws(FolderError) {
        guard let writing else { return }
        let kept = state.withLock { state in Set(state.index.entries.values.compactMap { $0.part?.number }) }
        for name in try writing.parts.names() {
            // Whatever is not named as a part is somebody else's.
            guard let number = Int(name), number > 0, String(number) == name else { continue }
            if !kept.contains(number) { try writing.parts.remove(name) }
        }
        // A number that the index knows is not given again, even if its file is gone.
        state.withLock { $0.lastNumber = kept.max() ?? 0 }
    }

    // MARK: Reading

    /// Returns the keys of all complete and incomplete items.
    func keys() -> Set<SyncKey> {
        state.withLock { state in
            var keys: Set<SyncKey> = []
            keys.reserveCapacity(state.index.entries.count)
            for (key, entry) in state.index.entries where entry.isStored { keys.insert(key) }
            return keys
        }
    }

    /// What is stored of a key; nil if there is nothing, if its file is not what was stored, or if
    /// the listed size or checksum is another one.
    func intactContent(of item: FolderItem) -> IndexEntry? {
        guard let entry = entry(of: item.key), !entry.isDoubtful, let stamp = entry.content.last,
            status(of: FilePath(of: item.key), in: root)?.stamp == stamp,
            stamp.byteCount == item.byteCount ?? stamp.byteCount, entry.version.agrees(with: item)
        else { return nil }
        return entry
    }

    /// Whether the preview is what was stored, or missing if the list has none.
    func hasIntactPreview(of item: FolderItem) -> Bool {
        let preview = entry(of: item.key)?.preview.last
        guard let preview, item.previewURL != nil else { return preview == nil && item.previewURL == nil }
        guard let previews = try? previews(isMade: false) else { return false }
        return status(of: FilePath(of: item.key), in: previews)?.stamp == preview
    }

    func entry(of key: SyncKey) -> IndexEntry? {
        state.withLock { $0.index.entries[key] }
    }

    /// The status of a regular file; nil if there is none.
    private func status(of path: FilePath, in base: Directory) -> FileStatus? {
        guard let folder = try? base.directory(at: path.folders, isMade: false),
            let status = folder.status(path.name), status.isFile
        else { return nil }
        return status
    }

    private func previews(isMade: Bool) throws(FolderError) -> Directory? {
        guard let internals = try root.directory(FilePath.internals, isMade: isMade) else { return nil }
        return try internals.directory(Self.previewsName, isMade: isMade)
    }

    // MARK: Notes

    /// Returns and forgets what a person should know: files that were left alone.
    func takeNotes() -> [String] {
        state.withLock { state in
            defer { state.notes = [] }
            return state.notes
        }
    }

    func note(_ text: String) {
        state.withLock { if !$0.notes.contains(text) { $0.notes.append(text) } }
    }

    // MARK: The pass

    private func write(_ body: (inout FolderIndex, Int32) throws(FolderError) -> Void) throws(FolderError) {
        guard let writing else { return }
        let result: Result<Void, FolderError> = state.withLock { state in
            Result { () throws(FolderError) in try body(&state.index, writing.index) }
        }
        try result.get()
    }

    func append(_ line: IndexLine) throws(FolderError) {
        try write { index, file throws(FolderError) in try index.append([line], to: file) }
    }

    /// Prepares the change of items' files.
    ///
    /// - Parameters:
    ///   - items: The items that will be downloaded.
    ///   - listed: The keys of the complete list; nil if it may be incomplete.
    func plan(_ items: [FolderItem], listed: Set<SyncKey>?) throws(FolderError) {
        let keys = Set(items.map(\.key))
        let stored = state.withLock { $0.index.entries }
        for (key, entry) in stored where entry.part != nil && !keys.contains(key) { try dropPart(of: key) }
        if let listed { try removeObstacles(of: items, among: stored, listed) }
        // Files of others must not be taken for the mirror's, if the system fails.
        let planned = keys.filter { key in
            let path = FilePath(of: key)
            let folder = try? root.directory(at: path.folders, isMade: false)
            // A folder is not taken for a file, and can make room for one.
            guard let status = folder?.status(path.name), !status.isFolder else { return true }
            return entry(of: key)?.owns(status, as: \.content) ?? false
        }
        if planned.isEmpty { return }
        try write { index, file throws(FolderError) in try index.plan(Array(planned), in: file) }
    }

    /// Removes stored items that are no longer listed if their files are where folders of new items
    /// have to be, or the reverse. Where removals come after downloads, they would be too late.
    private func removeObstacles(
        of items: [FolderItem], among stored: [SyncKey: IndexEntry], _ listed: Set<SyncKey>
    ) throws(FolderError) {
        let absent = stored.keys.filter { !listed.contains($0) }
        if absent.isEmpty { return }
        var places = PlaceTree(ignoresCase: ignoresCase)
        for item in items { try places.add(item.key) }
        for key in absent where places.isObstructed(by: key) { try remove(key) }
    }

    /// Has the system write all changes to the disk, and marks that it has.
    func sync() throws(FolderError) {
        guard writing != nil, state.withLock(\.index.hasChanges) else { return }
        guard owf_sync_file_system(root.descriptor) == 0 else {
            throw .system("cannot write \(root.path): \(Directory.reason())")
        }
        try write { index, file throws(FolderError) in try index.markSynced(in: file) }
    }

    /// Releases the lock.
    func release() async {
        await writing?.lock.release()
    }

    // MARK: Parts

    /// Opens the part of an item's content, with what an earlier download has left.
    func contentPart(of item: FolderItem) throws(FolderError) -> PartFile {
        if let known = entry(of: item.key)?.part {
            if known.isBeginning(of: item), let part = try openPart(known, of: item) { return part }
            try dropPart(of: item.key)
        }
        return try newContentPart(of: item)
    }

    /// Opens a new part of an item's content. As soon as it can be continued, it replaces the one
    /// that the index knows.
    func newContentPart(of item: FolderItem) throws(FolderError) -> PartFile {
        try newPart(isHashed: item.sha256 != nil) { [self] number, tag, byteCount in
            try keepPart(of: item, number, tag, byteCount)
        }
    }

    /// Opens a new part of a preview.
    func previewPart() throws(FolderError) -> PartFile {
        try newPart(isHashed: false) { _, _, _ in }
    }

    private func openPart(_ part: DownloadPart, of item: FolderItem) throws(FolderError) -> PartFile? {
        // A part with another name can be a file of another folder, too.
        guard let writing, let status = writing.parts.status(String(part.number)), status.isFile, !status.isLinked,
            status.stamp.byteCount > 0, status.stamp.byteCount <= part.byteCount ?? .max
        else { return nil }
        let file = try writing.parts.file(String(part.number), O_RDWR)
        return try PartFile(
            part.number, file,
            Resumption(
                byteCount: status.stamp.byteCount, total: part.byteCount,
                tag: BodyTag(text: part.tag, address: part.address)),
            isHashed: item.sha256 != nil
        ) { [self] tag, byteCount in try keepPart(of: item, part.number, tag, byteCount) }
    }

    private func newPart(
        isHashed: Bool, keep: @escaping @Sendable (_ number: Int, _ tag: BodyTag?, _ byteCount: Int?) throws -> Void
    ) throws(FolderError) -> PartFile {
        guard let writing else { throw .system("no pass has begun") }
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let file = try writing.parts.file(String(number), O_RDWR | O_CREAT | O_EXCL)
        return try PartFile(number, file, Resumption(), isHashed: isHashed) { tag, byteCount in
            try keep(number, tag, byteCount)
        }
    }

    private func keepPart(of item: FolderItem, _ number: Int, _ tag: BodyTag?, _ byteCount: Int?) throws(FolderError) {
        let part = tag.map { tag in
            DownloadPart(
                number: number, address: tag.address, tag: tag.text, byteCount: byteCount, revision: item.revision,
                sha256: item.sha256?.lowercased())
        }
        let replaced = entry(of: item.key)?.part
        try append(.part(item.key, part))
        if let replaced, replaced.number != number { try writing?.parts.remove(String(replaced.number)) }
    }

    /// Removes a part whose download failed, unless it can be continued.
    func abandon(_ part: PartFile) {
        if !part.isKept { try? writing?.parts.remove(String(part.number)) }
    }

    /// Removes the part of a key.
    func dropPart(of key: SyncKey) throws(FolderError) {
        guard let part = entry(of: key)?.part else { return }
        try append(.part(key, nil))
        try writing?.parts.remove(String(part.number))
    }

    // MARK: Files

    /// Moves a downloaded part into place as the content of an item.
    func storeContent(_ part: PartFile, of item: FolderItem, _ version: ContentVersion) throws(FolderError) {
        try put(part, of: item.key, as: \.content, in: root) { stamp throws(FolderError) in
            try append(.content(item.key, stamp, version))
        }
        try write { index, _ throws(FolderError) in index.settle(\.content, of: item.key) }
        try dropPart(of: item.key)
    }

    /// Records that an index shows the stored content of a key in this way, if the sizes agree.
    ///
    /// - Parameter checked: The entry of the stored content. If it is no longer that of the key,
    ///   nothing is recorded.
    func note(_ listed: ListedFile, of key: SyncKey, _ checked: IndexEntry) throws(FolderError) {
        guard let stamp = checked.content.last, stamp.byteCount == listed.byteCount else { return }
        var version = checked.version
        version.listed = listed.mark
        try write { index, file throws(FolderError) in
            guard index.entries[key] == checked else { return }
            try index.append([.content(key, stamp, version)], to: file)
            index.settle(\.content, of: key)
        }
    }

    /// Moves a downloaded part into place as the preview of an item.
    func storePreview(_ part: PartFile, of item: FolderItem) throws(FolderError) {
        guard let previews = try previews(isMade: true) else { return }
        try put(part, of: item.key, as: \.preview, in: previews) { stamp throws(FolderError) in
            try append(.preview(item.key, stamp))
        }
        try write { index, _ throws(FolderError) in index.settle(\.preview, of: item.key) }
    }

    /// Moves a part into its place, after the index has its stamp.
    ///
    /// A file that the mirror did not write stays. If it has the same content, it becomes the
    /// mirror's. A folder without files, such as one that was made for a file that could not be
    /// stored, is removed.
    private func put(
        _ part: PartFile, of key: SyncKey, as stamps: KeyPath<IndexEntry, [FileStamp]>, in base: Directory,
        claim: (FileStamp) throws(FolderError) -> Void
    ) throws(FolderError) {
        let path = FilePath(of: key)
        guard let writing, let folder = try base.directory(at: path.folders, isMade: true),
            let received = Directory.status(of: part.descriptor)
        else { throw .system("no pass has begun") }
        let name = String(part.number)
        var before = folder.status(path.name)
        if before?.isFolder == true, folder.removeEmptyDirectories(path.name) { before = nil }
        if let before, entry(of: key)?.owns(before, as: stamps) != true {
            guard before.isFile, before.stamp.byteCount == received.stamp.byteCount,
                let other = try? folder.file(path.name)
            else { throw folder.inTheWay(path.name) }
            defer { close(other) }
            guard part.hasContent(of: other), Directory.status(of: other)?.stamp == before.stamp else {
                throw folder.inTheWay(path.name)
            }
            try claim(before.stamp)
            return try writing.parts.remove(name)
        }
        try claim(received.stamp)
        if before == nil {
            try writing.parts.move(name, toFree: folder, path.name)
        } else {
            try writing.parts.move(name, to: folder, path.name)
        }
    }
}
