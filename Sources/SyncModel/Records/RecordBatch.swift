public import Foundation

/// Many records of one entity, packed for the way from a mapper into a store.
///
/// A record is a row of *cells*, one per attribute in slot order (or per column, for a batch that
/// is of no entity). A cell takes 16 bytes; text and bytes are kept once for the whole batch in an
/// *arena*, one after another. No value is allocated on its own, and a `Record` is made only of the
/// rows that someone asks for. Whoever fills a batch opens a row, sets the cells it knows in any
/// order, and closes or discards the row:
///
///     var batch = RecordBatch(of: layout)
///     batch.beginRecord()
///     batch.setInt(7, at: 0)
///     batch.setString(utf8, at: 1)
///     batch.endRecord()
///
/// A cell that was not set is *absent*, which is not null: an absent cell leaves what a store holds
/// as it is, a null one clears it. A cell that is set twice keeps the later value.
///
/// What is kept of each kind: integers and doubles in the cell; dates as microseconds since 1970 in
/// the cell, see `Timestamp`; texts and URIs as UTF-8, unchecked; decimals as text in the one form
/// that equal numbers share; UUIDs as their 16 bytes. Setters expect an open row and a slot that
/// exists; anything else is a mistake of the caller and stops the program.
public struct RecordBatch: Sendable {
    /// The entity of the records; nil if the caller defines the columns.
    public let layout: EntityLayout?
    /// The number of cells per row.
    public let columnCount: Int
    /// The number of closed rows.
    public private(set) var count = 0

    @usableFromInline var cells: [Cell] = []
    @usableFromInline var arena: [UInt8] = []
    /// Where the cells and the arena of the open row start; equal to their ends where no row is
    /// open.
    @usableFromInline var openCell = 0
    @usableFromInline var openByte = 0

    /// Creates an empty batch with one column per attribute of an entity, by slot.
    public init(of layout: EntityLayout) {
        self.layout = layout
        columnCount = layout.attributes.count
    }

    /// Creates an empty batch of columns that the caller defines.
    public init(columnCount: Int) {
        layout = nil
        self.columnCount = columnCount
    }

    /// Whether there are no closed rows.
    public var isEmpty: Bool {
        count == 0
    }

    /// The memory of cells and arena in bytes, for callers that limit batches.
    public var byteCount: Int {
        cells.count * MemoryLayout<Cell>.stride + arena.count
    }

    /// Prepares memory for more rows.
    ///
    /// - Parameters:
    ///   - rowCount: How many rows will be added.
    ///   - byteCount: How many bytes of text and binary values they will have together.
    public mutating func reserveCapacity(rowCount: Int, byteCount: Int) {
        cells.reserveCapacity(cells.count + rowCount * columnCount)
        arena.reserveCapacity(arena.count + byteCount)
    }

    /// Empties the batch.
    ///
    /// - Parameter keepingCapacity: Whether its memory is kept for the next rows; false by default.
    public mutating func removeAll(keepingCapacity: Bool = false) {
        cells.removeAll(keepingCapacity: keepingCapacity)
        arena.removeAll(keepingCapacity: keepingCapacity)
        count = 0
        openCell = 0
        openByte = 0
    }

    // MARK: Rows

    /// Opens a row of absent cells. Discards a row that is still open.
    public mutating func beginRecord() {
        discardRecord()
        cells.append(contentsOf: repeatElement(Cell.absent, count: columnCount))
    }

    /// Closes the open row, which becomes the last row of the batch.
    public mutating func endRecord() {
        precondition(cells.count - openCell == columnCount, "no row is open")
        count += 1
        openCell = cells.count
        openByte = arena.count
    }

    /// Discards the open row, if there is one.
    public mutating func discardRecord() {
        cells.removeLast(cells.count - openCell)
        arena.removeLast(arena.count - openByte)
    }

    /// Removes closed rows from the end, and the open one.
    ///
    /// - Parameter rowCount: How many rows stay; at most there are.
    public mutating func truncate(to rowCount: Int) {
        precondition(rowCount >= 0 && rowCount <= count, "more rows than there are")
        discardRecord()
        guard rowCount < count else { return }
        // Arena bytes are in row order: those of the rows that stay end where the first removed
        // byte starts.
        let removed = cells[(rowCount * columnCount)...]
        let arenaEnd = removed.lazy.filter(\.isInArena).map(\.offset).min()
        cells.removeLast(removed.count)
        if let arenaEnd {
            arena.removeLast(arena.count - arenaEnd)
        }
        count = rowCount
        openCell = cells.count
        openByte = arena.count
    }

    // MARK: Cells of the open row

    /// Sets a cell to null.
    @inlinable
    public mutating func setNull(at slot: Int) {
        set(Cell(.null, payload: 0), at: slot)
    }

    /// Sets a cell to true or false.
    @inlinable
    public mutating func setBool(_ flag: Bool, at slot: Int) {
        set(Cell(.bool, payload: flag ? 1 : 0), at: slot)
    }

    /// Sets a cell to a whole number.
    @inlinable
    public mutating func setInt(_ number: Int64, at slot: Int) {
        set(Cell(.int, payload: UInt64(bitPattern: number)), at: slot)
    }

    /// Sets a cell to a floating point number.
    @inlinable
    public mutating func setDouble(_ number: Double, at slot: Int) {
        set(Cell(.double, payload: number.bitPattern), at: slot)
    }

    /// Sets a cell to a moment.
    @inlinable
    public mutating func setDate(_ moment: Timestamp, at slot: Int) {
        set(Cell(.date, payload: UInt64(bitPattern: moment.microseconds)), at: slot)
    }

    /// Sets a cell to a text.
    ///
    /// - Parameter utf8: The text, valid UTF-8; it is copied.
    public mutating func setString(_ utf8: UnsafeBufferPointer<UInt8>, at slot: Int) {
        setBytes(utf8, .string, at: slot)
    }

    /// Sets a cell to a URI.
    ///
    /// - Parameter utf8: The text, valid UTF-8; it is copied.
    public mutating func setURI(_ utf8: UnsafeBufferPointer<UInt8>, at slot: Int) {
        setBytes(utf8, .uri, at: slot)
    }

    /// Sets a cell to bytes, which are copied.
    public mutating func setBinary(_ bytes: UnsafeBufferPointer<UInt8>, at slot: Int) {
        setBytes(bytes, .binary, at: slot)
    }

    /// Sets a cell to a UUID.
    public mutating func setUUID(_ uuid: UUID, at slot: Int) {
        withUnsafeBytes(of: uuid.uuid) { setBytes($0.assumingMemoryBound(to: UInt8.self), .uuid, at: slot) }
    }

    /// Sets a cell to a decimal number, exactly.
    ///
    /// - Parameter text: The number as JSON writes numbers; a plus or zeros in front are read as
    ///   well.
    /// - Returns: Whether the text is a number of at most 38 significant digits, none beyond 10¹²⁷
    ///   or 10⁻¹²⁷; otherwise the cell is left as it was.
    public mutating func setDecimal(_ text: UnsafeBufferPointer<UInt8>, at slot: Int) -> Bool {
        setDecimal(text, within: .text, at: slot)
    }

    private mutating func setDecimal(
        _ text: UnsafeBufferPointer<UInt8>, within limits: DecimalText.Limits, at slot: Int
    ) -> Bool {
        let start = arena.count
        guard DecimalText.append(canonical: text, within: limits, to: &arena) else { return false }
        set(Cell(.decimal, offset: start, length: arena.count - start), at: slot)
        return true
    }

    /// Sets a cell to a value of any kind; slower than the setters of its kind.
    ///
    /// A decimal that is no number is set as null.
    public mutating func setValue(_ value: AttributeValue, at slot: Int) {
        switch value {
        case .null: setNull(at: slot)
        case .bool(let flag): setBool(flag, at: slot)
        case .int(let number): setInt(number, at: slot)
        case .double(let number): setDouble(number, at: slot)
        case .decimal(let number):
            let isSet = number.description.withUTF8Bytes { setDecimal($0, within: .decimal, at: slot) }
            if !isSet {
                setNull(at: slot)
            }
        case .string(let text): text.withUTF8Bytes { setString($0, at: slot) }
        case .date(let moment): setDate(moment, at: slot)
        case .binary(let data): data.withUnsafeBytes { setBinary($0.assumingMemoryBound(to: UInt8.self), at: slot) }
        case .uuid(let uuid): setUUID(uuid, at: slot)
        case .uri(let text): text.withUTF8Bytes { setURI($0, at: slot) }
        }
    }

    /// What a cell of the open row holds so far; for whoever fills it to see what is still absent.
    @inlinable
    public func openKind(at slot: Int) -> RecordBatch.CellKind {
        precondition(slot >= 0 && slot < columnCount, "there is no such slot")
        return cells[openCell + slot].kind
    }

    /// Appends a closed row with the cells of a row of another batch that has as many columns.
    public mutating func append(row: Int, of other: RecordBatch) {
        precondition(other.columnCount == columnCount, "the other batch has other columns")
        beginRecord()
        for slot in 0..<columnCount {
            var cell = other.cell(row, slot)
            if cell.isInArena {
                let start = arena.count
                arena.append(contentsOf: other.arena[cell.offset..<(cell.offset + cell.length)])
                cell = Cell(cell.kind, offset: start, length: cell.length)
            }
            set(cell, at: slot)
        }
        endRecord()
    }

    /// Appends a closed row with the cells of several rows of another batch, of which the later
    /// ones count where they are present.
    package mutating func append(combining rows: [Int], of other: RecordBatch) {
        precondition(other.columnCount == columnCount, "the other batch has other columns")
        beginRecord()
        for slot in 0..<columnCount {
            for row in rows.reversed() {
                var cell = other.cell(row, slot)
                guard cell.kind != .absent else { continue }
                if cell.isInArena {
                    let start = arena.count
                    arena.append(contentsOf: other.arena[cell.offset..<(cell.offset + cell.length)])
                    cell = Cell(cell.kind, offset: start, length: cell.length)
                }
                set(cell, at: slot)
                break
            }
        }
        endRecord()
    }

    @usableFromInline
    mutating func set(_ cell: Cell, at slot: Int) {
        precondition(slot >= 0 && slot < columnCount, "there is no such slot")
        cells[openCell + slot] = cell
    }

    private mutating func setBytes(_ bytes: UnsafeBufferPointer<UInt8>, _ kind: RecordBatch.CellKind, at slot: Int) {
        let start = arena.count
        arena.append(contentsOf: bytes)
        set(Cell(kind, offset: start, length: bytes.count), at: slot)
    }

    func cell(_ row: Int, _ slot: Int) -> Cell {
        precondition(row >= 0 && row < count && slot >= 0 && slot < columnCount, "there is no such cell")
        return cells[row * columnCount + slot]
    }
}

extension String {
    func withUTF8Bytes<R>(_ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        var text = self
        return text.withUTF8(body)
    }
}
