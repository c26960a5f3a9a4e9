extension String {
    /// Returns the text with an ASCII character replaced wherever its byte occurs.
    ///
    /// For text that another language reads. `replacing(_:with:)` compares whole characters: it
    /// does not find a quotation mark that a combining accent follows, and SQL and shells do.
    package func replacing(byte: UInt8, with replacement: String) -> String {
        // Most texts do not have it.
        guard utf8.contains(byte) else { return self }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count + replacement.utf8.count)
        for other in utf8 {
            if other == byte { bytes += replacement.utf8 } else { bytes.append(other) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
