import Foundation
import OneWayTestSupport

@testable import Demo

/// A command that was run inside this process, and what it wrote.
struct CommandRun {
    let code: Int32
    let output: String
    let errors: String

    init(
        _ arguments: [String], isTerminal: Bool = false, width: Int? = nil, environment: [String: String] = [:]
    ) async {
        let output = EventLog<String>()
        let errors = EventLog<String>()
        let console = Console(
            isTerminal: isTerminal, width: width, environment: environment, progressInterval: .seconds(86_400)
        ) { text, stream in
            (stream == .output ? output : errors).append(text)
        }
        code = await DemoCommand.run(arguments, console: console)
        self.output = output.events.joined()
        self.errors = errors.events.joined()
    }

    var lines: [String] { output.split(separator: "\n").map(String.init) }

    /// The inserted, updated, unchanged and deleted objects of an entity in the table of a sync;
    /// nil if it has no row.
    func counts(of entity: String) -> [Int]? { Self.counts(of: entity, in: lines) }

    static func counts(of entity: String, in lines: [String]) -> [Int]? {
        for line in lines {
            let words = line.split(separator: " ")
            if words.first == entity[...], words.count == 5 { return words.dropFirst().compactMap { Int($0) } }
        }
        return nil
    }
}

extension TemporaryDirectory {
    /// Writes a file.
    ///
    /// - Returns: Its path.
    func write(_ text: String, to name: String) throws -> String {
        let file = url.appending(path: name)
        try Data(text.utf8).write(to: file)
        return file.path
    }
}
