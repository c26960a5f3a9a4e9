import Foundation
import HTTPTransfer
import JSONMapper
import StoreSync

/// An input of the command: a file or standard input.
enum InputFile: Hashable, Sendable {
    case file(String)
    case standardInput

    /// Creates an input from an operand: a path, or `-` for standard input; nil if it is empty.
    init?(operand: String) {
        guard !operand.isEmpty else { return nil }
        self = operand == "-" ? .standardInput : .file(operand)
    }

    /// The name in messages.
    var name: String {
        switch self {
        case .file(let path): PrintableText.line(path, limit: 200)
        case .standardInput: "standard input"
        }
    }

    /// The size in bytes; nil for standard input and for anything but a regular file, such as a
    /// pipe, which can be read only once.
    var byteCount: Int? {
        guard case .file(let path) = self else { return nil }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }

    /// Whether the input is a folder.
    var isFolder: Bool {
        guard case .file(let path) = self else { return false }
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    /// Reads the whole input.
    ///
    /// - Throws: ``InputFileError`` if it cannot be read.
    func bytes() throws(InputFileError) -> [UInt8] {
        let handle = try open()
        do {
            return Array(try handle.readToEnd() ?? Data())
        } catch {
            throw InputFileError(name: name, reason: FailureText.reason(error))
        }
    }

    /// Returns the input as a sequence of chunks.
    ///
    /// - Parameter willRead: Called before each chunk with the number of bytes read so far.
    func chunks(willRead: @escaping @Sendable (Int) -> Void) -> InputChunks {
        InputChunks(file: self, willRead: willRead)
    }

    /// Returns the input as the source of a sync, in chunks.
    ///
    /// - Parameters:
    ///   - keyPath: The keys that lead to the array. Without them, newline-delimited JSON is
    ///     accepted as well.
    ///   - willRead: Called before each chunk with the number of bytes read so far.
    func source(at keyPath: String, willRead: @escaping @Sendable (Int) -> Void = { _ in }) -> JSONSource {
        let chunks = chunks(willRead: willRead)
        return keyPath.isEmpty ? .chunks(ElementChunks(base: chunks)) : .chunks(chunks)
    }

    /// Returns the layout of the JSON for inference, by its first bytes.
    ///
    /// - Throws: ``InputFileError`` if the file cannot be read.
    func layout(at keyPath: String) throws(InputFileError) -> JSONReader.Layout {
        JSONStart.layout(try beginning(), at: keyPath)
    }

    /// Reads the first bytes of a file.
    ///
    /// - Throws: ``InputFileError`` if the file cannot be read.
    func beginning() throws(InputFileError) -> Data {
        let handle = try open()
        do {
            return try handle.read(upToCount: 4 << 10) ?? Data()
        } catch {
            throw InputFileError(name: name, reason: FailureText.reason(error))
        }
    }

    fileprivate func open() throws(InputFileError) -> FileHandle {
        guard case .file(let path) = self else { return .standardInput }
        guard !isFolder else { throw InputFileError(name: name, reason: "it is a folder") }
        do {
            return try FileHandle(forReadingFrom: URL(filePath: path))
        } catch {
            throw InputFileError(name: name, reason: FailureText.reason(error))
        }
    }
}

/// The chunks of an input, read on demand.
struct InputChunks: AsyncSequence, Sendable {
    fileprivate let file: InputFile
    fileprivate let willRead: @Sendable (Int) -> Void

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(file: file, willRead: willRead)
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        private static let chunkByteCount = 256 << 10

        fileprivate let file: InputFile
        fileprivate let willRead: @Sendable (Int) -> Void
        private var handle: FileHandle?
        private var byteCount = 0

        fileprivate init(file: InputFile, willRead: @escaping @Sendable (Int) -> Void) {
            self.file = file
            self.willRead = willRead
        }

        /// Returns the next chunk of at most 256 KiB, or nil at the end of the input.
        ///
        /// - Throws: ``InputFileError`` if the input cannot be read; `CancellationError` after a
        ///   cancellation, so that a cancelled read is not mistaken for the end of the file.
        mutating func next() async throws -> [UInt8]? {
            try Task.checkCancellation()
            willRead(byteCount)
            let handle = try self.handle ?? file.open()
            self.handle = handle
            let chunk = try read(handle)
            byteCount += chunk.count
            return chunk.isEmpty ? nil : chunk
        }

        /// Reads what is there, at once: on Linux, `FileHandle` reads 4 KiB at a time.
        private func read(_ handle: FileHandle) throws(InputFileError) -> [UInt8] {
            var code: Int32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: Self.chunkByteCount) { buffer, byteCount in
                var found: Int
                repeat {
                    found = Foundation.read(handle.fileDescriptor, buffer.baseAddress, buffer.count)
                } while found < 0 && errno == EINTR
                if found < 0 { code = errno }
                byteCount = Swift.max(found, 0)
            }
            guard code == 0 else { throw InputFileError(name: file.name, reason: String(cString: strerror(code))) }
            return bytes
        }
    }
}

/// An error for an input that cannot be read.
struct InputFileError: Error, CustomStringConvertible {
    let name: String
    let reason: String

    var description: String { "cannot read \(name): \(reason)" }
}
