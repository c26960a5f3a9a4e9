#if Postgres
import SyncModel

/// Receives the rows of a batch, cell by cell, in one of the forms in which they can be sent.
protocol PostgresCells: AnyObject {
    /// Begins a row.
    func beginRow(columnCount: Int)
    /// Adds a null.
    func addNull()
    /// Adds an integer with the width of its type.
    func add(_ number: some FixedWidthInteger)
    func add(_ number: Double)
    func add(_ number: Float)
    func add(_ bool: Bool)
    func add(_ moment: Timestamp)
    /// Adds a text.
    func addText(_ bytes: UnsafeBufferPointer<UInt8>)
    /// Adds a `bytea`.
    func addBinary(_ bytes: UnsafeBufferPointer<UInt8>)
    /// Adds a `uuid` of 16 bytes.
    func addUUID(_ bytes: UnsafeBufferPointer<UInt8>)
    /// Adds a `numeric`.
    ///
    /// - Parameter text: A decimal number in the form used in batches.
    func addNumeric(_ text: UnsafeBufferPointer<UInt8>)
    /// Adds a `jsonb`.
    ///
    /// - Parameter text: A JSON value in the form used in batches.
    func addJSON(_ text: UnsafeBufferPointer<UInt8>)
}

extension PostgresCells {
    /// Adds an object number, or null.
    func add(_ object: ObjectID?) {
        if let object { add(object) } else { addNull() }
    }

    /// Adds a cell without an intermediate copy.
    ///
    /// - Returns: False, with nothing added, for a value that a column of the type cannot store.
    @inline(__always)
    func add(_ reader: RecordBatch.Reader, row: Int, column: Int, as type: AttributeType) -> Bool {
        switch (reader.kind(row: row, column: column), type) {
        case (.null, _), (.absent, _): addNull()
        case (.int, .int64): add(reader.int(row: row, column: column))
        case (.string, .string), (.uri, .uri): addText(reader.bytes(row: row, column: column))
        case (.date, .date):
            let moment = reader.date(row: row, column: column)
            guard PostgresText.holds(moment) else { return false }
            add(moment)
        case (.double, .double):
            let number = reader.double(row: row, column: column)
            if number.isNaN { addNull() } else { add(number) }
        case (.bool, .bool): add(reader.bool(row: row, column: column))
        case (.int, .int32):
            guard let number = Int32(exactly: reader.int(row: row, column: column)) else { return false }
            add(number)
        case (.int, .int16):
            guard let number = Int16(exactly: reader.int(row: row, column: column)) else { return false }
            add(number)
        case (.double, .float):
            let number = reader.double(row: row, column: column)
            if number.isNaN { addNull() } else { add(Float(number)) }
        case (.decimal, .decimal): addNumeric(reader.bytes(row: row, column: column))
        case (.binary, .binary), (.binary, .transformable): addBinary(reader.bytes(row: row, column: column))
        case (.uuid, .uuid): addUUID(reader.bytes(row: row, column: column))
        case (.json, .json): addJSON(reader.bytes(row: row, column: column))
        default: return false
        }
        return true
    }

    /// Adds a value.
    ///
    /// - Returns: False, with nothing added, for a value that a column of the type cannot store.
    func add(_ value: AttributeValue, as type: AttributeType) -> Bool {
        guard !value.isNull else {
            addNull()
            return true
        }
        var batch = RecordBatch(columnCount: 1)
        batch.beginRecord()
        batch.setValue(value, at: 0)
        batch.endRecord()
        return batch.withReader { add($0, row: 0, column: 0, as: type) }
    }
}
#endif
