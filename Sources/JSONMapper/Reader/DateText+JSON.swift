package import SyncModel

extension DateText {
    /// Reads the date in a JSON string, as microseconds since 1970; nil if it is not a date.
    @inline(__always)
    package static func microseconds(_ slice: JSONSlice) -> Int64? {
        slice.isEscaped ? slice.withUTF8 { microseconds($0) } : microseconds(slice.bytes)
    }

    /// Reads a number as a Unix timestamp, in microseconds since 1970, rounded down; nil if it is
    /// outside the years 0000 to 9999.
    package static func microseconds(_ number: JSONNumber) -> Int64? {
        microseconds(
            mantissa: number.mantissa, exponent: number.exponent, isNegative: number.isNegative,
            isTruncated: number.isTruncated)
    }
}
