import OneWaySynchronizer

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// What the mirror has written into its folder, as a file of lines to which each change appends.
///
/// After the death of a process, the index describes the folder: a stamp is appended before its
/// file is moved into place. After the death of the system, either may have been lost. So the keys
/// whose files will change are on the disk before the first one changes (``plan(_:)``), and a mark
/// after the last one is (``markSynced()``). Without the mark, a later system doubts the files of
/// these keys, and downloads them again.
struct FolderIndex: Sendable {
    static let name = "index"
    private static let newName = "index.new"
    private static let head = Array("OneWaySynchronizer folder index 1\n".utf8)

    /// The entries by key.
    private(set) var entries: [SyncKey: IndexEntry] = [:]
    /// The size of the file without an incomplete last line.
    private var byteCount = 0
    private var lineCount = 0
    /// The keys since the last mark, and the system that they were planned on.
    private var planned: Set<SyncKey> = []
    private var boot: String?
    /// Whether anything was appended after the last mark.
    private(set) var hasChanges = false
    /// Whether lines were damaged.
    private(set) var damagedLineCount = 0

    // MARK: Reading

    /// Reads the index of a folder's internals; an empty one if there is none.
    ///
    /// - Throws: ``FolderError/damagedIndex(path:)`` if it is not an index.
    init(in internals: Directory) throws(FolderError) {
        guard try internals.knownStatus(Self.name) != nil else { return }
        let file = try internals.file(Self.name)
        defer { close(file) }
        let bytes = try Self.bytes(of: file, in: internals)
        guard bytes.starts(with: Self.head) else {
            // The first write may have been interrupted.
            if Self.head.starts(with: bytes) { return }
            throw .damagedIndex(path: internals.path(of: Self.name))
        }
        byteCount = Self.head.count
        while let end = bytes[byteCount...].firstIndex(of: IndexLine.lineEnd) {
            if let line = IndexLine(bytes[byteCount..<end]) { apply(line) } else { damagedLineCount += 1 }
            byteCount = end + 1
            lineCount += 1
        }
        hasChanges = !planned.isEmpty
        if hasChanges, boot != SystemBoot.identifier {
            for key in planned { entries[key, default: IndexEntry()].isDoubtful = true }
            planned = []
        }
    }

    private static func bytes(of file: Int32, in internals: Directory) throws(FolderError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Directory.status(of: file)?.stamp.byteCount ?? 0)
        var offset = 0
        while offset < bytes.count {
            let wanted = bytes.count - offset
            let count = bytes.withUnsafeMutableBytes { buffer in
                pread(file, buffer.baseAddress.map { $0 + offset }, wanted, off_t(offset))
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw internals.failure("read", name) }
            if count == 0 { break }
            offset += count
        }
        bytes.removeLast(bytes.count - offset)
        return bytes
    }

    private mutating func apply(_ line: IndexLine) {
        switch line {
        case .boot(let text): boot = text
        case .planned(let key): planned.insert(key)
        case .doubtful(let key): entries[key, default: IndexEntry()].isDoubtful = true
        case .content(let key, let stamp, let version):
            entries[key, default: IndexEntry()].addContent(stamp, version)
        case .preview(let key, let stamp?): entries[key, default: IndexEntry()].addPreview(stamp)
        case .preview(let key, nil): change(key) { $0.preview = [] }
        case .part(let key, let part): change(key) { $0.part = part }
        case .removed(let key): entries[key] = nil
        case .synced: planned = []
        }
    }

    private mutating func change(_ key: SyncKey, _ body: (inout IndexEntry) -> Void) {
        body(&entries[key, default: IndexEntry()])
        if entries[key]?.isEmpty == true { entries[key] = nil }
    }

    // MARK: Writing

    /// Makes the file ready for changes: without another name, an incomplete line, doubts or many
    /// outdated lines.
    ///
    /// Outdated and damaged lines stay where the file cannot be replaced, as on a full disk: the
    /// pass may remove files.
    ///
    /// - Returns: The open file.
    mutating func open(in internals: Directory) throws(FolderError) -> Int32 {
        let isOutdated = lineCount > 1_000 + 3 * entries.count
        let isDoubted = entries.values.contains { $0.isDoubtful }
        let isLinked = try internals.knownStatus(Self.name)?.isLinked == true
        if byteCount == 0 || isDoubted || isLinked {
            // Lines that follow would end the doubts, or change the index of another folder.
            try rewrite(in: internals)
        } else if isOutdated || damagedLineCount > 0 {
            try rewriteIfPossible(in: internals)
        }
        let file = try internals.file(Self.name, O_WRONLY | O_APPEND)
        guard ftruncate(file, off_t(byteCount)) == 0 else {
            close(file)
            throw internals.failure("write", Self.name)
        }
        return file
    }

    /// Replaces the file, unless the system refuses it.
    private mutating func rewriteIfPossible(in internals: Directory) throws(FolderError) {
        do throws(FolderError) {
            try rewrite(in: internals)
        } catch {
            guard case .system = error else { throw error }
        }
    }

    /// Replaces the file by one that has only the current state.
    private mutating func rewrite(in internals: Directory) throws(FolderError) {
        var bytes = Self.head
        var lineCount = planned.count
        if let boot, !planned.isEmpty { bytes += IndexLine.boot(boot).bytes }
        for key in planned { bytes += IndexLine.planned(key).bytes }
        for (key, entry) in entries {
            var lines: [IndexLine] = entry.content.map { .content(key, $0, entry.version) }
            lines += entry.preview.map { .preview(key, $0) }
            if let part = entry.part { lines.append(.part(key, part)) }
            // Last, because a content is not doubted.
            if entry.isDoubtful { lines.append(.doubtful(key)) }
            lineCount += lines.count
            for line in lines { bytes += line.bytes }
        }
        // What a killed process has left can be the index of another folder, if that is a copy that
        // consists of hard links.
        try internals.remove(Self.newName)
        let file = try internals.file(Self.newName, O_WRONLY | O_CREAT | O_EXCL)
        defer { close(file) }
        guard file.writeAll(bytes), fsync(file) == 0 else {
            let failure = internals.failure("write", Self.newName)
            // It takes space that the pass needs.
            try? internals.remove(Self.newName)
            throw failure
        }
        try internals.move(Self.newName, to: internals, Self.name)
        byteCount = bytes.count
        self.lineCount = lineCount
        damagedLineCount = 0
    }

    /// Appends lines and applies them.
    mutating func append(_ lines: [IndexLine], to file: Int32) throws(FolderError) {
        let bytes = lines.flatMap(\.bytes)
        guard file.writeAll(bytes) else {
            let reason = Directory.reason()
            // A part of a line would make the next one unreadable.
            ftruncate(file, off_t(byteCount))
            throw .system("cannot write the index: \(reason)")
        }
        byteCount += bytes.count
        lineCount += lines.count
        hasChanges = true
        for line in lines { apply(line) }
    }

    /// Puts on the disk which keys' files will change.
    mutating func plan(_ keys: [SyncKey], in file: Int32) throws(FolderError) {
        try append([.boot(SystemBoot.identifier)] + keys.map { .planned($0) }, to: file)
        guard fsync(file) == 0 else { throw .system("cannot write the index: \(Directory.reason())") }
    }

    /// Marks that all changes are on the disk.
    mutating func markSynced(in file: Int32) throws(FolderError) {
        try append([.synced], to: file)
        guard fsync(file) == 0 else { throw .system("cannot write the index: \(Directory.reason())") }
        hasChanges = false
    }

    /// Forgets the older stamps of a content or preview whose file is in its place.
    mutating func settle(_ stamps: WritableKeyPath<IndexEntry, [FileStamp]>, of key: SyncKey) {
        guard let latest = entries[key]?[keyPath: stamps].last else { return }
        entries[key]?[keyPath: stamps] = [latest]
    }
}
