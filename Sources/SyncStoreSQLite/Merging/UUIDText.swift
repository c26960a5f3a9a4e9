/// UUIDs as text.
enum UUIDText {
    static let byteCount = 36

    /// Writes 16 bytes as upper-case hexadecimal digits with hyphens.
    static func write(_ uuid: UnsafeBufferPointer<UInt8>, to bytes: UnsafeMutablePointer<UInt8>) {
        var index = 0
        for (place, byte) in uuid.enumerated() {
            if place == 4 || place == 6 || place == 8 || place == 10 {
                bytes[index] = UInt8(ascii: "-")
                index += 1
            }
            bytes[index] = digit(byte >> 4)
            bytes[index + 1] = digit(byte & 15)
            index += 2
        }
    }

    private static func digit(_ number: UInt8) -> UInt8 {
        number < 10 ? 48 + number : 55 + number
    }
}
