import Foundation

extension RecordBatch {
    /// The value of a cell; nil for an absent one.
    ///
    /// - Complexity: Allocates what the value needs. Use `withReader` where many are read.
    public func value(row: Int, slot: Int) -> AttributeValue? {
        withReader { reader in
            precondition(row >= 0 && row < count && slot >= 0 && slot < columnCount, "there is no such cell")
            return reader.value(row: row, slot: slot)
        }
    }

    /// Reads cells without copying their content.
    ///
    /// - Parameter body: Gets a reader whose bytes are valid until it returns.
    public func withReader<R, E: Error>(_ body: (RecordBatch.Reader) throws(E) -> R) throws(E) -> R {
        let result: Result<R, E> = cells.withUnsafeBufferPointer { cells in
            arena.withUnsafeBufferPointer { arena in
                let reader = RecordBatch.Reader(cells: cells, arena: arena, count: count, columnCount: columnCount)
                do throws(E) {
                    return .success(try body(reader))
                } catch {
                    return .failure(error)
                }
            }
        }
        return try result.get()
    }
}

extension RecordBatch {
    /// The cells of a batch, as `RecordBatch.withReader` lends them.
    ///
    /// Rows and slots must exist; they are checked only in debug builds. The accessors of a kind
    /// expect a cell of that kind and give an unspecified value otherwise, never memory that is not
    /// the batch's.
    public struct Reader {
        @usableFromInline let cells: UnsafeBufferPointer<Cell>
        @usableFromInline let arena: UnsafeBufferPointer<UInt8>
        /// How many closed rows there are.
        public let count: Int
        /// How many cells a row has.
        public let columnCount: Int

        @usableFromInline
        init(cells: UnsafeBufferPointer<Cell>, arena: UnsafeBufferPointer<UInt8>, count: Int, columnCount: Int) {
            self.cells = cells
            self.arena = arena
            self.count = count
            self.columnCount = columnCount
        }

        @inlinable
        func cell(_ row: Int, _ slot: Int) -> Cell {
            cells[row &* columnCount &+ slot]
        }

        /// What a cell holds.
        @inlinable
        public func kind(row: Int, slot: Int) -> RecordBatch.CellKind {
            cell(row, slot).kind
        }

        /// The content of an `int` cell.
        @inlinable
        public func int(row: Int, slot: Int) -> Int64 {
            Int64(bitPattern: cell(row, slot).payload)
        }

        /// The content of a `bool` cell.
        @inlinable
        public func bool(row: Int, slot: Int) -> Bool {
            cell(row, slot).payload != 0
        }

        /// The content of a `double` cell.
        @inlinable
        public func double(row: Int, slot: Int) -> Double {
            Double(bitPattern: cell(row, slot).payload)
        }

        /// The content of a `date` cell.
        @inlinable
        public func date(row: Int, slot: Int) -> Timestamp {
            Timestamp(microseconds: Int64(bitPattern: cell(row, slot).payload))
        }

        /// The bytes of a cell that has some: the UTF-8 of a text, URI or decimal, the 16 bytes of
        /// a UUID, a binary value; empty for any other cell. Its base address is nil only where the
        /// batch has no bytes at all.
        @inlinable
        public func bytes(row: Int, slot: Int) -> UnsafeBufferPointer<UInt8> {
            let cell = cell(row, slot)
            guard cell.isInArena else { return UnsafeBufferPointer(start: nil, count: 0) }
            return UnsafeBufferPointer(rebasing: arena[cell.offset..<(cell.offset &+ cell.length)])
        }

        /// Whether two cells hold the same, by the rules of `AttributeValue`'s equality; an absent
        /// cell equals an absent one.
        public func isEqual(row: Int, slot: Int, to other: RecordBatch.Reader, row otherRow: Int, slot otherSlot: Int)
            -> Bool
        {
            let one = cell(row, slot)
            let another = other.cell(otherRow, otherSlot)
            guard one.head == another.head else { return false }
            switch one.kind {
            case .absent, .null:
                return true
            case .bool, .int, .date:
                return one.payload == another.payload
            case .double:
                let number = Double(bitPattern: one.payload)
                let otherNumber = Double(bitPattern: another.payload)
                return number == otherNumber || (number.isNaN && otherNumber.isNaN)
            case .decimal, .string, .binary, .uuid, .uri:
                // The lengths are part of the heads, and so the same.
                let bytes = bytes(row: row, slot: slot)
                let otherBytes = other.bytes(row: otherRow, slot: otherSlot)
                guard let start = bytes.baseAddress, let otherStart = otherBytes.baseAddress else { return true }
                return memcmp(start, otherStart, bytes.count) == 0
            }
        }

        /// The value of a cell; nil for an absent one.
        public func value(row: Int, slot: Int) -> AttributeValue? {
            switch kind(row: row, slot: slot) {
            case .absent: nil
            case .null: .null
            case .bool: .bool(bool(row: row, slot: slot))
            case .int: .int(int(row: row, slot: slot))
            case .double: .double(double(row: row, slot: slot))
            case .date: .date(date(row: row, slot: slot))
            case .decimal: .decimal(Decimal(string: text(row: row, slot: slot)) ?? .nan)
            case .string: .string(text(row: row, slot: slot))
            case .uri: .uri(text(row: row, slot: slot))
            case .binary: .binary(Data(bytes(row: row, slot: slot)))
            case .uuid: .uuid(uuid(row: row, slot: slot))
            }
        }

        private func text(row: Int, slot: Int) -> String {
            String(decoding: bytes(row: row, slot: slot), as: UTF8.self)
        }

        private func uuid(row: Int, slot: Int) -> UUID {
            var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
            let bytes = bytes(row: row, slot: slot)
            withUnsafeMutableBytes(of: &uuid) { $0.copyBytes(from: bytes.prefix($0.count)) }
            return UUID(uuid: uuid)
        }
    }
}
