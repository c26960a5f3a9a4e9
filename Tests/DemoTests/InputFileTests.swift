import Foundation
import OneWayTestSupport
import Testing

@testable import Demo

@Suite struct InputFileTests {
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

    @Test func whatCannotBeReadIsNamed() async throws {
        let missing = InputFile.file("/no/such/file")
        #expect(missing.byteCount == nil && !missing.isFolder)
        let error = #expect(throws: InputFileError.self) { try missing.bytes() }
        #expect(error?.description.hasPrefix("/no/such/file cannot be read: ") == true)
        await #expect(throws: InputFileError.self) {
            for try await _ in InputFile.file(folder.url.path).chunks(willRead: { _ in }) {}
        }
        #expect(InputFile.file(folder.url.path).isFolder && InputFile.file(folder.url.path).byteCount == nil)
    }
}
