import Foundation
import HTTPTransfer

/// A file that is read, or standard input.
enum InputFile: Hashable, Sendable {
    case file(String)
    case standardInput

    /// - Parameter operand: A path, or `-` for standard input; nil is made of an empty one.
    init?(operand: String) {
        guard !operand.isEmpty else { return nil }
        self = operand == "-" ? .standardInput : .file(operand)
    }

    /// What messages call it.
    var name: String {
        switch self {
        case .file(let path): PrintableText.line(path, limit: 200)
        case .standardInput: "standard input"
        }
    }

    /// Its size; nil where that is known only at its end.
    var byteCount: Int? {
        guard case .file(let path) = self else { return nil }
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard attributes?[.type] as? FileAttributeType == .typeRegular else { return nil }
        return (attributes?[.size] as? NSNumber)?.intValue
    }

    /// Whether it is a folder.
    var isFolder: Bool {
        guard case .file(let path) = self else { return false }
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    /// All of it.
    ///
    /// - Throws: ``InputFileError``.
    func bytes() throws(InputFileError) -> [UInt8] {
        let handle = try open()
        do {
            return Array(try handle.readToEnd() ?? Data())
        } catch {
            throw InputFileError(name: name, reason: error.localizedDescription)
        }
    }

    /// Its pieces.
    ///
    /// - Parameter willRead: Called before each piece with the number of bytes that have been read.
    func chunks(willRead: @escaping @Sendable (Int) -> Void) -> InputChunks {
        InputChunks(file: self, willRead: willRead)
    }

    fileprivate func open() throws(InputFileError) -> FileHandle {
        guard case .file(let path) = self else { return .standardInput }
        do {
            return try FileHandle(forReadingFrom: URL(filePath: path))
        } catch {
            throw InputFileError(name: name, reason: error.localizedDescription)
        }
    }
}

/// The pieces of a file, read as they are asked for.
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

        /// - Throws: ``InputFileError``; `CancellationError`, so that a cancelled file is never taken for a short one.
        mutating func next() async throws -> [UInt8]? {
            try Task.checkCancellation()
            willRead(byteCount)
            let handle = try self.handle ?? file.open()
            self.handle = handle
            let data: Data?
            do {
                data = try handle.read(upToCount: Self.chunkByteCount)
            } catch {
                throw InputFileError(name: file.name, reason: error.localizedDescription)
            }
            guard let data, !data.isEmpty else { return nil }
            byteCount += data.count
            return Array(data)
        }
    }
}

/// A file that cannot be read.
struct InputFileError: Error, CustomStringConvertible {
    let name: String
    let reason: String

    var description: String { "\(name) cannot be read: \(reason)" }
}
