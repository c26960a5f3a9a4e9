#if os(Linux)
import Foundation
import OneWayFolderTestSupport
import OneWayLoopbackServer
import OneWaySynchronizer
import OneWayTestLimits
import SyncBase
import Testing

@testable import SyncFolder

/// Compressed files whose compression a server states as an encoding, as Apache does with
/// `AddEncoding x-gzip .gz .tgz`.
@Suite(.endsInTime) struct CompressedFileTests {
    private static let plain = Array("content".utf8)
    private static let compressed = LoopbackGzip.wrapped(plain)

    /// Returns the bytes of the file that a server sends with an encoding.
    private func stored(_ key: String, _ body: [UInt8], encoding: String, isListed: Bool) async throws -> [UInt8] {
        let stored = Locked<[UInt8]>([])
        try await FolderWorld.with { world in
            let digest = Hexadecimal.text(of: SHA256.digest(of: body))
            let sizes = isListed ? #", "size": \#(body.count), "sha256": "\#(digest)""# : ""
            world.reply { request in
                if request.path == "/list.json" { return .json(#"[{"key": "\#(key)", "url": "/1"\#(sizes)}]"#) }
                return .bytes(body, headers: [("Content-Encoding", encoding), ("ETag", "\"1\"")])
            }
            try await world.synchronizer.sync()
            let file = try Data(contentsOf: world.mirror.file(for: SyncKey(key)))
            stored.withLock { $0 = Array(file) }
            #expect(try await world.synchronizer.sync().unchanged == 1)
        }
        return stored.withLock(\.self)
    }

    @Test(arguments: [("a.tar.gz", "gzip"), ("d/A.TGZ", "x-gzip"), ("a.b.gz", "GZIP")], [false, true])
    func aFileWithTheNameOfItsCompressionIsStoredAsServed(_ file: (String, String), isListed: Bool) async throws {
        let bytes = try await stored(file.0, Self.compressed, encoding: file.1, isListed: isListed)
        #expect(bytes == Self.compressed)
    }

    @Test(arguments: [("a.bz2", "x-bzip2"), ("a.tar.xz", "xz"), ("a.zst", "zstd"), ("a.br", "br"), ("a.Z", "compress")])
    func aCompressionThatCannotBeReadIsStoredAsServed(key: String, encoding: String) async throws {
        #expect(try await stored(key, [1, 2, 3], encoding: encoding, isListed: true) == [1, 2, 3])
    }

    @Test(arguments: ["a.txt", "gz", "a.bz2", "a.gz.txt", "a.gz/b"])
    func anotherFileIsDecompressed(key: String) async throws {
        #expect(try await stored(key, Self.compressed, encoding: "gzip", isListed: false) == Self.plain)
    }
}
#endif
