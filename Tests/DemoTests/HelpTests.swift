import Foundation
import OneWayTestLimits
import OneWayTestSupport
import Testing

@testable import Demo

@Suite(.endsInTime) struct HelpTests {
    private static let films = """
        [{"id": 1, "title": "Alien", "year": 1979, "director": {"id": 7, "name": "Scott"}},
         {"id": 2, "title": "Brazil", "year": 1985}]
        """

    /// Splits a command line as a shell does, as far as the examples need it.
    private static func words(of line: String) -> [String] {
        var words: [String] = []
        for (index, part) in line.split(separator: "'", omittingEmptySubsequences: false).enumerated() {
            if index % 2 == 1 {
                words.append(String(part))
            } else {
                words += part.split(separator: " ").map(String.init)
            }
        }
        return words
    }

    @Test(arguments: Usage.Topic.allCases.filter { $0 != .tour })
    func everyExampleRuns(topic: Usage.Topic) async throws {
        let folder = try TemporaryDirectory()
        _ = try folder.write(Self.films, to: "films.json")
        _ = try folder.write(#"[{"id": 1, "title": "Aliens", "year": 1986}]"#, to: "newer.json")
        let database = "sqlite:\(folder.url.path)/films.db"
        let first = await CommandRun(
            ["sync", "\(folder.url.path)/films.json", "--entity", "Film", "--store", database])
        #expect(first.code == 0, "\(first.errors)")
        let examples = Usage.examples(of: topic)
        #expect(examples.count >= 2)
        for example in examples {
            let arguments = Self.words(of: example).map { word in
                word.hasSuffix(".json") && !word.contains("/")
                    ? "\(folder.url.path)/\(word)"
                    : word == "sqlite:films.db" ? database : word
            }
            _ = try Invocation(arguments)
            // Servers of others are not asked.
            guard !example.contains("https:") else { continue }
            let run = await CommandRun(arguments)
            #expect(run.code == 0 && run.errors.isEmpty && !run.output.isEmpty, "\(example): \(run.errors)")
        }
    }

    /// Every option of a help text is known to its command, apart from the value it may need.
    @Test(arguments: Usage.Topic.commands)
    func everyDescribedOptionIsAccepted(topic: Usage.Topic) {
        for option in Usage.options(of: topic) where option != "--help" {
            let error = #expect(throws: UsageError.self) { try Invocation([topic.rawValue, option]) }
            #expect(error?.message.contains("unknown option") == false, "\(option)")
        }
    }

    @Test(arguments: [
        (["snyc"], "did you mean sync?"), (["--versoin"], "did you mean --version?"), (["help", "qery"], "query?"),
        (["sync", "a.json", "--entty", "A"], "did you mean --entity?"),
        (["sync", "a.json", "--key-pth=a"], "did you mean --key-path?"),
        (["mirror", "http://a/", "b", "--concurency", "2"], "did you mean --concurrency?"),
        (["query", "--sotre", "sqlite:a"], "did you mean --store?"),
        (["query", "--store", "a.db"], "did you mean sqlite:a.db?"),
    ])
    func aMisspeltWordHasASuggestion(arguments: [String], part: String) {
        let error = #expect(throws: UsageError.self) { try Invocation(arguments) }
        #expect(error?.description.contains(part) == true, "\(error?.description ?? "")")
    }

    @Test func aWordThatIsLikeNoOtherHasNone() {
        let error = #expect(throws: UsageError.self) { try Invocation(["sync", "a.json", "--zzzzzz"]) }
        #expect(error?.description.contains("did you mean") == false)
    }

    @Test(arguments: [
        ("abc", "abc", 0), ("abc", "acb", 1), ("abc", "ab", 1), ("", "abc", 3), ("kitten", "sitting", 3),
    ])
    func theDistanceCountsEditsAndSwaps(one: String, other: String, distance: Int) {
        #expect(Suggestion.distance(one, other) == distance)
        #expect(Suggestion.distance(other, one) == distance)
    }
}
