/// The rows a benchmark prints: a table for people, or one JSON object per line.
public struct BenchmarkReport {
    /// What else is worth knowing about a row.
    public enum Field: Sendable, Equatable {
        /// A whole number.
        case integer(Int)
        /// A measure, printed with four significant digits.
        case number(Double)
        /// A word or two.
        case text(String)
    }

    /// One measured case.
    public struct Row: Sendable {
        /// Name of the case, unique in its report.
        public var name: String
        /// How many things were handled in one run.
        public var n: Int
        /// Median of the runs, in seconds.
        public var seconds: Double
        /// This case's seconds over those of `against`; nil where it is compared with nothing.
        public var ratio: Double?
        /// Name of the floor or the peer that `ratio` is taken against, measured in the same run,
        /// in turns.
        public var against: String?
        /// Highest resident memory of a process that ran this case alone; nil where it was not
        /// measured.
        public var peakMemoryBytes: Int?
        /// What else is worth knowing, in the order it is printed.
        public var extra: [(name: String, value: Field)]

        /// Makes a row; what is left out stays empty.
        public init(
            name: String, n: Int, seconds: Double, ratio: Double? = nil, against: String? = nil,
            peakMemoryBytes: Int? = nil, extra: [(name: String, value: Field)] = []
        ) {
            self.name = name
            self.n = n
            self.seconds = seconds
            self.ratio = ratio
            self.against = against
            self.peakMemoryBytes = peakMemoryBytes
            self.extra = extra
        }
    }

    private let printsJSON: Bool
    private var hasPrintedHead = false

    /// Makes a report that prints each row as soon as it is added.
    public init(options: BenchmarkOptions) {
        printsJSON = options.printsJSON
    }

    /// Prints one row.
    public mutating func add(_ row: Row) {
        if printsJSON {
            print(Self.jsonLine(row))
            return
        }
        if !hasPrintedHead {
            hasPrintedHead = true
            print(Self.line(["case", "n", "seconds", "ratio", "against", "peak MB", ""]))
        }
        let extra = row.extra.map { "\($0.name)=\(Self.text($0.value))" }.joined(separator: " ")
        print(
            Self.line([
                row.name, String(row.n), Self.significant(row.seconds), row.ratio.map(Self.significant) ?? "",
                row.against ?? "", row.peakMemoryBytes.map { Self.significant(Double($0) / 1e6) } ?? "", extra,
            ]))
    }

    /// Adds a row per measurement; those of the same group are compared with the one named
    /// `against`.
    ///
    /// - Parameters:
    ///   - measurements: what ``measure(runs:warmup:_:)`` returned.
    ///   - against: name of the floor or the peer among them.
    ///   - extra: further fields of a measurement.
    public mutating func add(
        _ measurements: [Measurement], against: String? = nil,
        extra: (Measurement) -> [(name: String, value: Field)] = { _ in [] }
    ) {
        let base = measurements.first { $0.name == against }
        for measurement in measurements {
            let isCompared = base != nil && measurement.name != against
            add(
                Row(
                    name: measurement.name, n: measurement.n, seconds: measurement.seconds,
                    ratio: isCompared ? base.map { measurement.seconds / $0.seconds } : nil,
                    against: isCompared ? against : nil,
                    extra: [("cpu_seconds", .number(measurement.processorSeconds))]
                        + (isCompared
                            ? [("cpu_ratio", .number(measurement.processorSeconds / (base?.processorSeconds ?? 1)))]
                            : []) + extra(measurement)))
        }
    }

    /// Adds a row per measurement, with the rows per second and the spread; each is compared with
    /// the first.
    ///
    /// - Parameters:
    ///   - measurements: What ``measure(runs:warmup:_:)`` returned.
    ///   - extra: Further fields of a measurement, by its name.
    public mutating func addRates(
        of measurements: [Measurement], extra: (String) -> [(name: String, value: Field)] = { _ in [] }
    ) {
        add(measurements, against: measurements.first?.name) { item in
            [("rows/s", .number(Double(item.n) / item.seconds)), ("spread", .number(item.spread))] + extra(item.name)
        }
    }

    private static func jsonLine(_ row: Row) -> String {
        var fields = [
            "\"name\":\(quoted(row.name))", "\"n\":\(row.n)", "\"seconds\":\(row.seconds)",
            "\"ratio\":\(row.ratio.map { "\($0)" } ?? "null")",
            "\"against\":\(row.against.map(quoted) ?? "null")",
            "\"peak_memory_bytes\":\(row.peakMemoryBytes.map(String.init) ?? "null")",
        ]
        for (name, value) in row.extra {
            switch value {
            case .integer(let number): fields.append("\(quoted(name)):\(number)")
            case .number(let number): fields.append("\(quoted(name)):\(number)")
            case .text(let text): fields.append("\(quoted(name)):\(quoted(text))")
            }
        }
        return "{" + fields.joined(separator: ",") + "}"
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "\u{0}"..."\u{1F}": result += " "
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    private static func text(_ field: Field) -> String {
        switch field {
        case .integer(let number): String(number)
        case .number(let number): significant(number)
        case .text(let text): text
        }
    }

    /// Four significant digits, without an exponent.
    private static func significant(_ value: Double) -> String {
        guard value.isFinite, value != 0 else { return "\(value)" }
        var digits = 3
        var scaled = value.magnitude
        while scaled >= 10, digits > 0 { (scaled, digits) = (scaled / 10, digits - 1) }
        while scaled < 1, digits < 12 { (scaled, digits) = (scaled * 10, digits + 1) }
        var power = 1.0
        for _ in 0..<digits { power *= 10 }
        let rounded = (value.magnitude * power).rounded()
        guard rounded < 1e18 else { return "\(value)" }
        let whole = String(Int(rounded))
        let padded = String(repeating: "0", count: max(0, digits + 1 - whole.count)) + whole
        let sign = value < 0 ? "-" : ""
        return digits == 0 ? sign + padded : sign + padded.dropLast(digits) + "." + padded.suffix(digits)
    }

    private static func line(_ cells: [String]) -> String {
        let widths = [34, 9, 11, 9, 28, 8, 0]
        return zip(cells, widths).map { cell, width in
            cell + String(repeating: " ", count: max(1, width - cell.count))
        }.joined()
    }
}
