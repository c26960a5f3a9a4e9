/// Records in a compact form, for very many that are read part by part.
///
/// A row takes one byte for the kinds of its cells, and each cell as many bytes as its content
/// needs: for an integer or a date the difference to the row before, in groups of seven bits. The
/// rows are in blocks, so that a part can be read without the rows before it.
package struct PackedRecords: Sendable {
    /// The number of rows of a block.
    private static let blockRowCount = 1024

    /// The slots of the cells that are kept.
    private let slots: [Int]
    /// The number of rows.
    package private(set) var count = 0
    /// The size of the blocks in bytes.
    package private(set) var byteCount = 0
    private var blocks: [[UInt8]] = []
    /// The kinds of the cells of each different kind of row.
    private var shapes: [[RecordBatch.CellKind]] = []
    /// The number of the shape of the latest row.
    private var shape = 0
    /// The latest content of each cell in the open block, as a number.
    private var latest: [UInt64]

    /// Creates a collection without rows.
    ///
    /// - Parameter slots: The slots of the cells to keep; other cells become absent.
    package init(slots: [Int]) {
        self.slots = slots
        latest = Array(repeating: 0, count: slots.count)
    }

    // MARK: Writing

    /// Adds a row.
    package mutating func append(_ reader: RecordBatch.Reader, row: Int) {
        if count.isMultiple(of: Self.blockRowCount) { beginBlock() }
        if !isShape(shape, of: reader, row) { shape = number(ofShapeOf: reader, row) }
        let former = blocks[blocks.count - 1].count
        blocks[blocks.count - 1].appendPacked(UInt64(shape))
        for (index, slot) in slots.enumerated() {
            let cell = reader.cell(row, slot)
            switch cell.kind {
            case .absent, .null: break
            case .bool, .int, .double, .date:
                blocks[blocks.count - 1].appendPacked((cell.payload &- latest[index]).zigzag)
                latest[index] = cell.payload
            case .decimal, .string, .binary, .uuid, .uri, .json:
                let bytes = reader.bytes(row: row, slot: slot)
                blocks[blocks.count - 1].appendPacked(UInt64(bytes.count))
                blocks[blocks.count - 1] += bytes
            }
        }
        byteCount += blocks[blocks.count - 1].count - former
        count += 1
    }

    private mutating func beginBlock() {
        var block: [UInt8] = []
        // Blocks of one list have about the same size.
        if let last = blocks.last { block.reserveCapacity(last.count + last.count >> 5) }
        blocks.append(block)
        for index in latest.indices { latest[index] = 0 }
    }

    private func isShape(_ number: Int, of reader: RecordBatch.Reader, _ row: Int) -> Bool {
        guard number < shapes.count else { return false }
        for (index, slot) in slots.enumerated() where shapes[number][index] != reader.kind(row: row, slot: slot) {
            return false
        }
        return true
    }

    private mutating func number(ofShapeOf reader: RecordBatch.Reader, _ row: Int) -> Int {
        if let known = shapes.indices.first(where: { isShape($0, of: reader, row) }) { return known }
        shapes.append(slots.map { reader.kind(row: row, slot: $0) })
        return shapes.count - 1
    }

    /// Removes rows from the end.
    ///
    /// - Parameter rowCount: The number of rows to keep, at most `count`.
    package mutating func truncate(to rowCount: Int) {
        guard rowCount < count else { return }
        let start = rowCount / Self.blockRowCount * Self.blockRowCount
        var kept = RecordBatch(columnCount: (slots.max() ?? -1) + 1)
        append(start..<rowCount, to: &kept)
        let removed = blocks[(start / Self.blockRowCount)...]
        byteCount -= removed.reduce(0) { $0 + $1.count }
        blocks.removeLast(removed.count)
        count = start
        kept.withReader { reader in
            for row in 0..<reader.count { append(reader, row: row) }
        }
    }

    // MARK: Reading

    /// Appends rows to a batch.
    package func append(_ rows: Range<Int>, to batch: inout RecordBatch) {
        var row = rows.lowerBound
        while row < rows.upperBound {
            let number = row / Self.blockRowCount
            let start = number * Self.blockRowCount
            let end = min(start + Self.blockRowCount, rows.upperBound)
            blocks[number].withUnsafeBufferPointer { bytes in
                var block = Block(bytes: bytes, latest: Array(repeating: 0, count: slots.count))
                for index in start..<end { append(from: &block, isWanted: index >= row, to: &batch) }
            }
            row = end
        }
    }

    /// A block that is read from its start.
    private struct Block {
        let bytes: UnsafeBufferPointer<UInt8>
        var offset = 0
        var latest: [UInt64]

        mutating func number() -> UInt64 {
            var number = 0 as UInt64
            var shift = 0 as UInt64
            while true {
                let byte = bytes[offset]
                offset += 1
                number |= UInt64(byte & 0x7F) &<< shift
                guard byte >= 0x80 else { return number }
                shift += 7
            }
        }

        mutating func content() -> UnsafeBufferPointer<UInt8> {
            let count = Int(number())
            defer { offset += count }
            return UnsafeBufferPointer(rebasing: bytes[offset..<offset + count])
        }
    }

    /// Reads the next row of a block.
    private func append(from block: inout Block, isWanted: Bool, to batch: inout RecordBatch) {
        let shape = Int(block.number())
        if isWanted { batch.beginRecord() }
        for (index, slot) in slots.enumerated() {
            let kind = shapes[shape][index]
            switch kind {
            case .absent: break
            case .null: if isWanted { batch.setNull(at: slot) }
            case .bool, .int, .double, .date:
                block.latest[index] &+= block.number().unzigzagged
                if isWanted { batch.set(Cell(kind, payload: block.latest[index]), at: slot) }
            case .decimal, .string, .binary, .uuid, .uri, .json:
                let content = block.content()
                if isWanted { batch.setBytes(content, kind, at: slot) }
            }
        }
        if isWanted { batch.endRecord() }
    }
}

extension UInt64 {
    /// A small number for a small difference of either sign.
    fileprivate var zigzag: UInt64 {
        let signed = Int64(bitPattern: self)
        return UInt64(bitPattern: signed &<< 1 ^ signed &>> 63)
    }

    /// The number whose `zigzag` this is.
    fileprivate var unzigzagged: UInt64 {
        self &>> 1 ^ (0 &- (self & 1))
    }
}

extension [UInt8] {
    /// Appends a number in groups of seven bits, the lowest ones first. All bytes but the last one
    /// have the eighth bit.
    fileprivate mutating func appendPacked(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest &>>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }
}
