/// Records in a compact form, for very many that are read part by part.
///
/// A row takes one byte if the kinds of its cells are those of the row before, or else one more for
/// each cell. A cell takes as many bytes as its content needs: for an integer or a date the
/// difference to the row before, in groups of seven bits. The rows are in blocks, so that a part
/// can be read without the rows before it.
package struct PackedRecords: Sendable {
    /// The number of rows of a block.
    private static let blockRowCount = 1024

    /// The first byte of a row whose cells are of the same kinds as those of the row before.
    private static let sameKinds: UInt8 = 0
    /// The first byte of another row. The kinds follow, one byte for each cell.
    private static let otherKinds: UInt8 = 1

    /// The columns of the cells that are kept.
    private let columns: [Int]
    /// The number of rows.
    package private(set) var count = 0
    /// The size of the blocks in bytes.
    package private(set) var byteCount = 0
    private var blocks: [[UInt8]] = []
    /// The kinds of the cells of the latest row in the open block; empty if there is none.
    private var kinds: [RecordBatch.CellKind] = []
    /// The latest content of each cell in the open block, as a number.
    private var latest: [UInt64]

    /// Creates a collection without rows.
    ///
    /// - Parameter columns: The columns of the cells to keep; other cells become absent.
    package init(columns: [Int]) {
        self.columns = columns
        latest = Array(repeating: 0, count: columns.count)
    }

    // MARK: Writing

    /// Adds a row.
    package mutating func append(_ reader: RecordBatch.Reader, row: Int) {
        if count.isMultiple(of: Self.blockRowCount) { beginBlock() }
        let former = blocks[blocks.count - 1].count
        if hasLatestKinds(reader, row) {
            blocks[blocks.count - 1].append(Self.sameKinds)
        } else {
            kinds = columns.map { reader.kind(row: row, column: $0) }
            blocks[blocks.count - 1].append(Self.otherKinds)
            blocks[blocks.count - 1] += kinds.lazy.map(\.rawValue)
        }
        for (index, column) in columns.enumerated() {
            let cell = reader.cell(row, column)
            switch cell.kind {
            case .absent, .null: break
            case .bool, .int, .double, .date:
                blocks[blocks.count - 1].appendPacked((cell.payload &- latest[index]).zigzag)
                latest[index] = cell.payload
            case .decimal, .string, .binary, .uuid, .uri, .json:
                let bytes = reader.bytes(row: row, column: column)
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
        kinds = []
    }

    private func hasLatestKinds(_ reader: RecordBatch.Reader, _ row: Int) -> Bool {
        guard kinds.count == columns.count else { return false }
        for (index, column) in columns.enumerated() where kinds[index] != reader.kind(row: row, column: column) {
            return false
        }
        return true
    }

    /// Removes rows from the end.
    ///
    /// - Parameter rowCount: The number of rows to keep, at most `count`.
    package mutating func truncate(to rowCount: Int) {
        guard rowCount < count else { return }
        let start = rowCount / Self.blockRowCount * Self.blockRowCount
        var kept = RecordBatch(columnCount: (columns.max() ?? -1) + 1)
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
                var block = Block(bytes, cellCount: columns.count)
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
        var kinds: [RecordBatch.CellKind]

        init(_ bytes: UnsafeBufferPointer<UInt8>, cellCount: Int) {
            self.bytes = bytes
            latest = Array(repeating: 0, count: cellCount)
            kinds = Array(repeating: .absent, count: cellCount)
        }

        mutating func byte() -> UInt8 {
            defer { offset += 1 }
            return bytes[offset]
        }

        mutating func readKinds() {
            guard byte() == otherKinds else { return }
            for index in kinds.indices { kinds[index] = RecordBatch.CellKind(rawValue: byte()) ?? .absent }
        }

        mutating func number() -> UInt64 {
            var number = 0 as UInt64
            var shift = 0 as UInt64
            while true {
                let byte = byte()
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
        block.readKinds()
        if isWanted { batch.beginRecord() }
        for (index, column) in columns.enumerated() {
            let kind = block.kinds[index]
            switch kind {
            case .absent: break
            case .null: if isWanted { batch.setNull(at: column) }
            case .bool, .int, .double, .date:
                block.latest[index] &+= block.number().unzigzagged
                if isWanted { batch.set(Cell(kind, payload: block.latest[index]), at: column) }
            case .decimal, .string, .binary, .uuid, .uri, .json:
                let content = block.content()
                if isWanted { batch.setBytes(content, kind, at: column) }
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
