/// Takes a command line apart: options, their values, and operands, in any order.
///
/// `--name VALUE` and `--name=VALUE` are the same; after `--` everything is an operand.
struct ArgumentScanner {
    enum Argument: Equatable {
        case option(String)
        case operand(String)
    }

    private let topic: Usage.Topic
    private var rest: ArraySlice<String>
    /// What followed the last option's `=`.
    private var attachedValue: String?
    private var seenOptions: Set<String> = []
    private var takesOperandsOnly = false

    init(_ arguments: [String], topic: Usage.Topic) {
        self.rest = arguments[...]
        self.topic = topic
    }

    /// The next option or operand; nil at the end.
    ///
    /// - Throws: ``UsageError`` for an option that was there before.
    mutating func next() throws(UsageError) -> Argument? {
        guard let text = rest.popFirst() else { return nil }
        if takesOperandsOnly || !text.hasPrefix("-") || text == "-" { return .operand(text) }
        if text == "--" {
            takesOperandsOnly = true
            return try next()
        }
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        attachedValue = parts.count == 2 ? parts[1] : nil
        guard seenOptions.insert(parts[0]).inserted else { throw error("\(parts[0]) is given twice") }
        return .option(parts[0])
    }

    /// The value of the option that was just read.
    ///
    /// - Parameters:
    ///   - expectation: What the value must be, for the message.
    ///   - convert: nil for a value that is something else.
    mutating func value<Value>(
        of option: String, as expectation: String, _ convert: (String) -> Value?
    ) throws(UsageError) -> Value {
        guard let text = attachedValue ?? rest.popFirst() else { throw error("\(option) needs \(expectation)") }
        guard let value = convert(text) else { throw error("\(option) needs \(expectation), not '\(text)'") }
        return value
    }

    /// Makes sure that the option that was just read has no value.
    func noValue(of option: String) throws(UsageError) {
        if let attachedValue { throw error("\(option) takes no value; got '\(attachedValue)'") }
    }

    func error(_ message: String) -> UsageError {
        UsageError(message, topic: topic)
    }
}
