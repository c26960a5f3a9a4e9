#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension JSONReader {
    /// Creates a reader of bytes in memory.
    ///
    /// - Parameters:
    ///   - bytes: the whole input; kept until the reader is gone.
    ///   - layout: where the elements are; the array that is the document by default.
    ///   - options: what is accepted, and how much.
    public convenience init(
        bytes: [UInt8], layout: JSONLayout = .array(), options: JSONOptions = JSONOptions()
    ) {
        var offset = 0
        // One byte to spare, so that the end of a small input is seen without growing.
        self.init(layout: layout, options: options, windowByteCount: min(Self.windowByteCount, bytes.count + 1)) {
            buffer in
            let count = min(buffer.count, bytes.count - offset)
            bytes.withUnsafeBytes { all in
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: all[offset..<offset + count]))
            }
            offset += count
            return count
        }
    }

    /// Creates a reader of a file, which is read 256 KiB at a time.
    ///
    /// - Parameters:
    ///   - path: path of the file, absolute or relative to the process's directory.
    ///   - layout: where the elements are; the array that is the document by default.
    ///   - options: what is accepted, and how much.
    /// - Throws: ``JSONError/unreadableFile(path:code:)`` if it cannot be opened; later on,
    ///   ``nextValue(exactDecimals:)`` throws it if it cannot be read.
    public convenience init(
        file path: String, layout: JSONLayout = .array(), options: JSONOptions = JSONOptions()
    ) throws(JSONError) {
        let file = try OpenFile(path: path)
        self.init(layout: layout, options: options, source: file.read)
    }

    /// Reads all elements of chunks that arrive over time, in memory that does not grow with their
    /// number.
    ///
    /// - Parameters:
    ///   - chunks: the input in pieces of any size, cut anywhere.
    ///   - body: reads one element, as in ``nextValue(exactDecimals:)``; called for each in order.
    /// - Throws: what ``nextValue(exactDecimals:)`` and the sequence throw; a cancelled sequence's error is its own.
    package func read<Chunks: AsyncSequence>(
        _ chunks: Chunks, isolation: isolated (any Actor)? = #isolation, _ body: (inout JSONCursor) throws -> Void
    ) async throws where Chunks.Element: Collection<UInt8> {
        for try await chunk in chunks {
            try append(chunk)
            while try next(body) != nil {}
        }
        finish()
        while try next(body) != nil {}
    }
}

/// Owns a file descriptor: opened in `init`, closed in `deinit`, never handed out.
private final class OpenFile {
    private let path: String
    private let descriptor: Int32

    init(path: String) throws(JSONError) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        self.path = path
        if descriptor < 0 { throw .unreadableFile(path: path, code: errno) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    func read(_ buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            #if canImport(Glibc)
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            #elseif canImport(Musl)
            let count = Musl.read(descriptor, buffer.baseAddress, buffer.count)
            #else
            let count = Darwin.read(descriptor, buffer.baseAddress, buffer.count)
            #endif
            if count >= 0 { return count }
            if errno != EINTR { throw JSONError.unreadableFile(path: path, code: errno) }
        }
    }
}
