import Foundation
import HTTPTransfer
import HTTPSource
import JSONMapper
import OneWaySynchronizer
import OneWayTestLimits
import StoreSync
import SyncModel
import Testing

@testable import Demo

@Suite(.endsInTime) struct ArgumentsTests {
    private let operands = ["http://host/list.json", "folder"]

    private func mirror(_ options: String...) throws -> MirrorArguments {
        guard case .mirror(let arguments) = try Invocation(["mirror"] + options + operands) else {
            throw UsageError("not a mirror", topic: .mirror)
        }
        return arguments
    }

    @Test(arguments: [
        ([], Invocation.tour), (["tour"], .tour), (["--help"], .help(.general)), (["-h"], .help(.general)),
        (["help"], .help(.general)), (["help", "mirror"], .help(.mirror)), (["tour", "--help"], .help(.tour)),
        (["mirror", "--help"], .help(.mirror)), (["mirror", "--bad", "-h"], .help(.mirror)),
        (["sync", "--help"], .help(.sync)), (["help", "model"], .help(.model)),
    ])
    func aCommandIsRecognised(arguments: [String], expected: Invocation) throws {
        #expect(try Invocation(arguments) == expected)
    }

    @Test func theDefaultsAreThoseOfTheHelp() throws {
        let arguments = try mirror()
        #expect(arguments.listURL.absoluteString == "http://host/list.json")
        #expect(arguments.folder.lastPathComponent == "folder")
        #expect(arguments.concurrency == 8)
        #expect(!arguments.keepsGoing && !arguments.isDryRun)
        #expect(arguments.removalLimit == nil && arguments.interval == nil)
    }

    @Test func everyOptionIsTaken() throws {
        #expect(try mirror("--concurrency", "3").concurrency == 3)
        #expect(try mirror("--concurrency=1000").concurrency == 1_000)
        #expect(try mirror("--keep-going").keepsGoing)
        #expect(try mirror("--dry-run").isDryRun)
        #expect(try mirror("--max-removals", "0").removalLimit == RemovalLimit(count: 0))
        #expect(try mirror("--max-removals", "12.5%").removalLimit == RemovalLimit(fraction: 0.125))
        #expect(try mirror("--every", "1.5").interval == .milliseconds(1_500))
    }

    @Test func syncTakesWhatThereIsToSayAboutAServer() throws {
        let sync = try SyncArguments([
            "https://host/users", "--entity", "User", "--pages", "cursor:meta.next:after", "--since", "updated_at:from",
            "--header", "Authorization: Bearer x:y", "--header", "Accept-Language:en", "--every", "5m", "--rate",
            "10/s",
        ])
        guard case .server(let url, let server) = sync.input else {
            Issue.record("no server")
            return
        }
        #expect(url.absoluteString == "https://host/users")
        #expect(server.pages == "cursor:meta.next:after")
        #expect(server.sinceKeyPath == "updated_at" && server.sinceParameter == "from")
        #expect(server.headers["Authorization"] == "Bearer x:y" && server.headers["Accept-Language"] == "en")
        #expect(server.interval == Duration.seconds(300) && server.requestsPerSecond == 10)
    }

    @Test(arguments: [
        "link", "link:a.b", "link:a?", "links:links", "cursor:a:p", "header:Next-Page", "header:x-token:p",
        "body:a:b.c",
        "last:id:p", "parameters:continue", "page:p", "offset:p",
    ])
    func waysOfPagesAreRead(text: String) {
        #expect(HTTPAPI.Pages(argument: text) != nil)
        #expect(HTTPAPI.Pages(argument: text + ":") == nil)
    }

    @Test func signsOfTheLastPageAreRead() {
        #expect(HTTPAPI.Pages.End(argument: "short") == .shortPage)
        #expect(HTTPAPI.Pages.End(argument: "unset:has_more") == .unset(keyPath: "has_more"))
        #expect(HTTPAPI.Pages.End(argument: "set:done") == .set(keyPath: "done"))
        #expect(HTTPAPI.Pages.End(argument: "total:meta.total") == .total(keyPath: "meta.total"))
        for text in ["", "short:x", "set", "set:", "done"] { #expect(HTTPAPI.Pages.End(argument: text) == nil) }
    }

    @Test func aHeaderIsNeverRepeated() {
        let error = #expect(throws: UsageError.self) {
            try SyncArguments(["https://host/", "--entity", "A", "--header", "s3cret"])
        }
        #expect(error.map { !"\($0)".contains("s3cret") } == true)
    }

    @Test(arguments: [#"{"a":1"#, "{", "xyz", #"{"a":1}x"#, "", "@/no/such/file"])
    func aBodyThatIsNotJSONIsRefused(text: String) {
        let error = #expect(throws: UsageError.self) {
            try SyncArguments(["http://h/", "--entity", "A", "--body", text])
        }
        #expect(error?.message == "--body needs JSON, or @FILE with JSON, not '\(text)'")
    }

    @Test(arguments: ["null", "0", #"{"a": 1}"#, " [] "])
    func aBodyIsAnyJSON(text: String) throws {
        let sync = try SyncArguments(["http://h/", "--entity", "A", "--body", text])
        guard case .server(_, let server) = sync.input else {
            Issue.record("no server")
            return
        }
        #expect(try server.body == JSONValue(parsing: text))
    }

    @Test func syncTakesEveryOption() throws {
        let plain = try SyncArguments(["users.json", "--entity", "User"])
        #expect(plain.input == .file(.file("users.json")) && plain.entity == "User" && plain.model == nil)
        #expect(plain.store == .memory && plain.keyPath.isEmpty && plain.dialect == .sync && plain.operations == .all)
        #expect(plain.scope == .constant(true) && plain.removalLimit == nil && !plain.isPlan && !plain.printsJSON)
        let full = try SyncArguments([
            "-", "--entity=User", "--model", "M.xcdatamodeld", "--store", "memory:", "--key-path", "data.items",
            "--dialect", "groot", "--operations", "insert,updateRelationships", "--where", "age > 3",
            "--max-removals", "5%", "--plan", "--json",
        ])
        #expect(full.input == .file(.standardInput) && full.model?.lastPathComponent == "M.xcdatamodeld")
        #expect(full.keyPath == "data.items" && full.dialect == .groot)
        #expect(full.operations == [.insert, .updateRelationships] && full.scope == (PropertyPath("age") > 3))
        #expect(full.removalLimit == RemovalLimit(fraction: 0.05) && full.isPlan && full.printsJSON)
        let large = try SyncArguments(["a", "--entity", "A", "--store", "sqlite:a", "--cache", "64"])
        #expect(plain.cacheByteCount == nil && large.cacheByteCount == 64 << 20)
    }

    @Test func exportTakesEveryOption() throws {
        let plain = try ExportArguments(["--entity", "User", "--store", "sqlite:a.sqlite"])
        #expect(plain.entity == "User" && plain.store == .sqlite("a.sqlite") && plain.model == nil)
        #expect(plain.dialect == .sync && plain.relationships == .array && plain.keyStyle == .snakeCase)
        #expect(plain.predicate == .constant(true))
        let full = try ExportArguments([
            "--entity", "User", "--store", "sqlite:a.sqlite", "--model", "M.xml", "--dialect", "groot",
            "--relationships", "nested", "--inflection", "camelCase", "--where", "age = 3",
        ])
        #expect(full.model?.lastPathComponent == "M.xml" && full.dialect == .groot && full.relationships == .nested)
        #expect(full.keyStyle == .camelCase && full.predicate == (PropertyPath("age") == 3))
    }

    @Test func modelTakesEveryOption() throws {
        let plain = try ModelArguments(["users.json"])
        #expect(plain.format == .swift && plain.entity == "Item" && plain.keyPath.isEmpty)
        let full = try ModelArguments(["-", "--format", "xcdatamodel", "--entity", "User", "--key-path", "a.b"])
        #expect(full.input == .standardInput && full.format == .coreData)
        #expect(full.entity == "User" && full.keyPath == "a.b")
    }

    @Test func afterTwoDashesEverythingIsAnOperand() throws {
        let invocation = try Invocation(["mirror", "--", "http://host/", "--help"])
        guard case .mirror(let arguments) = invocation else {
            Issue.record("got \(invocation)")
            return
        }
        #expect(arguments.folder.lastPathComponent == "--help")
    }

    @Test(arguments: [
        ["fly"], ["--fly"], ["tour", "now"], ["help", "fly"], ["help", "mirror", "tour"], ["mirror"],
        ["mirror", "http://host/"],
        ["mirror", "http://host/", "a", "b"], ["mirror", "file:///etc", "a"], ["mirror", "host/list", "a"],
        ["mirror", "http://", "a"], ["mirror", "http://host/", ""],
        ["mirror", "http://host/", "a", "--concurrency"], ["mirror", "http://host/", "a", "--concurrency", "0"],
        ["mirror", "http://host/", "a", "--concurrency", "many"],
        ["mirror", "http://host/", "a", "--concurrency", "1001"],
        ["mirror", "http://host/", "a", "--max-removals", "-1"],
        ["mirror", "http://host/", "a", "--max-removals", "101%"],
        ["mirror", "http://host/", "a", "--max-removals", "%"],
        ["mirror", "http://host/", "a", "--max-removals", "nan%"],
        ["mirror", "http://host/", "a", "--every", "0"], ["mirror", "http://host/", "a", "--every", "nan"],
        ["mirror", "http://host/", "a", "--every", "inf"], ["mirror", "http://host/", "a", "--every", "1e300"],
        ["mirror", "http://host/", "a", "--dry-run=yes"], ["mirror", "http://host/", "a", "--dry-run", "--dry-run"],
        ["mirror", "http://host/", "a", "--dry-run", "--every", "1"], ["mirror", "http://host/", "a", "-x"],
        ["sync", "a", "--entity", "A", "--rate", "1/s"], ["sync", "http://h/", "--entity", "A", "--rate", "0"],
        ["sync", "http://h/", "--entity", "A", "--pages", "cursor:a"],
        ["sync", "http://h/", "--entity", "A", "--pages", "x"],
        ["sync", "http://h/", "--entity", "A", "--pages", "link:?"],
        ["sync", "http://h/", "--entity", "A", "--since", ":x"], ["sync", "http://h/", "--entity", "A", "--api", "x"],
        ["sync", "http://h/", "--entity", "A", "--page-size", "x"],
        ["sync", "http://h/", "--entity", "A", "--last-page", "x"],
        ["sync", "http://h/", "--entity", "A", "--every", "5x"],
        ["sync", "http://h/", "--entity", "A", "--every", "5s", "--plan"],
        ["sync"], ["sync", "a"], ["sync", "--entity", "A"], ["sync", "a", "b", "--entity", "A"],
        ["sync", "", "--entity", "A"], ["sync", "a", "--entity", ""],
        ["sync", "a", "--entity", "A", "--store", "paper:"],
        ["sync", "a", "--entity", "A", "--dialect", "groot"], ["sync", "a", "--entity", "A", "--dialect", "latin"],
        ["sync", "a", "--entity", "A", "--operations", "insert,,delete"],
        ["sync", "a", "--entity", "A", "--operations", ""], ["sync", "a", "--entity", "A", "--where", "age >"],
        ["sync", "a", "--entity", "A", "--max-removals", "many"], ["sync", "a", "--entity", "A", "--plan=1"],
        ["sync", "a", "--entity", "A", "--store", "sqlite:"],
        ["sync", "a", "--entity", "A", "--evolve"], ["sync", "a", "--entity", "A", "--rebuild"],
        ["sync", "a", "--entity", "A", "--cache", "64"],
        ["sync", "a", "--entity", "A", "--store", "sqlite:a", "--cache", "0"],
        ["sync", "a", "--entity", "A", "--store", "sqlite:a", "--cache", "9223372036854775807"],
        ["sync", "a", "--entity", "A", "--store", "sqlite:a", "--rebuild", "--plan"],
        ["sync", "a", "--entity", "A", "--store", "postgres://a/b", "--evolve", "--plan"],
        ["sync", "a", "--entity", "A", "--store", "sqlite:a", "--evolve", "--rebuild"],
        ["sync", "a", "--entity", "A", "--store", "sqlite:a", "--evolve", "--model", "m.xml"],
        ["sync", "a", "--entity", "A", "--store", "postgres://h/d", "--rebuild"],
        ["sync", "http://h/", "--entity", "A", "--store", "sqlite:a", "--rebuild", "--every", "5m"],
        ["export"], ["export", "--entity", "A", "--store", "sqlite::memory:"], ["export", "--entity", "A"],
        ["export", "--store", "sqlite:a"],
        ["export", "--entity", "A", "--store", "memory:"], ["export", "a", "--entity", "A", "--store", "sqlite:a"],
        ["export", "--entity", "A", "--store", "sqlite:a", "--relationships", "some"],
        ["export", "--entity", "A", "--store", "sqlite:a", "--inflection", "kebab"],
        ["model"], ["model", "a", "b"], ["model", ""], ["model", "a", "--format", "yaml"], ["model", "a", "--json"],
    ])
    func aWrongArgumentIsOneLineThatPointsToTheHelp(arguments: [String]) throws {
        let error = try #require(throws: UsageError.self) { try Invocation(arguments) }
        #expect(!error.description.contains("\n"))
        #expect(error.description.hasSuffix("--help)"))
    }

    @Test(arguments: Usage.Topic.allCases.filter { $0 != .general })
    func theGeneralHelpNamesEveryCommand(topic: Usage.Topic) {
        #expect(Usage.text(.general).contains(topic == .tour ? "Demo [tour]" : "Demo \(topic.rawValue) "))
    }

    @Test(arguments: Usage.Topic.allCases)
    func everyHelpFitsATerminal(topic: Usage.Topic) {
        #expect(Usage.text(topic).split(separator: "\n").allSatisfy { $0.count <= 88 })
    }
}
