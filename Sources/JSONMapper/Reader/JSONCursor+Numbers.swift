extension JSONCursor {
    /// Reads a number.
    ///
    /// - Returns: The number with its text and its exact parts. The text is valid only while the
    ///   cursor is.
    /// - Throws: ``JSONFault`` if another kind of value comes next, or if the number is malformed
    ///   (RFC 8259, section 6).
    @inline(__always)
    package mutating func readNumber() throws(JSONFault) -> JSONNumber {
        let first = try significant()
        guard first == ASCII.minus || ASCII.isDigit(first) else { throw mismatch(.notANumber) }
        return try scanNumber()
    }

    /// Scans a number. The next byte must be a minus sign or a digit.
    @inline(__always)
    mutating func scanNumber() throws(JSONFault) -> JSONNumber {
        let start = position
        let isNegative = start.pointee == ASCII.minus
        var cursor = isNegative ? start + 1 : start
        var mantissa: UInt64 = 0
        let firstDigit = cursor
        scanDigits(&cursor, &mantissa)
        var digitCount = cursor - firstDigit
        guard digitCount > 0, digitCount == 1 || firstDigit.pointee != ASCII.zero else {
            throw numberFault(at: cursor, digitCount: digitCount)
        }
        var exponent = 0
        var isInteger = true
        if cursor < end, cursor.pointee == ASCII.dot {
            isInteger = false
            cursor += 1
            let firstFraction = cursor
            scanDigits(&cursor, &mantissa)
            exponent = firstFraction - cursor
            guard exponent < 0 else { throw numberFault(at: cursor, digitCount: 0) }
            digitCount -= exponent
        }
        if cursor < end, cursor.pointee | 0x20 == ASCII.e {
            isInteger = false
            exponent += try scanExponent(&cursor)
        }
        if cursor == end, !endIsFinal { throw endFault() }
        position = cursor
        needsComma = true
        var isTruncated = false
        if digitCount > 19 {
            let leading = Self.leadingDigits(firstDigit, cursor)
            mantissa = leading.mantissa
            exponent += leading.droppedCount
            isTruncated = leading.isTruncated
        }
        return JSONNumber(
            text: JSONSlice(start: start, count: cursor - start, isEscaped: false), isInteger: isInteger,
            isNegative: isNegative, mantissa: mantissa, exponent: exponent, isTruncated: isTruncated)
    }

    /// Appends the digits at the cursor to the mantissa, which wraps around on overflow.
    @inline(__always)
    private func scanDigits(_ cursor: inout UnsafePointer<UInt8>, _ mantissa: inout UInt64) {
        while cursor < end {
            let digit = cursor.pointee &- ASCII.zero
            guard digit < 10 else { return }
            mantissa = mantissa &* 10 &+ UInt64(digit)
            cursor += 1
        }
    }

    /// Scans an exponent and clamps it to ±100,000, which is beyond the exponent of every finite
    /// double.
    @inline(never)
    private mutating func scanExponent(_ cursor: inout UnsafePointer<UInt8>) throws(JSONFault) -> Int {
        cursor += 1
        var isNegative = false
        if cursor < end, cursor.pointee == ASCII.minus || cursor.pointee == ASCII.plus {
            isNegative = cursor.pointee == ASCII.minus
            cursor += 1
        }
        let firstDigit = cursor
        var value = 0
        while cursor < end, ASCII.isDigit(cursor.pointee) {
            value = min(value * 10 + Int(cursor.pointee &- ASCII.zero), 100_000)
            cursor += 1
        }
        guard cursor > firstDigit else { throw numberFault(at: cursor, digitCount: 0) }
        return isNegative ? -value : value
    }

    /// Reads as many of the digits before the exponent, without the decimal point, as fit in 64
    /// bits.
    ///
    /// - Returns: The digits, the number of those that do not fit, and whether one of the latter is
    ///   not zero.
    @inline(never)
    private static func leadingDigits(
        _ first: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>
    ) -> (mantissa: UInt64, droppedCount: Int, isTruncated: Bool) {
        var mantissa: UInt64 = 0
        var droppedCount = 0
        var isTruncated = false
        var cursor = first
        while cursor < end, cursor.pointee | 0x20 != ASCII.e {
            defer { cursor += 1 }
            guard ASCII.isDigit(cursor.pointee) else { continue }
            let digit = UInt64(cursor.pointee &- ASCII.zero)
            let (product, overflow) = mantissa.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(digit)
            if droppedCount == 0, !overflow, !carry {
                mantissa = sum
            } else {
                droppedCount += 1
                if digit != 0 { isTruncated = true }
            }
        }
        return (mantissa, droppedCount, isTruncated)
    }

    /// The fault for a missing digit or, if there are digits, for a superfluous leading zero.
    @inline(never)
    private mutating func numberFault(at place: UnsafePointer<UInt8>, digitCount: Int) -> JSONFault {
        if place == end, digitCount == 0 { return endFault() }
        return JSONFault(.invalidNumber, byteOffset: (digitCount == 0 ? place : place - digitCount) - base)
    }
}
