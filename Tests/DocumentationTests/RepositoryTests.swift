import Foundation
import OneWayTestLimits
import SyncBase
import Testing

/// What the files of the repository say about each other.
@Suite(.endsInTime) struct RepositoryTests {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The paths of all files below folders, without build folders.
    private static func paths(below folders: [String]) -> [String] {
        folders.flatMap { folder in
            let paths = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
            return (paths?.compactMap { $0 as? String } ?? []).map { "\(folder)/\($0)" }
        }.filter { !$0.contains("/.") }.sorted()
    }

    /// The names of the types and of the members that files declare.
    private static func names(in files: [String]) throws -> (types: Set<String>, members: Set<String>) {
        let types: Set = ["struct", "class", "enum", "actor", "protocol", "typealias"]
        let members: Set = ["func", "var", "let", "case"]
        var found: (types: Set<String>, members: Set<String>) = ([], [])
        for file in files {
            var last = ""
            let isPartOfAWord: (UInt8) -> Bool = { byte in
                (0x61...0x7A).contains(byte) || (0x41...0x5A).contains(byte) || (0x30...0x39).contains(byte)
                    || byte == UInt8(ascii: "_")
            }
            for bytes in Data(try text(file).utf8).split(whereSeparator: { !isPartOfAWord($0) }) {
                let word = String(decoding: bytes, as: UTF8.self)
                if types.contains(last) { found.types.insert(word) }
                if members.contains(last) { found.members.insert(word) }
                last = word
            }
        }
        return found
    }

    /// A suite without a limit could hang for ever, and would not be named.
    @Test func everySuiteEndsInTime() throws {
        let files = Self.paths(below: ["Tests", "Demo/Server/Tests/ServerTests"]).filter {
            $0.hasSuffix(".swift") && !$0.contains("/Benchmarks/")
        }
        #expect(files.count > 200)
        for file in files {
            let text = try Self.text(file)
            for suite in text.matches(of: /(?m)^ *@Suite(\((?<traits>[^{]*?)\))?\s+(\w+\s+)*?(?<name>\w+)/) {
                let isLimited = suite.traits?.contains(".endsInTime") == true
                #expect(isLimited, "\(file): \(suite.name) has no trait .endsInTime")
            }
        }
    }

    /// Foundation may not notice the end of a process while another one runs that was started at
    /// the same time. Only what knows of it starts processes beside other tests.
    @Test func everyProcessOfATestEndsInTime() throws {
        for file in Self.paths(below: ["Tests", "Demo/Server/Tests/ServerTests"]) where file.hasSuffix(".swift") {
            guard !file.contains("/Benchmarks/"), !file.contains("/Packages/") else { continue }
            let isAllowed = ["ChildProcess.swift", "ServerProcess.swift", "Browser.swift"].contains {
                file.hasSuffix("/\($0)")
            }
            #expect(try isAllowed || !Self.text(file).contains(/\bProcess\(\)/), "\(file): use ChildProcess")
        }
    }

    @Test func theVersionIsTheLatestOneOfTheChangeLog() throws {
        let headings = try Self.text("CHANGELOG.md").matches(of: /(?m)^## (?<version>\d+\.\d+\.\d+)\b/)
        #expect(headings.first.map { String($0.version) } == PackageVersion.current)
    }

    @Test func theMapOfTheCodeNamesOnlyWhatExists() throws {
        let paths = Self.paths(below: ["Sources", "Tests", "Demo"])
        let (declared, members) = try Self.names(in: paths.filter { $0.hasSuffix(".swift") })
        let existing = Set(paths.flatMap { [$0, $0.replacing(/^Sources\//, with: "")] })
        let fileNames = Set(paths.compactMap { $0.split(separator: "/").last.map(String.init) })
        // Traits, and types of the language.
        let others: Set = ["Demo/", "Postgres", "CancellationError", "debugDescription"]

        func exists(_ name: String) -> Bool {
            if others.contains(name) || existing.contains(name) || existing.contains("Sources/\(name)") { return true }
            if name.hasSuffix("/") {
                return exists(String(name.dropLast())) || fileNames.contains(String(name.dropLast()))
            }
            if name.contains("/") { return false }
            if fileNames.contains("\(name).swift") || fileNames.contains(name) { return true }
            let parts = name.split(separator: "(")[0].split(separator: ".").map(String.init)
            guard let first = parts.first else { return false }
            let isType = first.first?.isUppercase == true
            return (isType ? declared : members).contains(first)
                && parts.dropFirst().allSatisfy { members.contains($0) || declared.contains($0) }
        }

        let names = try Self.text("Sources/README.md").split(separator: "\n").flatMap { line in
            line.matches(of: /`([^`\s<-][^`<]*)`/).map { String($0.output.1) }
        }
        #expect(names.count > 100)
        let missing = Set(names).filter { !exists($0) && $0 != "Demo" }.sorted()
        #expect(missing == [])
    }

    /// A reader of the reference finds a type among the others. A type that belongs to another one
    /// is nested in it.
    @Test func thereAreFewPublicTypes() throws {
        let declaration = /(?m)^public (final |indirect )*(struct|enum|class|actor|protocol|typealias) (?<name>\w+)/
        let files = Self.paths(below: ["Sources"]).filter { $0.hasSuffix(".swift") }
        let types = Set(try files.flatMap { try Self.text($0).matches(of: declaration).map { String($0.name) } })
        #expect((100...130).contains(types.count))

        let map = try Self.text("Sources/README.md").split(separator: "\n## ")
        let firstHour = try #require(map.first { $0.hasPrefix("The types of the first hour") })
        let names = firstHour.matches(of: /`(?<name>\w+)`/).map { String($0.name) }
        #expect((10...25).contains(names.count) && Set(names).isSubset(of: types))
    }

    /// Each product answers one "I want to …" of the README.
    @Test func theREADMEListsTheProducts() throws {
        let products = try Self.text("Package.swift").matches(of: /\.library\(name: "(?<name>\w+)"/).map {
            String($0.name)
        }
        let sections = try Self.text("README.md").split(separator: "\n## ")
        let section = try #require(sections.first { $0.hasPrefix("Products") })
        let listed = section.matches(of: /(?m)^\|.*\| `(?<name>\w+)`/).map { String($0.name) }
        #expect(listed.sorted() == products.sorted() && (1...10).contains(products.count))
    }

    /// What has more settings has a type for them.
    @Test func noPublicInitializerHasMoreThanEightParameters() throws {
        let files = Self.paths(below: ["Sources"]).filter { $0.hasSuffix(".swift") }
        var count = 0
        for file in files {
            let text = try Self.text(file)
            for start in text.matches(of: /(?m)^ *public (\w+ )*init[?!]?(<[^()]*>)?\(/) {
                let parameters = Self.parameterCount(text[start.range.upperBound...])
                #expect(parameters <= 8, "\(file): \(text[start.range]) has \(parameters)")
                count += 1
            }
        }
        #expect(count > 150)
    }

    /// The number of parameters before the parenthesis that closes a list of them.
    private static func parameterCount(_ text: Substring) -> Int {
        var depth = 0
        var count = 0
        var isEmpty = true
        var last: Character = " "
        for character in text {
            switch character {
            case ")" where depth == 0: return count + (isEmpty ? 0 : 1)
            case "(", "[", "{", "<": depth += 1
            case ">" where last == "-": break
            case ")", "]", "}", ">": depth -= 1
            case "," where depth == 0:
                count += 1
                isEmpty = true
            case " ", "\n": break
            default: isEmpty = false
            }
            last = character
        }
        return count
    }

    /// Whoever publishes the package elsewhere changes one line.
    @Test func theAddressOfThePackageIsWrittenOnce() throws {
        let documents =
            ["README.md", "CHANGELOG.md"]
            + Self.paths(below: ["Sources", "Demo", ".github"]).filter { $0.hasSuffix(".md") }
        let places = try documents.filter { try Self.text($0).contains("/OneWaySynchronizer.git") }
        #expect(places == ["README.md"])
    }

    /// The tables of bookkeeping have other names than their entities.
    @Test func examplesInSQLNameTablesAndNoEntitiesOfBookkeeping() throws {
        let documents = ["README.md"] + Self.paths(below: ["Sources", "Demo"]).filter { $0.hasSuffix(".md") }
        var count = 0
        for document in documents {
            for example in try Self.text(document).matches(of: /(?s)```sql\n(?<text>.*?)```/) {
                let namesAnEntity = example.text.contains(/Sync(Bookmark|PendingLink|Pass)\b/)
                #expect(!namesAnEntity, "\(document)")
                count += 1
            }
        }
        #expect(count > 0)
    }
}
