import Foundation
import OneWayTestLimits
import Testing

/// How much the programs of the guide `EverydayPrograms` ask of a reader.
///
/// A program is the code of its section, and that of other sections with the types that it names.
/// Its lines are those that are neither empty nor comments. Its concepts are the public types of
/// this package that it names, and those whose members it names by a leading dot.
@Suite(.endsInTime) struct EverydayProgramTests {
    struct Program: Sendable, CustomTestStringConvertible {
        let title: String
        let lines: [Substring]

        var testDescription: String { title }
    }

    /// The types of the members that programs name by a leading dot; nil for those of others.
    private static let membersByName: [String: String?] = [
        "attribute": "SyncDeclaration", "toMany": "SyncDeclaration", "cascade": "SyncRelationship",
        "url": "HTTPJSONSource", "link": "HTTPAPI", "text": "JSONSource", "seconds": nil, "main": nil,
    ]

    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The lines of the Swift snippets of a part of the guide.
    private static func snippets(of part: Substring) -> [[Substring]] {
        part.split(separator: "```swift\n").dropFirst().map { snippet in
            snippet.prefix(upTo: snippet.firstRange(of: "\n```")?.lowerBound ?? snippet.endIndex).split(separator: "\n")
                .filter { line in
                    let text = line.drop { $0 == " " }
                    return !text.isEmpty && !text.hasPrefix("//")
                }
        }
    }

    /// The names of the types that code declares.
    private static func types(in lines: [Substring]) -> [String] {
        lines.compactMap { $0.firstMatch(of: /struct (?<name>\w+): SyncObject/).map { String($0.name) } }
    }

    static func programs() throws -> [Program] {
        let guide = "Sources/OneWaySync/OneWaySync.docc/EverydayPrograms.md"
        let parts = try String(contentsOf: root.appending(path: guide), encoding: .utf8).split(separator: "\n### ")
        let declarations = parts.flatMap { snippets(of: $0) }.filter { !types(in: $0).isEmpty }
        return parts.dropFirst().map { part in
            let own = snippets(of: part).flatMap { $0 }
            let words = Set(own.flatMap { $0.matches(of: /\w+/).map { String($0.output) } })
            let others = declarations.filter { declaration in
                let names = types(in: declaration)
                return !words.isDisjoint(with: names) && Set(types(in: own)).isDisjoint(with: names)
            }
            return Program(title: String(part.prefix { $0 != "\n" }), lines: others.flatMap { $0 } + own)
        }
    }

    private static func publicTypes() throws -> Set<String> {
        let sources = root.appending(path: "Sources")
        let paths = FileManager.default.enumerator(atPath: sources.path)?.compactMap { $0 as? String } ?? []
        let declaration = /(?m)^public (final |indirect )*(struct|enum|class|actor|protocol|typealias) (?<name>\w+)/
        return Set(
            try paths.filter { $0.hasSuffix(".swift") }.flatMap { path in
                try String(contentsOf: sources.appending(path: path), encoding: .utf8).matches(of: declaration)
                    .map { String($0.name) }
            })
    }

    @Test func thereAreTen() throws {
        #expect(try Self.programs().count == 10)
    }

    @Test(arguments: try EverydayProgramTests.programs()) func aProgramIsShort(program: Program) throws {
        #expect(program.lines.count <= 15)

        let code = program.lines.map { $0.prefix(upTo: $0.firstRange(of: "  //")?.lowerBound ?? $0.endIndex) }
            .joined(separator: "\n").replacing(/"[^"]*"/, with: "")
        let types = try Self.publicTypes()
        var concepts = Set(code.matches(of: /\w+/).map { String($0.output) }).intersection(types)
        for match in code.matches(of: /(?<before>\w+: |[( \[])\.(?<name>\w+)/) {
            let name = String(match.name)
            if name == "file" {
                // A place of a store, or JSON.
                concepts.insert(match.before == "at: " ? "SQLiteStore" : "JSONSource")
            } else if let type = try #require(Self.membersByName[name], "\(name)") {
                concepts.insert(type)
            }
        }
        #expect(concepts.isSubset(of: types))
        #expect(concepts.count >= 2 && concepts.count <= 6, "\(concepts.sorted())")
    }
}
