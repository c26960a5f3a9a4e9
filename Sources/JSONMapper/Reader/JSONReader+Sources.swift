#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension JSONReader {
    /// Creates a reader for bytes in memory.
    ///
    /// - Parameters:
    ///   - bytes: The whole input, retained for the lifetime of the reader.
    ///   - layout: The location of the elements; an array that is the whole document by default.
    ///   - options: Parsing choices and limits.
    public convenience init(
        bytes: [UInt8], layout: JSONReader.Layout = .array(), options: JSONReader.Options = JSONReader.Options()
    ) {
        var offset = 0
        // One extra byte lets the reader see the end of a small input without growing the window.
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

    /// Creates a reader for a file, which is read 256 KiB at a time.
    ///
    /// - Parameters:
    ///   - path: The path of the file, absolute or relative to the current directory of the
    ///     process.
    ///   - layout: The location of the elements; an array that is the whole document by default.
    ///   - options: Parsing choices and limits.
    /// - Throws: ``JSONError/unreadableFile(path:code:)`` if the file cannot be opened.
    ///   Reading throws it if the file cannot be read later.
    public convenience init(
        file path: String, layout: JSONReader.Layout = .array(), options: JSONReader.Options = JSONReader.Options()
    ) throws(JSONError) {
        let file = try OpenFile(path: path)
        self.init(layout: layout, options: options, source: file.read)
    }
}

/// The sole owner of a file descriptor, which is opened in `init` and closed in `deinit`.
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
