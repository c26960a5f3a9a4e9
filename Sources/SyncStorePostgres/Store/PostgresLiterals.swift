#if Postgres
import SyncModel
import SyncStoreSQL

/// The rows of a small batch as literals of a `VALUES` list.
///
/// They are sent with the statements that use them. The data of a COPY can be sent only after the
/// server has answered the statement.
final class PostgresLiterals: PostgresCells {
    /// The maximum size of a batch, by `RecordBatch.byteCount`. The server reads literals more
    /// slowly than a COPY: 32 KiB in about 0.5 ms more, the time of a message to a near server.
    static func byteLimit(isFar: Bool) -> Int {
        isFar ? 1 << 22 : 1 << 15
    }

    private var bytes: [UInt8] = []
    private var isRowEmpty = true

    /// The list, such as `(1,'Ada'),(2,NULL)`.
    var list: String {
        String(decoding: bytes, as: UTF8.self) + (bytes.isEmpty ? "" : ")")
    }

    func beginRow(columnCount: Int) {
        append(bytes.isEmpty ? "(" : "),(")
        isRowEmpty = true
    }

    // MARK: Cells

    func addNull() { addTerm("NULL") }
    // In quotes, because the parser would take `-32768` for a number that is out of range, negated.
    func add(_ number: some FixedWidthInteger) { addLiteral(number.description) }
    func add(_ number: Double) { addLiteral(number.description) }
    func add(_ number: Float) { addLiteral(number.description) }
    func add(_ bool: Bool) { addTerm(bool ? "TRUE" : "FALSE") }
    func add(_ moment: Timestamp) { addLiteral(PostgresText.moment(moment)) }

    /// Adds a text in its stored form. Backslashes are escaped whatever the session's
    /// `standard_conforming_strings`.
    func addText(_ text: UnsafeBufferPointer<UInt8>) {
        beginCell()
        append(text.contains(UInt8(ascii: "\\")) ? "E'" : "'")
        for byte in text {
            if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\\") { bytes.append(byte) }
            PostgresText.append(byte, to: &bytes)
        }
        append("'")
    }

    func addBinary(_ bytes: UnsafeBufferPointer<UInt8>) { addTerm("E'\\\\x\(SQLText.hexadecimal(bytes))'") }
    func addUUID(_ bytes: UnsafeBufferPointer<UInt8>) { addLiteral(SQLText.hexadecimal(bytes)) }
    func addNumeric(_ text: UnsafeBufferPointer<UInt8>) { addLiteral(String(decoding: text, as: UTF8.self)) }

    func addJSON(_ text: UnsafeBufferPointer<UInt8>) {
        // A stored form has no special byte: these are escapes in JSON.
        PostgresText.withKept(json: text, addText)
    }

    // MARK: Text

    /// Adds a text without quotes and special bytes.
    private func addLiteral(_ text: String) { addTerm("'\(text)'") }

    private func addTerm(_ text: String) {
        beginCell()
        append(text)
    }

    private func beginCell() {
        if !isRowEmpty { append(",") }
        isRowEmpty = false
    }

    private func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }
}
#endif
