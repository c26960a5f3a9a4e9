import Foundation
import JSONMapper
import OneWayTestLimits
import OneWayTestSupport
import Testing

@testable import Demo

@Suite(.endsInTime) struct InputFileTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    @Test func theChunksAreTheFile() async throws {
        let bytes = (0..<600_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let url = folder.url.appending(path: "file")
        try Data(bytes).write(to: url)
        let file = InputFile.file(url.path)
        let counts = EventLog<Int>()
        var read: [UInt8] = []
        for try await chunk in file.chunks(willRead: { counts.append($0) }) { read += chunk }
        #expect(read == bytes)
        #expect(try file.bytes() == bytes && file.byteCount == bytes.count)
        #expect(counts.events == [0, 262_144, 524_288, 600_000])
    }

    @Test func aCancelledFileIsNotTakenForAShortOne() async throws {
        let file = InputFile.file(try folder.write("[1, 2]", to: "file"))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            for try await _ in file.chunks(willRead: { _ in }) {}
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    /// Newline-delimited JSON, cut into chunks of any size, is the array of its objects.
    @Test(
        arguments: [1, 2, 7, 1_000],
        [
            ("{\"a\":1}\n\n{\"a\":\n2}\r\n{}", #"[{"a":1},{"a":2},{}]"#), ("\u{FEFF} {\"a\":[1]} ", #"[{"a":[1]}]"#),
            ("[{\"a\":1}]", #"[{"a":1}]"#), ("\n[]\n", "[]"),
        ])
    func linesOfObjectsAreAnArray(size: Int, texts: (String, String)) async throws {
        let bytes = Array(texts.0.utf8)
        let (chunks, chunk) = AsyncThrowingStream.makeStream(of: [UInt8].self)
        for start in stride(from: 0, to: bytes.count, by: size) {
            chunk.yield(Array(bytes[start..<min(start + size, bytes.count)]))
        }
        chunk.finish()
        var read: [UInt8] = []
        for try await chunk in ElementChunks(base: chunks) { read += chunk }
        let json = String(decoding: read, as: UTF8.self)
        #expect(try JSONValue(parsing: json) == JSONValue(parsing: texts.1), "\(json)")
    }

    @Test(arguments: ["{\"a\":1}\n{\"a\":}", "{\"a\":1", "{\"a\":1} x"])
    func aLineThatIsNoJSONFails(text: String) async throws {
        let (chunks, chunk) = AsyncThrowingStream.makeStream(of: [UInt8].self)
        chunk.yield(Array(text.utf8))
        chunk.finish()
        await #expect(throws: JSONError.self) { for try await _ in ElementChunks(base: chunks) {} }
    }

    @Test func whatCannotBeReadIsNamed() async throws {
        let missing = InputFile.file("/no/such/file")
        #expect(missing.byteCount == nil && !missing.isFolder)
        let error = #expect(throws: InputFileError.self) { try missing.bytes() }
        #expect(error?.description == "cannot read /no/such/file: No such file or directory")
        await #expect(throws: InputFileError.self) {
            for try await _ in InputFile.file(folder.url.path).chunks(willRead: { _ in }) {}
        }
        #expect(InputFile.file(folder.url.path).isFolder && InputFile.file(folder.url.path).byteCount == nil)
    }
}
