import Foundation
import OneWayTestSupport
import Testing

/// SQLite's own command and Python's binding: other programs that make and read databases.
enum SQLiteShell {
    static let command = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]
        .map { URL(filePath: $0).appending(path: "sqlite3") }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    static let python = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/root/.pyenv/shims"]
        .map { URL(filePath: $0).appending(path: "python3") }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) }

    /// Runs statements on a database.
    ///
    /// - Returns: The lines that they print.
    @discardableResult
    static func run(_ statements: String, at path: String) async throws -> [String] {
        try await lines(of: try #require(command), ["-bail", path, statements])
    }

    /// Runs a Python program whose first argument is a path.
    @discardableResult
    static func python(_ program: String, at path: String) async throws -> [String] {
        try await lines(of: try #require(python), ["-c", program, path])
    }

    private static func lines(of program: URL, _ arguments: [String]) async throws -> [String] {
        #if os(macOS) || os(Linux)
        let end = try await ChildProcess(
            program, arguments, input: .nullDevice, errors: ChildOutput()
        ).end()
        try #require(end.code == 0, "\(end.errors)")
        return end.output.split(separator: "\n").map(String.init)
        #else
        throw TestError("\(program.path) cannot be run here")
        #endif
    }
}
