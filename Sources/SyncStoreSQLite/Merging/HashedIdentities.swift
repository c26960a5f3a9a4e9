import Foundation
import SyncBase

/// A set of hashes of identities. Filters and the latest hashes are in memory, and the others in a
/// temporary file.
///
/// For ten million hashes, the filters take 26 MB, and sorted runs in a temporary file 80 MB.
struct HashedIdentities {
    /// The number of hashes of a run.
    private static let runCount = 1 << 18
    /// The number of hashes of a run that are read together.
    private static let pieceCount = 512

    /// The hashes that are in no run yet.
    private var recent: [UInt64] = []
    private var filters: [HashFilter] = []
    private var file: FileHandle?
    /// For each run, the first hash of each piece.
    private var fences: [[UInt64]] = []

    /// Whether a hash was inserted. A filter answers for nearly all that were not.
    ///
    /// - Throws: Errors of the temporary file.
    func contains(_ hash: UInt64) throws -> Bool {
        guard filters.contains(where: { $0.mayContain(hash) }) else { return false }
        return try recent.contains(hash) || fences.indices.contains { try isInRun($0, hash) }
    }

    /// Inserts a hash that is not contained.
    ///
    /// - Throws: Errors of the temporary file.
    mutating func insert(_ hash: UInt64) throws {
        if filters.last?.isFull ?? true { filters.append(HashFilter()) }
        filters[filters.count - 1].insert(hash)
        recent.append(hash)
        if recent.count == Self.runCount { try writeRun() }
    }

    private mutating func writeRun() throws {
        recent.sort()
        let file = try file ?? Self.makeFile()
        self.file = file
        try file.seekToEnd()
        try recent.withUnsafeBytes { try file.write(contentsOf: Data($0)) }
        fences.append(stride(from: 0, to: recent.count, by: Self.pieceCount).map { recent[$0] })
        recent.removeAll(keepingCapacity: true)
    }

    private func isInRun(_ run: Int, _ hash: UInt64) throws -> Bool {
        let next = fences[run].partitionIndex { $0 > hash }
        guard next > 0, let file else { return false }
        let first = run * Self.runCount + (next - 1) * Self.pieceCount
        try file.seek(toOffset: UInt64(first * 8))
        let piece = try file.read(upToCount: Self.pieceCount * 8) ?? Data()
        return piece.withUnsafeBytes { $0.bindMemory(to: UInt64.self).contains(hash) }
    }

    /// Creates a file that is gone when it is closed.
    private static func makeFile() throws -> FileHandle {
        let url = FileManager.default.temporaryDirectory.appending(path: "OneWaySync-\(UUID().uuidString)")
        try Data().write(to: url, options: .withoutOverwriting)
        defer { try? FileManager.default.removeItem(at: url) }
        return try FileHandle(forUpdating: url)
    }
}

/// A Bloom filter in blocks of the size of a cache line. Source:
/// https://en.wikipedia.org/wiki/Bloom_filter
private struct HashFilter {
    private static let capacity = 1 << 21
    /// 20 bits for each hash.
    private static let blockCount = capacity * 20 / 512

    private var words = [UInt64](repeating: 0, count: blockCount * 8)
    private var count = 0

    var isFull: Bool { count >= Self.capacity }

    mutating func insert(_ hash: UInt64) {
        count += 1
        Self.forEachBit(of: hash) { word, bit in words[word] |= bit }
    }

    /// Whether a hash may have been inserted. False for more than 999 of 1,000 that were not.
    func mayContain(_ hash: UInt64) -> Bool {
        var isContained = true
        Self.forEachBit(of: hash) { word, bit in isContained = isContained && words[word] & bit != 0 }
        return isContained
    }

    /// Visits the six bits of a hash.
    @inline(__always)
    private static func forEachBit(of hash: UInt64, _ visit: (_ word: Int, _ bit: UInt64) -> Void) {
        let block = Int(hash.multipliedFullWidth(by: UInt64(blockCount)).high)
        var rest = hash &* 0x9E37_79B9_7F4A_7C15 >> 10
        for _ in 0..<6 {
            visit(block * 8 + Int(rest & 7), 1 << (rest >> 3 & 63))
            rest >>= 9
        }
    }
}
