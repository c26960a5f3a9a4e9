import Foundation
import OneWayTestLimits
import Testing

/// Whether the Swift code of the documentation is compiled and tested.
///
/// Each Swift snippet of the README and of the documentation catalogs must be part of an example in
/// the tests: the same lines, apart from indentation, empty lines, comments and imports.
@Suite(.endsInTime) struct SnippetTests {
    /// A Swift snippet of a document.
    struct Snippet {
        let document: String
        let line: Int
        let code: [Substring]
    }

    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func files(in folder: String, where isIncluded: (String) -> Bool) -> [URL] {
        let base = root.appending(path: folder)
        let paths = FileManager.default.enumerator(atPath: base.path)?.compactMap { $0 as? String } ?? []
        return paths.filter { isIncluded($0) && !$0.contains(".build") }.sorted().map { base.appending(path: $0) }
    }

    /// The lines of code, without what may differ.
    private static func code(_ lines: some Sequence<Substring>) -> [Substring] {
        lines.map { $0.drop { $0 == " " } }.filter { line in
            !line.isEmpty && !line.hasPrefix("//") && !line.hasPrefix("import ")
        }
    }

    private static func snippets(of document: URL) throws -> [Snippet] {
        var snippets: [Snippet] = []
        var open: (line: Int, lines: [Substring])?
        let lines = try String(contentsOf: document, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        for (number, line) in lines.enumerated() {
            if line == "```swift" {
                open = (number + 1, [])
            } else if line == "```", let (first, code) = open {
                snippets.append(Snippet(document: document.lastPathComponent, line: first, code: Self.code(code)))
                open = nil
            } else {
                open?.lines.append(line)
            }
        }
        return snippets
    }

    @Test func everySnippetIsPartOfAnExample() throws {
        let examples = try Self.files(in: "Tests") { $0.hasSuffix("Example.swift") || $0.hasSuffix("Examples.swift") }
            .map { Self.code(try String(contentsOf: $0, encoding: .utf8).split(separator: "\n")) }
        let documents =
            [Self.root.appending(path: "README.md")] + Self.files(in: "Sources") { $0.hasSuffix(".md") }
        let snippets = try documents.flatMap { try Self.snippets(of: $0) }
        #expect(snippets.count > 30)
        for snippet in snippets {
            // A line of a manifest, which no test can compile.
            if snippet.code.first?.hasPrefix(".package(") == true { continue }
            let isTested = examples.contains { example in
                example.indices.contains { example[$0...].starts(with: snippet.code) }
            }
            #expect(
                isTested,
                "\(snippet.document):\(snippet.line) is in no example: \(snippet.code.first ?? "")")
        }
    }
}
