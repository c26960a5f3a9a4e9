import Foundation

/// What a benchmark was asked to do on its command line.
public struct BenchmarkOptions: Sendable {
    /// Whether the sizes are those of a full run (`--full`); false is a quick one, under a minute.
    public var isFull = false
    /// Whether rows are printed as JSON, one object per line (`--json`); false is a table.
    public var printsJSON = false
    /// Only cases whose name contains this text run (`--only TEXT`); nil runs all.
    public var only: String?

    /// The options of this process. An unknown argument ends it with exit code 64 and the usage.
    public static func ofProcess() -> BenchmarkOptions {
        do { return try BenchmarkOptions(CommandLine.arguments.dropFirst()) } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(64)
        }
    }

    private init(_ arguments: ArraySlice<String>) throws(BenchmarkUsageError) {
        var rest = arguments
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
private struct BenchmarkUsageError: Error, CustomStringConvertible {
    let argument: String

    var description: String { "\(argument): expected --full, --json or --only TEXT" }
}
