extension String {
    /// Returns the text with an ASCII character replaced wherever its byte occurs.
    ///
    /// For text that SQL or a shell reads. `replacing(_:with:)` compares whole characters, so it
    /// misses a quotation mark followed by a combining accent, which SQL and shells recognize.
    package func replacing(byte: UInt8, with replacement: String) -> String {
        // Most texts do not contain the byte.
        guard utf8.contains(byte) else { return self }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count + replacement.utf8.count)
        for other in utf8 {
            if other == byte { bytes += replacement.utf8 } else { bytes.append(other) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
