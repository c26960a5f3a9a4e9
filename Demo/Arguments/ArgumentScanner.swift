import Foundation
import HTTPTransfer
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
    /// The option that named the layout of JSON, if any.
    var layoutOption: String?
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
    /// Assign the result to a constant whose type is stated and not optional. For an optional
    /// variable, `Value` can be inferred as optional, and an invalid value is then taken as nil.
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

    /// The error for an option that the command does not have, with the most similar one.
    func unknownOption(_ name: String) -> UsageError {
        error("unknown option '\(name)'\(Suggestion.text(for: name, among: Usage.options(of: topic)))")
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

    /// A number of requests per second.
    mutating func rate(of option: String) throws(UsageError) -> Double {
        try value(of: option, as: "requests per second, such as 10/s") { text in
            let number = Double(text.hasSuffix("/s") ? String(text.dropLast(2)) : text)
            return number.flatMap { (0.001...1_000_000).contains($0) ? $0 : nil }
        }
    }

    /// Takes header fields: `--header 'NAME: TEXT'`, `--header @FILE` with a field per line, or
    /// `--header-env NAME=VARIABLE`. Values may be secrets: no message repeats them.
    ///
    /// - Returns: Whether the option is one of these.
    mutating func takeHeaders(of option: String, into headers: inout HTTPHeaders) throws(UsageError) -> Bool {
        switch option {
        case "--header":
            let expectation = "a field such as 'Accept-Language: en', or @FILE with a field per line"
            let text = try text(of: option, as: expectation)
            guard text.hasPrefix("@") else {
                guard Self.add(text, to: &headers) else { throw error("--header needs \(expectation)") }
                return true
            }
            guard let file = try? String(contentsOfFile: String(text.dropFirst()), encoding: .utf8) else {
                throw error("--header: cannot read \(text.dropFirst())")
            }
            for (index, line) in file.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated()
            {
                let isBlank = line.allSatisfy(\.isWhitespace)
                guard isBlank || Self.add(String(line), to: &headers) else {
                    throw error("--header: line \(index + 1) of \(text.dropFirst()) is not a field")
                }
            }
        case "--header-env":
            let text = try text(of: option, as: "NAME=VARIABLE, such as Authorization=API_TOKEN")
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw error("--header-env needs NAME=VARIABLE") }
            guard let value = ProcessInfo.processInfo.environment[parts[1]] else {
                throw error("--header-env: there is no variable \(parts[1])")
            }
            guard Self.add("\(parts[0]): \(value)", to: &headers) else {
                throw error("--header-env: \(parts[0]) and \(parts[1]) make no field")
            }
        default: return false
        }
        return true
    }

    private static func add(_ text: String, to headers: inout HTTPHeaders) -> Bool {
        guard let colon = text.firstIndex(of: ":"), colon > text.startIndex, !text.contains(where: \.isNewline) else {
            return false
        }
        headers[String(text[..<colon])] = text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        return true
    }

    /// A number, or a share with a percent sign.
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

    /// Reads the criteria of an order, such as `year desc, title`.
    mutating func ordering(of option: String) throws(UsageError) -> [Ordering] {
        try value(of: option, as: "properties such as 'year desc, title'") { text in
            var ordering: [Ordering] = []
            for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                var words = part.split(whereSeparator: \.isWhitespace).map(String.init)
                var isDescending = false
                if words.count == 2, let order = ["asc": false, "desc": true][words[1].lowercased()] {
                    isDescending = order
                    words.removeLast()
                } else if let name = words.first, name.hasPrefix("-") {
                    isDescending = true
                    words[0] = String(name.dropFirst())
                }
                guard words.count == 1, !words[0].isEmpty else { return nil }
                // Null is the least value, as in SQLite.
                ordering.append(
                    Ordering(words[0], ascending: !isDescending, nulls: isDescending ? .last : .first))
            }
            return ordering
        }
    }

    /// Reads a whole number of at least 1.
    mutating func count(of option: String) throws(UsageError) -> Int {
        try value(of: option, as: "a whole number from 1") { text in Int(text).flatMap { $0 >= 1 ? $0 : nil } }
    }

    /// Reads different names that are separated by commas.
    mutating func names(of option: String, as expectation: String) throws(UsageError) -> [String] {
        try value(of: option, as: expectation) { text in
            let names = text.split(separator: ",", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            return names.allSatisfy { !$0.isEmpty } && Set(names).count == names.count ? names : nil
        }
    }
}
