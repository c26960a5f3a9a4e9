import COneWayFiles
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

/// A file that receives a download, until it is moved into place.
final class PartFile: DownloadSink {
    /// The size from which a part is worth keeping: 1 MiB.
    private static let keptByteCount = 1 << 20
    /// The number of bytes after which the system begins to write them to the disk: 8 MiB. Without
    /// it the disk has nothing to do until the end of the pass, which then waits for all bytes.
    private static let writeBackByteCount = 8 << 20

    private struct State {
        var byteCount: Int
        /// The number of bytes that the system has written to the disk, or is writing.
        var writtenBackByteCount: Int
        /// The digest of the bytes so far; nil if it is not needed.
        var hash: SHA256?
        /// The tag under which the index knows the part; nil if it does not.
        var keptTag: BodyTag?
    }

    /// The number that is the file's name.
    let number: Int
    /// The progress of the download that the part is from.
    let resumption: Resumption
    let descriptor: Int32
    private let state: Locked<State>
    private let keep: @Sendable (_ tag: BodyTag?, _ byteCount: Int?) throws -> Void

    /// Creates a part from an open file, which it closes in the end.
    ///
    /// - Parameters:
    ///   - resumption: What the file has.
    ///   - isHashed: Whether the digest of the content is needed.
    ///   - keep: Records in the index that the part can be continued under a tag or, with nil,
    ///     that it cannot. Called once for each change.
    init(
        _ number: Int, _ descriptor: Int32, _ resumption: Resumption, isHashed: Bool,
        keep: @escaping @Sendable (_ tag: BodyTag?, _ byteCount: Int?) throws -> Void
    ) throws(FolderError) {
        self.number = number
        self.descriptor = descriptor
        self.resumption = resumption
        self.keep = keep
        var hash: SHA256? = isHashed ? SHA256() : nil
        if hash != nil {
            var offset = 0
            var bytes = [UInt8](repeating: 0, count: 1 << 20)
            while offset < resumption.byteCount {
                let count = pread(descriptor, &bytes, min(bytes.count, resumption.byteCount - offset), off_t(offset))
                guard count > 0 else {
                    close(descriptor)
                    throw .system("cannot read part \(number): \(Directory.reason())")
                }
                hash?.update(bytes[..<count])
                offset += count
            }
        }
        state = Locked(
            State(
                byteCount: resumption.byteCount, writtenBackByteCount: resumption.byteCount, hash: hash,
                keptTag: resumption.tag))
    }

    deinit {
        close(descriptor)
    }

    /// Whether the index knows the part.
    var isKept: Bool { state.withLock { $0.keptTag != nil } }

    /// The digest of the content as lowercase hexadecimal digits; nil if it was not computed.
    var digest: String? { state.withLock { $0.hash.map { Hexadecimal.text(of: $0.digest()) } } }

    func begin(_ resumption: Resumption) throws {
        let isReplaced = state.withLock { state in
            state.keptTag != nil && (resumption.byteCount == 0 || resumption.tag != state.keptTag)
        }
        // The index must never know bytes of another version under this tag. If the process ends
        // before the file is truncated, the part is a leftover.
        if isReplaced { try keep(nil, nil) }
        try state.withLock { state in
            if isReplaced { state.keptTag = nil }
            if resumption.byteCount == 0, state.hash != nil { state.hash = SHA256() }
            let end = off_t(resumption.byteCount)
            // Some file systems write a file that was truncated to the disk as soon as it is
            // closed.
            let isLonger = state.byteCount > resumption.byteCount
            state.byteCount = resumption.byteCount
            state.writtenBackByteCount = resumption.byteCount
            if isLonger { guard ftruncate(descriptor, end) == 0 else { throw failure } }
            guard lseek(descriptor, end, SEEK_SET) == end else { throw failure }
        }
    }

    func write(_ piece: [UInt8], _ resumption: Resumption) throws {
        let tag: BodyTag? = try state.withLock { state in
            guard descriptor.writeAll(piece) else { throw failure }
            state.hash?.update(piece)
            state.byteCount += piece.count
            let dirtyByteCount = state.byteCount - state.writtenBackByteCount
            if dirtyByteCount >= Self.writeBackByteCount {
                owf_begin_write_back(descriptor, Int64(state.writtenBackByteCount), Int64(dirtyByteCount))
                state.writtenBackByteCount = state.byteCount
            }
            guard state.byteCount >= Self.keptByteCount, let tag = resumption.tag, tag != state.keptTag else {
                return nil
            }
            state.keptTag = tag
            return tag
        }
        if let tag { try keep(tag, resumption.total) }
    }

    private var failure: FolderError { .system("cannot write part \(number): \(Directory.reason())") }

    /// Whether the part has the same bytes as another open file.
    func hasContent(of other: Int32) -> Bool {
        var offset = 0
        var mine = [UInt8](repeating: 0, count: 1 << 16)
        var theirs = mine
        while true {
            let count = pread(descriptor, &mine, mine.count, off_t(offset))
            guard count >= 0, pread(other, &theirs, theirs.count, off_t(offset)) == count else { return false }
            if count == 0 { return true }
            guard mine[..<count] == theirs[..<count] else { return false }
            offset += count
        }
    }
}
