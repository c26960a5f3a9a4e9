package import SyncModel

/// Moments as text of a fixed length, and back.
package enum DateText {
    /// The length of a moment's text.
    package static let byteCount = 27
    /// The microseconds from the first moment of the year 0 to the last of 9999, which have a text.
    private static let textRange: ClosedRange<Int64> = -62_167_219_200_000_000...253_402_300_799_999_999

    /// The text of a moment; nil for a moment outside of the years 0 to 9999.
    package static func text(_ moment: Timestamp) -> String? {
        var isWritten = false
        let text = String(unsafeUninitializedCapacity: byteCount) { buffer in
            guard let start = buffer.baseAddress else { return 0 }
            isWritten = write(moment, to: start)
            return isWritten ? byteCount : 0
        }
        return isWritten ? text : nil
    }

    /// Writes the text of a moment.
    ///
    /// - Parameter bytes: Room for ``byteCount`` bytes.
    /// - Returns: False, with nothing written, for a moment outside of the years 0 to 9999.
    package static func write(_ moment: Timestamp, to bytes: UnsafeMutablePointer<UInt8>) -> Bool {
        guard textRange.contains(moment.microseconds) else { return false }
        // From the start of the year 0 on, all is positive.
        let elapsed = moment.microseconds - textRange.lowerBound
        let (days, dayMicroseconds) = elapsed.quotientAndRemainder(dividingBy: 86_400_000_000)
        // Years are counted from March, so that the leap day ends one; day 0 is the first of March of the year -400.
        let shifted = Int(days) + 146_097 - 60
        let cycle = shifted / 146_097
        let dayOfCycle = shifted - cycle * 146_097
        let yearOfCycle = (dayOfCycle - dayOfCycle / 1460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
        let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfCycle + cycle * 400 - 400 + (month <= 2 ? 1 : 0)
        let (seconds, fraction) = Int(dayMicroseconds).quotientAndRemainder(dividingBy: 1_000_000)
        put(year / 100, bytes)
        put(year % 100, bytes + 2)
        bytes[4] = UInt8(ascii: "-")
        put(month, bytes + 5)
        bytes[7] = UInt8(ascii: "-")
        put(dayOfYear - (153 * marchMonth + 2) / 5 + 1, bytes + 8)
        bytes[10] = UInt8(ascii: "T")
        put(seconds / 3600, bytes + 11)
        bytes[13] = UInt8(ascii: ":")
        put(seconds / 60 % 60, bytes + 14)
        bytes[16] = UInt8(ascii: ":")
        put(seconds % 60, bytes + 17)
        bytes[19] = UInt8(ascii: ".")
        put(fraction / 10_000, bytes + 20)
        put(fraction / 100 % 100, bytes + 22)
        put(fraction % 100, bytes + 24)
        bytes[26] = UInt8(ascii: "Z")
        return true
    }

    /// Reads a moment from what ``write(_:to:)`` writes, and from its shorter forms that other programs write: a space for the `T`,
    /// fewer digits of a second, no seconds, no time, no `Z` (which is UTC all the same).
    package static func read(_ bytes: UnsafeBufferPointer<UInt8>) -> Timestamp? {
        guard let year = number(bytes, 0..<4), let month = number(bytes, 5..<7), let day = number(bytes, 8..<10),
            (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        var seconds = 0
        var index = 10
        if bytes.count > index, bytes[index] == UInt8(ascii: "T") || bytes[index] == UInt8(ascii: " ") {
            guard let hour = number(bytes, 11..<13), let minute = number(bytes, 14..<16) else { return nil }
            seconds = hour * 3600 + minute * 60
            index = 16
            if bytes.count > index, bytes[index] == UInt8(ascii: ":") {
                guard let second = number(bytes, 17..<19) else { return nil }
                seconds += second
                index = 19
            }
        }
        var fraction = 0
        if index < bytes.count, bytes[index] == UInt8(ascii: ".") {
            index += 1
            var unit = 100_000
            while index < bytes.count, let digit = digit(bytes[index]) {
                fraction += digit * unit
                unit /= 10
                index += 1
            }
        }
        guard index == bytes.count || (index == bytes.count - 1 && bytes[index] == UInt8(ascii: "Z")) else {
            return nil
        }
        let marchYear = (month <= 2 ? year - 1 : year) + 400
        let marchMonth = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * marchMonth + 2) / 5 + day - 1
        let days =
            marchYear * 365 + marchYear / 4 - marchYear / 100 + marchYear / 400 + dayOfYear - 719_468 - 146_097
        return Timestamp(microseconds: Int64((days * 86_400 + seconds) * 1_000_000 + fraction))
    }

    private static func put(_ number: Int, _ bytes: UnsafeMutablePointer<UInt8>) {
        bytes[0] = UInt8(truncatingIfNeeded: 48 + number / 10)
        bytes[1] = UInt8(truncatingIfNeeded: 48 + number % 10)
    }

    private static func digit(_ byte: UInt8) -> Int? {
        byte >= 48 && byte <= 57 ? Int(byte) - 48 : nil
    }

    private static func number(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Int? {
        guard range.upperBound <= bytes.count else { return nil }
        var number = 0
        for index in range {
            guard let digit = digit(bytes[index]) else { return nil }
            number = number * 10 + digit
        }
        return number
    }
}
