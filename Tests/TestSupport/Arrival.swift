import Foundation

/// A way in which the bytes of a document reach their reader. It never makes a difference.
package enum Arrival: Sendable, Hashable, CustomStringConvertible {
    /// The reader is given pieces of this many bytes.
    case pieces(Int)
    /// The reader is given two pieces; the first one has this many bytes.
    case cut(Int)
    /// The reader asks for a window of bytes, and gets at most this many at a time.
    case window(Int, stride: Int)

    package var description: String {
        switch self {
        case .pieces(let size): "pieces of \(size)"
        case .cut(let offset): "cut at \(offset)"
        case .window(let size, let stride): "window of \(size) by \(stride)"
        }
    }

    /// The pieces of a document; the strides of a window.
    package func pieces(of bytes: [UInt8]) -> [[UInt8]] {
        switch self {
        case .pieces(let size), .window(_, stride: let size):
            stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
        case .cut(let offset): [Array(bytes[..<offset]), Array(bytes[offset...])]
        }
    }

    /// A function that fills a buffer with the next bytes of a document, at most so many at a time.
    package static func source(
        of bytes: [UInt8], stride: Int
    ) -> (UnsafeMutableRawBufferPointer) -> Int {
        var rest = bytes[...]
        return { buffer in
            let count = min(stride, buffer.count, rest.count)
            rest.prefix(count).withUnsafeBytes { buffer.copyMemory(from: $0) }
            rest = rest.dropFirst(count)
            return count
        }
    }
}

/// The axes along which tests vary what must not make a difference, listed once.
///
/// Each is sampled by default, and complete with `AXES=all`, which takes hours.
package enum Axes {
    /// Whether all values are taken.
    package static let areComplete = ProcessInfo.processInfo.environment["AXES"] == "all"
    /// The sizes of pieces that a reader is given, and of reads from a network.
    package static let pieceByteCounts = thinned(Array(1...64), to: [1, 2, 3, 7, 16, 33, 64])
    /// The sizes of the window that a reader asks for; 16 is the smallest.
    package static let windowByteCounts = thinned([16, 17, 23, 31, 32, 33, 64, 255, 4096], to: [16, 23, 64])
    /// The numbers of objects on a page.
    package static let pageRowCounts = thinned(Array(1...12) + [50], to: [1, 2, 3, 5, 50])
    /// The numbers of objects in a batch.
    package static let batchRowCounts = thinned(Array(1...12) + [1000], to: [1, 2, 3, 7, 1000])

    /// The offsets at which a document of this size is cut in two: all of a small document, else a
    /// sample that has its first and last bytes.
    package static func cuts(of byteCount: Int, maximumCount: Int = 24, seed: UInt64 = 1) -> [Int] {
        guard byteCount > maximumCount, !areComplete else { return Array(0...byteCount) }
        var random = SeededRandom(seed: seed &+ UInt64(byteCount))
        let sample = (0..<maximumCount).map { _ in Int.random(in: 0...byteCount, using: &random) }
        return Set(sample + [0, 1, byteCount - 1, byteCount]).sorted()
    }

    /// All arrivals of a document of this size.
    package static func arrivals(of byteCount: Int, seed: UInt64 = 1) -> [Arrival] {
        pieceByteCounts.map { .pieces($0) } + cuts(of: byteCount, seed: seed).map { .cut($0) }
            + windowByteCounts.flatMap { window in
                thinned([1, 2, 7, window], to: [1, window]).map { .window(window, stride: $0) }
            }
    }

    /// Runs a body with each value of two axes.
    package static func forEach<First, Second>(
        _ first: [First], _ second: [Second], _ body: (First, Second) async throws -> Void
    ) async rethrows {
        for one in first {
            for other in second { try await body(one, other) }
        }
    }

    private static func thinned<Value>(_ all: [Value], to some: [Value]) -> [Value] { areComplete ? all : some }
}
