import OneWaySynchronizer
import SyncModel

/// A parser of command lines with options, their values, and operands in any order.
///
/// `--name VALUE` and `--name=VALUE` are equivalent. All arguments after `--` are operands.
struct ArgumentScanner {
    enum Argument: Equatable {
        case option(String)
        case operand(String)
    }

    private let topic: Usage.Topic
    private var rest: ArraySlice<String>
    /// The text after the `=` of the last option.
    private var attachedValue: String?
    private var seenOptions: Set<String> = []
    private var takesOperandsOnly = false
    /// The options that may be repeated.
    private let repeatable: Set<String>

    init(_ arguments: [String], topic: Usage.Topic, repeatable: Set<String> = []) {
        self.rest = arguments[...]
        self.topic = topic
        self.repeatable = repeatable
    }

    /// Returns the next option or operand; nil at the end.
    ///
    /// - Throws: ``UsageError`` for a repeated option that must not be repeated.
    mutating func next() throws(UsageError) -> Argument? {
        guard let text = rest.popFirst() else { return nil }
        if takesOperandsOnly || !text.hasPrefix("-") || text == "-" { return .operand(text) }
        if text == "--" {
            takesOperandsOnly = true
            return try next()
        }
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        attachedValue = parts.count == 2 ? parts[1] : nil
        guard seenOptions.insert(parts[0]).inserted || repeatable.contains(parts[0]) else {
            throw error("\(parts[0]) is given twice")
        }
        return .option(parts[0])
    }

    /// Reads the value of the last option.
    ///
    /// - Parameters:
    ///   - option: The option, for the message.
    ///   - expectation: A description of valid values, for the message.
    ///   - convert: Converts the text; returns nil for an invalid value.
    mutating func value<Value>(
        of option: String, as expectation: String, _ convert: (String) -> Value?
    ) throws(UsageError) -> Value {
        guard let text = attachedValue ?? rest.popFirst() else { throw error("\(option) needs \(expectation)") }
        guard let value = convert(text) else { throw error("\(option) needs \(expectation), not '\(text)'") }
        return value
    }

    /// Checks that the last option has no value.
    func noValue(of option: String) throws(UsageError) {
        if let attachedValue { throw error("\(option) takes no value; got '\(attachedValue)'") }
    }

    func error(_ message: String) -> UsageError {
        UsageError(message, topic: topic)
    }

    // MARK: Values of several commands

    /// Reads the nonempty text that follows an option.
    mutating func text(of option: String, as expectation: String) throws(UsageError) -> String {
        try value(of: option, as: expectation) { $0.isEmpty ? nil : $0 }
    }

    /// Reads a named value.
    ///
    /// - Parameter names: The values by name, in the order in which a message lists them.
    mutating func choice<Value>(
        of option: String, among names: KeyValuePairs<String, Value>
    ) throws(UsageError) -> Value {
        let list = names.map(\.key).joined(separator: ", ")
        return try value(of: option, as: "one of \(list)") { text in names.first { $0.key == text }?.value }
    }

    /// Reads an interval between passes: a number of seconds, or a number with the suffix `s`, `m`
    /// or `h`.
    mutating func interval(of option: String) throws(UsageError) -> Duration {
        try value(of: option, as: "a time from 0.1s to 8760h, such as 60s, 5m or 2h") { text in
            let units: [Character: Double] = ["s": 1, "m": 60, "h": 3_600]
            let unit = text.last.flatMap { units[$0] }
            guard let number = Double(unit == nil ? text : String(text.dropLast())) else { return nil }
            let seconds = number * (unit ?? 1)
            return (0.1...31_536_000).contains(seconds) ? .milliseconds(Int64(seconds * 1_000)) : nil
        }
    }

    /// Reads a limit on removals: a number, or a percentage.
    mutating func removalLimit(of option: String) throws(UsageError) -> RemovalLimit {
        try value(of: option, as: "a number such as 10, or a share such as 20%") { text in
            if let percent = text.hasSuffix("%") ? Double(text.dropLast()) : nil {
                return (0...100).contains(percent) ? RemovalLimit(fraction: percent / 100) : nil
            }
            return Int(text).flatMap { $0 >= 0 ? RemovalLimit(count: $0) : nil }
        }
    }

    /// Reads a predicate on objects.
    mutating func predicate(of option: String) throws(UsageError) -> RecordPredicate {
        let text = try text(of: option, as: "a condition such as 'age >= 18'")
        do {
            return try RecordPredicate(parsing: text)
        } catch {
            throw self.error("\(option): \(error)")
        }
    }
}
