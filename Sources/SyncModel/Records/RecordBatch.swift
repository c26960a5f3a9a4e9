public import Foundation

/// A compact buffer of records of one entity, filled by a mapper and read by a store.
///
/// Each record is a row of *cells*, one per column. The columns of a batch with an entity are the
/// attributes of the entity. A cell takes 16 bytes. Text and bytes of all rows are stored one after
/// another in a shared *arena*, so that no value needs an allocation of its own. A `Record` is
/// created only on request.
///
/// To fill a batch, open a row, set its known cells in any order, and close or discard the row:
///
///     var batch = RecordBatch(of: layout)
///     batch.beginRecord()
///     batch.setInt(7, at: 0)
///     batch.setString(utf8, at: 1)
///     batch.endRecord()
///
/// A cell that is not set is *absent*, which differs from null: a store keeps its value for an
/// absent cell, and clears it for a null cell. The last value set for a cell counts.
///
/// Integers and doubles are stored in the cell, as are dates, in microseconds since 1970 (see
/// `Timestamp`). Texts and URIs are stored as unchecked UTF-8, decimals and JSON values as text in
/// a canonical form that equal values share, and UUIDs as 16 bytes.
///
/// Setters require an open row and an existing column. Violations are programming errors and stop
/// the program.
public struct RecordBatch: Sendable {
    /// The entity of the records; nil if the caller defines the columns.
    public let layout: EntityLayout?
    /// The number of cells in a row.
    public let columnCount: Int
    /// The number of closed rows.
    public private(set) var count = 0

    @usableFromInline var cells: [Cell] = []
    @usableFromInline var arena: [UInt8] = []
    /// The start of the open row's cells and arena bytes; equal to the ends if no row is open.
    @usableFromInline var openCell = 0
    @usableFromInline var openByte = 0

    /// Creates an empty batch with a column for each attribute of an entity.
    public init(of layout: EntityLayout) {
        self.layout = layout
        columnCount = layout.attributes.count
    }

    /// Creates an empty batch without an entity, whose columns the caller defines.
    public init(columnCount: Int) {
        layout = nil
        self.columnCount = columnCount
    }

    /// Whether the batch has no closed rows.
    public var isEmpty: Bool {
        count == 0
    }

    /// The size of cells and arena in bytes, for limiting the size of batches.
    public var byteCount: Int {
        cells.count * MemoryLayout<Cell>.stride + arena.count
    }

    /// The number of bytes of the text and binary values.
    package var contentByteCount: Int { arena.count }

    /// Reserves memory for more rows.
    ///
    /// - Parameters:
    ///   - rowCount: The number of rows to be added.
    ///   - byteCount: The total number of bytes of their text and binary values.
    public mutating func reserveCapacity(rowCount: Int, byteCount: Int) {
        cells.reserveCapacity(cells.count + rowCount * columnCount)
        arena.reserveCapacity(arena.count + byteCount)
    }

    /// Removes all rows, the open one included.
    ///
    /// - Parameter keepingCapacity: Whether to keep the memory for new rows; false by default.
    public mutating func removeAll(keepingCapacity: Bool = false) {
        cells.removeAll(keepingCapacity: keepingCapacity)
        arena.removeAll(keepingCapacity: keepingCapacity)
        count = 0
        openCell = 0
        openByte = 0
    }

    // MARK: Rows

    /// Opens a row whose cells are all absent. Discards a row that is still open.
    public mutating func beginRecord() {
        discardRecord()
        cells.append(contentsOf: repeatElement(Cell.absent, count: columnCount))
    }

    /// Closes the open row, which becomes the last row of the batch. A row must be open.
    public mutating func endRecord() {
        precondition(cells.count - openCell == columnCount, "no row is open")
        count += 1
        openCell = cells.count
        openByte = arena.count
    }

    /// Discards the open row with its bytes; does nothing if no row is open.
    public mutating func discardRecord() {
        guard cells.count > openCell else { return }
        cells.removeLast(cells.count - openCell)
        arena.removeLast(arena.count - openByte)
    }

    /// Removes closed rows from the end, and discards the open row.
    ///
    /// - Parameter rowCount: The number of rows to keep, at most `count`.
    public mutating func truncate(to rowCount: Int) {
        precondition(rowCount >= 0 && rowCount <= count, "more rows than there are")
        discardRecord()
        guard rowCount < count else { return }
        // Arena bytes are in row order: the bytes of the kept rows end at the first removed byte.
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
    public mutating func setNull(at column: Int) {
        set(Cell(.null, payload: 0), at: column)
    }

    /// Sets a cell to a Boolean value.
    @inlinable
    public mutating func setBool(_ flag: Bool, at column: Int) {
        set(Cell(.bool, payload: flag ? 1 : 0), at: column)
    }

    /// Sets a cell to an integer.
    @inlinable
    public mutating func setInt(_ number: Int64, at column: Int) {
        set(Cell(.int, payload: UInt64(bitPattern: number)), at: column)
    }

    /// Sets a cell to a floating-point number.
    @inlinable
    public mutating func setDouble(_ number: Double, at column: Int) {
        // Not every database keeps the sign of a zero.
        set(Cell(.double, payload: (number + 0).bitPattern), at: column)
    }

    /// Sets a cell to a point in time.
    @inlinable
    public mutating func setDate(_ moment: Timestamp, at column: Int) {
        set(Cell(.date, payload: UInt64(bitPattern: moment.microseconds)), at: column)
    }

    /// Sets a cell to a text.
    ///
    /// - Parameters:
    ///   - utf8: The text as valid UTF-8, which is copied.
    ///   - column: The column of the attribute.
    @inlinable
    public mutating func setString(_ utf8: UnsafeBufferPointer<UInt8>, at column: Int) {
        setBytes(utf8, .string, at: column)
    }

    /// Sets a cell to a URI.
    ///
    /// - Parameters:
    ///   - utf8: The URI's text as valid UTF-8, which is copied.
    ///   - column: The column of the attribute.
    public mutating func setURI(_ utf8: UnsafeBufferPointer<UInt8>, at column: Int) {
        setBytes(utf8, .uri, at: column)
    }

    /// Sets a cell to bytes, which are copied.
    public mutating func setBinary(_ bytes: UnsafeBufferPointer<UInt8>, at column: Int) {
        setBytes(bytes, .binary, at: column)
    }

    /// Sets a cell to a UUID.
    public mutating func setUUID(_ uuid: UUID, at column: Int) {
        withUnsafeBytes(of: uuid.uuid) { setBytes($0.assumingMemoryBound(to: UInt8.self), .uuid, at: column) }
    }

    /// Sets a cell to an exact decimal number.
    ///
    /// - Parameters:
    ///   - text: The number in the syntax of JSON; a leading plus sign and leading zeros are also
    ///     allowed.
    ///   - column: The column of the attribute.
    /// - Returns: True if the text is a number of at most 38 significant digits, whose powers of
    ///   ten are −127 to 127. Otherwise false, and the cell is unchanged.
    public mutating func setDecimal(_ text: UnsafeBufferPointer<UInt8>, at column: Int) -> Bool {
        setDecimal(text, within: .text, at: column)
    }

    private mutating func setDecimal(
        _ text: UnsafeBufferPointer<UInt8>, within limits: DecimalText.Limits, at column: Int
    ) -> Bool {
        let start = arena.count
        guard DecimalText.append(canonical: text, within: limits, to: &arena) else { return false }
        set(Cell(.decimal, offset: start, length: arena.count - start), at: column)
        return true
    }

    /// Sets a cell to a JSON value.
    ///
    /// - Parameters:
    ///   - text: One JSON value as valid UTF-8. A lone surrogate becomes U+FFFD.
    ///   - column: The column of the attribute.
    /// - Returns: True if the text is a JSON value within the limits of `CanonicalJSON`; JSON
    ///   `null` sets the cell to null. Otherwise false, and the cell is unchanged.
    public mutating func setJSON(_ text: UnsafeBufferPointer<UInt8>, at column: Int) -> Bool {
        setJSON(reading: text, at: column) != .failed
    }

    /// Sets a cell to a JSON value as ``setJSON(_:at:)`` does, and returns how it was read.
    package mutating func setJSON(
        reading text: UnsafeBufferPointer<UInt8>, at column: Int
    ) -> CanonicalJSONWriter.Reading {
        let start = arena.count
        let reading = CanonicalJSONWriter.append(canonical: text, to: &arena)
        guard reading != .failed else { return reading }
        if arena[start...].elementsEqual("null".utf8) {
            arena.removeLast(arena.count - start)
            setNull(at: column)
        } else {
            set(Cell(.json, offset: start, length: arena.count - start), at: column)
        }
        return reading
    }

    /// Sets a cell to a value of any kind; the setters for one kind are faster.
    ///
    /// A decimal that is not a number is set as null, as is JSON `null`.
    public mutating func setValue(_ value: AttributeValue, at column: Int) {
        switch value {
        case .null: setNull(at: column)
        case .bool(let flag): setBool(flag, at: column)
        case .int(let number): setInt(number, at: column)
        case .double(let number): setDouble(number, at: column)
        case .decimal(let number):
            let isSet = number.description.withUTF8Bytes { setDecimal($0, within: .decimal, at: column) }
            if !isSet {
                setNull(at: column)
            }
        case .string(let text): text.withUTF8Bytes { setString($0, at: column) }
        case .date(let moment): setDate(moment, at: column)
        case .binary(let data): data.withUnsafeBytes { setBinary($0.assumingMemoryBound(to: UInt8.self), at: column) }
        case .uuid(let uuid): setUUID(uuid, at: column)
        case .uri(let text): text.withUTF8Bytes { setURI($0, at: column) }
        case .json(let json) where json.isNull: setNull(at: column)
        case .json(let json): json.text.withUTF8Bytes { setBytes($0, .json, at: column) }
        }
    }

    /// Makes a cell absent again.
    package mutating func removeValue(at column: Int) {
        set(.absent, at: column)
    }

    /// Returns the kind of a cell in the open row; `.absent` if it was not set.
    @inlinable
    public func openKind(at column: Int) -> RecordBatch.CellKind {
        precondition(column >= 0 && column < columnCount, "there is no such column")
        return cells[openCell + column].kind
    }

    /// Appends a closed row with a copy of a row of another batch, which must have as many columns.
    public mutating func append(row: Int, of other: RecordBatch) {
        append(row: row, of: other) { _ in true }
    }

    /// Appends a closed row with some cells of a row of another batch; the others are absent.
    package mutating func append(row: Int, of other: RecordBatch, where isKept: (_ column: Int) -> Bool) {
        precondition(other.columnCount == columnCount, "the other batch has other columns")
        beginRecord()
        for column in 0..<columnCount where isKept(column) { copy(other.cell(row, column), of: other, at: column) }
        endRecord()
    }

    /// Appends a closed row that combines rows of another batch; the last cell that is present
    /// counts.
    package mutating func append(combining rows: [Int], of other: RecordBatch) {
        precondition(other.columnCount == columnCount, "the other batch has other columns")
        beginRecord()
        for column in 0..<columnCount {
            guard let row = rows.last(where: { other.cell($0, column).kind != .absent }) else { continue }
            copy(other.cell(row, column), of: other, at: column)
        }
        endRecord()
    }

    private mutating func copy(_ cell: Cell, of other: RecordBatch, at column: Int) {
        guard cell.isInArena else { return set(cell, at: column) }
        let start = arena.count
        arena.append(contentsOf: other.arena[cell.offset..<(cell.offset + cell.length)])
        set(Cell(cell.kind, offset: start, length: cell.length), at: column)
    }

    @inlinable
    @inline(__always)
    mutating func set(_ cell: Cell, at column: Int) {
        precondition(column >= 0 && column < columnCount, "there is no such column")
        cells[openCell + column] = cell
    }

    @usableFromInline
    mutating func setBytes(_ bytes: UnsafeBufferPointer<UInt8>, _ kind: RecordBatch.CellKind, at column: Int) {
        let start = arena.count
        arena.append(contentsOf: bytes)
        set(Cell(kind, offset: start, length: bytes.count), at: column)
    }

    func cell(_ row: Int, _ column: Int) -> Cell {
        precondition(row >= 0 && row < count && column >= 0 && column < columnCount, "there is no such cell")
        return cells[row * columnCount + column]
    }
}

extension String {
    func withUTF8Bytes<R>(_ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        var text = self
        return text.withUTF8(body)
    }
}
