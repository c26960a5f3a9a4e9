import Foundation
package import SyncBase

extension RecordBatch {
    /// Returns the value of a cell in a closed row, or nil if the cell is absent.
    ///
    /// - Complexity: O(*n*) in the length of the content, which is copied. Use `withReader` to read
    ///   many cells.
    public func value(row: Int, column: Int) -> AttributeValue? {
        withReader { reader in
            precondition(row >= 0 && row < count && column >= 0 && column < columnCount, "there is no such cell")
            return reader.value(row: row, column: column)
        }
    }

    /// Returns the value of a cell in the open row, or nil if the cell is absent.
    package func openValue(at column: Int) -> AttributeValue? {
        withReader { $0.value(row: count, column: column) }
    }

    /// Calls a closure with a reader of the cells, which does not copy their content.
    ///
    /// - Parameter body: The closure. The reader and its bytes are valid only until it returns.
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
    /// Adds the content of all rows to a fingerprint. Batches with equal rows, set in the same
    /// order, have equal content.
    package func combineContent(into fingerprint: inout Fingerprint) {
        fingerprint.combine(count)
        for cell in cells {
            fingerprint.combine(cell.head)
            fingerprint.combine(cell.payload)
        }
        fingerprint.combine(bytes: arena)
    }
}

extension RecordBatch {
    /// Read access to the cells of a batch, valid during a call of `RecordBatch.withReader`.
    ///
    /// Rows and columns must exist; only debug builds check them. An accessor for one kind of
    /// content expects a cell of that kind. For another kind it returns an unspecified value, but
    /// never reads memory outside the batch.
    public struct Reader {
        @usableFromInline let cells: UnsafeBufferPointer<Cell>
        @usableFromInline let arena: UnsafeBufferPointer<UInt8>
        /// The number of closed rows.
        public let count: Int
        /// The number of cells in a row.
        public let columnCount: Int

        @usableFromInline
        init(cells: UnsafeBufferPointer<Cell>, arena: UnsafeBufferPointer<UInt8>, count: Int, columnCount: Int) {
            self.cells = cells
            self.arena = arena
            self.count = count
            self.columnCount = columnCount
        }

        @inlinable
        func cell(_ row: Int, _ column: Int) -> Cell {
            cells[row &* columnCount &+ column]
        }

        /// Returns the kind of a cell's content.
        @inlinable
        public func kind(row: Int, column: Int) -> RecordBatch.CellKind {
            cell(row, column).kind
        }

        /// Returns the content of an `int` cell.
        @inlinable
        public func int(row: Int, column: Int) -> Int64 {
            Int64(bitPattern: cell(row, column).payload)
        }

        /// Returns the content of a `bool` cell.
        @inlinable
        public func bool(row: Int, column: Int) -> Bool {
            cell(row, column).payload != 0
        }

        /// Returns the content of a `double` cell.
        @inlinable
        public func double(row: Int, column: Int) -> Double {
            Double(bitPattern: cell(row, column).payload)
        }

        /// Returns the content of a `date` cell.
        @inlinable
        public func date(row: Int, column: Int) -> Timestamp {
            Timestamp(microseconds: Int64(bitPattern: cell(row, column).payload))
        }

        /// Returns the bytes of a cell with variable-length content.
        ///
        /// These are the UTF-8 of a text, URI, decimal or JSON value, the 16 bytes of a UUID, or
        /// the bytes of a binary value. The buffer is empty, without a base address, for a cell of
        /// any other kind. For empty content, the base address is nil only if the whole batch has
        /// no bytes.
        @inlinable
        public func bytes(row: Int, column: Int) -> UnsafeBufferPointer<UInt8> {
            let cell = cell(row, column)
            guard cell.isInArena else { return UnsafeBufferPointer(start: nil, count: 0) }
            return UnsafeBufferPointer(rebasing: arena[cell.offset..<(cell.offset &+ cell.length)])
        }

        /// Returns whether two cells are equal by the rules of `AttributeValue`; absent cells equal
        /// each other.
        public func isEqual(
            row: Int, column: Int, to other: RecordBatch.Reader, row otherRow: Int, column otherColumn: Int
        )
            -> Bool
        {
            let one = cell(row, column)
            let another = other.cell(otherRow, otherColumn)
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
            case .decimal, .string, .binary, .uuid, .uri, .json:
                // The heads are equal, and they include the lengths.
                let bytes = bytes(row: row, column: column)
                let otherBytes = other.bytes(row: otherRow, column: otherColumn)
                guard let start = bytes.baseAddress, let otherStart = otherBytes.baseAddress else { return true }
                return memcmp(start, otherStart, bytes.count) == 0
            }
        }

        /// Returns a hash of some cells of a row, by their bits, with a seed that differs between
        /// processes.
        package func hash(row: Int, columns: [Int]) -> Int {
            var hasher = Hasher()
            for column in columns {
                let cell = cell(row, column)
                hasher.combine(cell.head)
                if cell.isInArena {
                    hasher.combine(bytes: UnsafeRawBufferPointer(bytes(row: row, column: column)))
                } else {
                    hasher.combine(cell.payload)
                }
            }
            return hasher.finalize()
        }

        /// Whether a row has a value other than null in each of the columns; false without columns.
        package func isIdentified(_ row: Int, by columns: [Int]) -> Bool {
            for column in columns {
                let kind = kind(row: row, column: column)
                if kind == .absent || kind == .null { return false }
            }
            return !columns.isEmpty
        }

        /// Whether all cells of a column are integers in strictly ascending order.
        package func isAscending(column: Int) -> Bool {
            var last = Int64.min
            for row in 0..<count {
                let cell = cell(row, column)
                let number = Int64(bitPattern: cell.payload)
                guard cell.kind == .int, number > last || row == 0 else { return false }
                last = number
            }
            return true
        }

        /// Returns the value of a cell, or nil if the cell is absent.
        public func value(row: Int, column: Int) -> AttributeValue? {
            switch kind(row: row, column: column) {
            case .absent: nil
            case .null: .null
            case .bool: .bool(bool(row: row, column: column))
            case .int: .int(int(row: row, column: column))
            case .double: .double(double(row: row, column: column))
            case .date: .date(date(row: row, column: column))
            case .decimal: .decimal(Decimal(string: text(row: row, column: column)) ?? .nan)
            case .string: .string(text(row: row, column: column))
            case .uri: .uri(text(row: row, column: column))
            case .binary: .binary(Data(bytes(row: row, column: column)))
            case .uuid: .uuid(uuid(row: row, column: column))
            case .json: .json(CanonicalJSON(canonical: text(row: row, column: column)))
            }
        }

        private func text(row: Int, column: Int) -> String {
            String(decoding: bytes(row: row, column: column), as: UTF8.self)
        }

        private func uuid(row: Int, column: Int) -> UUID {
            var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
            let bytes = bytes(row: row, column: column)
            withUnsafeMutableBytes(of: &uuid) { $0.copyBytes(from: bytes.prefix($0.count)) }
            return UUID(uuid: uuid)
        }
    }
}
