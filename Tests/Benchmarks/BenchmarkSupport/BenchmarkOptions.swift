/// What a benchmark was asked to do on its command line.
public struct BenchmarkOptions: Sendable {
    /// Whether the sizes are those of a full run (`--full`); false is a quick one, under a minute.
    public var isFull = false
    /// Whether rows are printed as JSON, one object per line (`--json`); false is a table.
    public var printsJSON = false
    /// Only cases whose name contains this text run (`--only TEXT`); nil runs all.
    public var only: String?

    /// Reads the arguments that follow the program's name.
    ///
    /// - Parameter arguments: the arguments without the program's path; the process's own by
    ///   default.
    /// - Throws: ``BenchmarkUsageError`` for an argument it does not know.
    public init(arguments: [String] = Array(CommandLine.arguments.dropFirst())) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--full": isFull = true
            case "--json": printsJSON = true
            case "--only":
                guard let text = rest.popFirst() else { throw BenchmarkUsageError(argument: argument) }
                only = text
            default: throw BenchmarkUsageError(argument: argument)
            }
        }
    }

    /// Whether a case of this name is to run.
    public func includes(_ name: String) -> Bool {
        only.map { name.contains($0) } ?? true
    }
}

/// An argument that no benchmark knows, or that lacks its value.
public struct BenchmarkUsageError: Error, CustomStringConvertible {
    /// The argument as it was given.
    public let argument: String

    /// The argument, and what is understood.
    public var description: String { "\(argument): expected --full, --json or --only TEXT" }
}
