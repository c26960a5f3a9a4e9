#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The part of the input that is in memory, and its position in the whole input.
struct JSONWindow: ~Copyable {
    /// Owned by this noncopyable value: comes from `allocate`, is replaced on growth, and freed in
    /// `deinit`.
    private var memory: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    /// The unread bytes are at `start..<end`.
    var start = 0
    private(set) var end = 0
    /// The capacity above which the window does not stay after the element that needed it.
    private static let largeByteCount = 4 << 20
    /// The bytes and line feeds before the window, and the offset of the last line start among
    /// them.
    private var discardedByteCount = 0
    private var discardedLineCount = 0
    private var lineStartOffset = 0

    init(capacity: Int) {
        self.capacity = max(capacity, 16)
        memory = Self.allocate(self.capacity)
    }

    deinit {
        free(memory)
    }

    /// Allocates memory for a number of bytes. The bytes of former memory stay in it.
    ///
    /// - Parameter former: Memory to enlarge; nil, the default, for none. Large memory is moved
    ///   without a copy, which would need both at once.
    private static func allocate(
        _ capacity: Int, replacing former: UnsafeMutablePointer<UInt8>? = nil
    ) -> UnsafeMutablePointer<UInt8> {
        guard let memory = realloc(former, capacity) else {
            preconditionFailure("there is no memory for \(capacity) bytes of JSON")
        }
        return memory.assumingMemoryBound(to: UInt8.self)
    }

    /// The number of unread bytes.
    @inline(__always)
    var count: Int { end - start }
    /// The first unread byte. The pointer is valid until the window is filled or appended to.
    @inline(__always)
    var first: UnsafePointer<UInt8> { UnsafePointer(memory + start) }
    /// The number of bytes of the whole input before the first unread one.
    var readByteCount: Int { discardedByteCount + start }
    /// The number of bytes of the whole input received so far.
    var totalByteCount: Int { discardedByteCount + end }

    /// The unread byte at an index, which must be below `count`.
    @inline(__always)
    subscript(index: Int) -> UInt8 { memory[start + index] }

    // MARK: Filling

    /// Lets a source write after the unread bytes.
    ///
    /// - Returns: The number of bytes written; 0 at the end of the input.
    /// - Throws: The errors of the source.
    mutating func fill(from source: JSONReader.Source) throws -> Int {
        discardRead()
        grow(toHold: 1)
        let count = try source(UnsafeMutableRawBufferPointer(start: memory + end, count: capacity - end))
        precondition(count >= 0 && count <= capacity - end, "a source wrote more than its buffer holds")
        end += count
        return count
    }

    /// Appends bytes after the unread ones.
    ///
    /// Bytes that have been read are discarded only once they fill half of the capacity or the
    /// space is needed, which bounds how often a byte is moved.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress else { return }
        if start >= capacity / 2 || capacity - end < bytes.count { discardRead() }
        grow(toHold: bytes.count)
        UnsafeMutableRawPointer(memory + end).copyMemory(from: base, byteCount: bytes.count)
        end += bytes.count
    }

    private mutating func grow(toHold byteCount: Int) {
        guard capacity - end < byteCount else { return }
        capacity = max(capacity * 2, end + byteCount)
        memory = Self.allocate(capacity, replacing: memory)
    }

    private mutating func discardRead() {
        guard start > 0 else { return }
        let lines = Self.countLines(memory, start)
        if lines > 0 {
            discardedLineCount += lines
            lineStartOffset = discardedByteCount + Self.lineStart(memory, start)
        }
        discardedByteCount += start
        let former = memory
        let isLarge = capacity > Self.largeByteCount && end - start <= JSONReader.windowByteCount
        if isLarge {
            capacity = JSONReader.windowByteCount
            memory = Self.allocate(capacity)
        }
        // The two regions may overlap, which `update` allows.
        memory.update(from: former + start, count: end - start)
        if isLarge { free(former) }
        end -= start
        start = 0
    }

    // MARK: Places

    /// The location of an unread byte, or of the end, in the whole input, without a key path.
    ///
    /// - Parameter index: The position, counted from the first unread byte.
    func location(of index: Int) -> JSONError.Location {
        let place = start + index
        let lines = Self.countLines(memory, place)
        let lineStart = lines == 0 ? lineStartOffset : discardedByteCount + Self.lineStart(memory, place)
        let offset = discardedByteCount + place
        return JSONError.Location(
            byteOffset: offset, line: discardedLineCount + lines + 1, column: offset - lineStart + 1)
    }

    /// Counts line feeds, sixteen bytes at a time. Each lane has its own counter, which is summed
    /// up before it can overflow.
    private static func countLines(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Int {
        let raw = UnsafeRawPointer(bytes)
        let feeds = SIMD16<UInt8>(repeating: ASCII.newline)
        var lines = 0
        var index = 0
        while count - index >= 16 {
            var lanes = SIMD16<UInt8>()
            for _ in 0..<min((count - index) / 16, 255) {
                let word = raw.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
                lanes.replace(with: lanes &+ 1, where: word .== feeds)
                index += 16
            }
            for lane in lanes.indices { lines += Int(lanes[lane]) }
        }
        while index < count {
            if bytes[index] == ASCII.newline { lines += 1 }
            index += 1
        }
        return lines
    }

    /// The offset of the byte after the last line feed; 0 if there is none.
    private static func lineStart(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Int {
        var index = count
        while index > 0, bytes[index - 1] != ASCII.newline { index -= 1 }
        return index
    }
}
