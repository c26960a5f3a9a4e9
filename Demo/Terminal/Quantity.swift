/// Texts of quantities for people.
enum Quantity {
    /// Returns a text such as `12 ms`, `1.5 s` or `2 min 5 s`.
    static func time(_ duration: Duration) -> String {
        if duration < .seconds(1) { return "\(Int((duration / .milliseconds(1)).rounded())) ms" }
        let tenths = Int((duration / .milliseconds(100)).rounded())
        guard tenths >= 1_200 else { return "\(tenths / 10).\(tenths % 10) s" }
        return "\(tenths / 600) min \(tenths / 10 % 60) s"
    }

    /// Returns a text in megabytes, such as `1.3 MB`.
    static func megabytes(_ byteCount: Int) -> String {
        let tenths = (byteCount + 50_000) / 100_000
        return "\(tenths / 10).\(tenths % 10) MB"
    }

    /// Returns a text in the largest fitting unit, such as `812 bytes` or `1.3 MB`.
    static func bytes(_ byteCount: Int) -> String {
        switch byteCount {
        case ..<1_000: count(byteCount, "byte")
        case ..<100_000: "\(byteCount / 1_000).\(byteCount / 100 % 10) kB"
        default: megabytes(byteCount)
        }
    }

    /// Returns a text such as `1 object` or `1,200 objects`.
    static func count(_ number: Int, _ noun: String) -> String {
        "\(grouped(number)) \(noun)\(number == 1 ? "" : "s")"
    }

    /// Returns a number with commas between groups of three digits.
    static func grouped(_ number: Int) -> String {
        var digits = ""
        for (index, digit) in String(number.magnitude).reversed().enumerated() {
            if index > 0, index % 3 == 0 { digits.append(",") }
            digits.append(digit)
        }
        return (number < 0 ? "-" : "") + String(digits.reversed())
    }
}
