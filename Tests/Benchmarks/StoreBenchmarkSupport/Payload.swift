import OneWayBenchmarkSupport
public import Foundation

/// A file of users or orders to sync.
public struct Payload: Sendable {
    /// What is in it, of the users 1 to n.
    public enum Content: Sendable {
        /// Users without notes.
        case flat
        /// Users with three notes each.
        case nested
        /// The flat users, one in a hundred with another address, one in a hundred absent, and one
        /// in a hundred of them more.
        case changed
        /// The flat users in an order of no order.
        case shuffled
        /// Orders 1 to n, each with a customer and four lines with a product each.
        case orders
    }

    /// The entity of its objects.
    public let entity: String

    /// Where the file is.
    public let path: String
    /// The place of each user among the keys in ascending order; nil where that is their order.
    public private(set) var order: [Int]?

    /// Writes the file, without holding it in memory.
    ///
    /// - Parameter isLinked: Whether each user has a company; for flat and changed users.
    public init(_ content: Content, count: Int, in folder: URL, isLinked: Bool = false) throws {
        let url = folder.appending(path: "\(content)-\(count)\(isLinked ? "-linked" : "").json")
        path = url.path
        entity = content == .orders ? "Order" : "User"
        var order: [Int]?
        var text: [UInt8] = []
        try Data().write(to: url)
        let file = try FileHandle(forWritingTo: url)
        switch content {
        case .flat, .nested:
            var generator = UserGenerator(count: count, isNested: content == .nested, isLinked: isLinked)
            while let chunk = generator.nextChunk() { try file.write(contentsOf: chunk) }
        case .orders:
            var generator = OrderGenerator(count: count)
            while let chunk = generator.nextChunk() { try file.write(contentsOf: chunk) }
        case .changed:
            try Self.writeChanged(count: count, isLinked: isLinked, into: &text, to: file)
        case .shuffled:
            order = try Self.writeShuffled(count: count, in: folder, into: &text, to: file)
        }
        if content == .changed || content == .shuffled { text += Array("\n]\n".utf8) }
        try Self.flush(&text, minimumByteCount: 0, to: file)
        try file.close()
        self.order = order
    }

    /// The same payload, the order forgotten.
    public var withoutOrder: Payload {
        var copy = self
        copy.order = nil
        return copy
    }

    /// Takes the records of the flat file one by one from where they lie.
    private static func writeShuffled(
        count: Int, in folder: URL, into text: inout [UInt8], to file: FileHandle
    ) throws -> [Int] {
        let flat = try FileHandle(forReadingFrom: URL(filePath: Payload(.flat, count: count, in: folder).path))
        var places: [Range<UInt64>] = []
        places.reserveCapacity(count)
        var start: UInt64 = 0
        var generator = UserGenerator(count: count)
        while let chunk = generator.nextChunk() {
            for record in records(chunk) {
                let first = start + UInt64(record.startIndex)
                places.append(first..<first + UInt64(record.count))
            }
            start += UInt64(chunk.count)
        }
        var random = SeededRandom(seed: 7)
        let order = (0..<places.count).shuffled(using: &random)
        for (place, index) in order.enumerated() {
            text += Array((place == 0 ? "[\n" : ",\n").utf8)
            try flat.seek(toOffset: places[index].lowerBound)
            text += try flat.read(upToCount: places[index].count) ?? Data()
            try flush(&text, minimumByteCount: 65_536, to: file)
        }
        try flat.close()
        return order
    }

    private static func writeChanged(
        count: Int, isLinked: Bool, into text: inout [UInt8], to file: FileHandle
    ) throws {
        let email = Array("\"email\":\"user".utf8)
        var generator = UserGenerator(count: count + count / 100, isLinked: isLinked)
        var id = 0
        while let chunk = generator.nextChunk() {
            for record in records(chunk) {
                id += 1
                if id <= count, id % 100 == 2 { continue }
                text += Array((id == 1 ? "[\n" : ",\n").utf8)
                if id <= count, id % 100 == 1, let range = record.firstRange(of: email) {
                    text += record[..<range.upperBound] + Array("moved".utf8) + record[range.upperBound...]
                } else {
                    text += record
                }
            }
            try flush(&text, minimumByteCount: 0, to: file)
        }
    }

    private static func flush(_ text: inout [UInt8], minimumByteCount: Int, to file: FileHandle) throws {
        guard text.count >= minimumByteCount else { return }
        try file.write(contentsOf: text)
        text.removeAll(keepingCapacity: true)
    }

    /// The records in what a generator made, one per line, without the commas between them.
    package static func records(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        bytes.split(separator: UInt8(ascii: "\n")).filter { $0.first == UInt8(ascii: "{") }
            .map { $0.last == UInt8(ascii: ",") ? $0.dropLast() : $0 }
    }
}
