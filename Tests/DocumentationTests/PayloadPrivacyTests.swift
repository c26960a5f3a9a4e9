import Foundation
import HTTPSource
import HTTPTransfer
import JSONMapper
import ModelInference
import OneWaySyncSQLite
import OneWaySynchronizer
import OneWayTestSupport
import StoreSync
import SyncBase
import SyncModel
import SyncStore
import OneWayTestLimits
import Testing

/// SECURITY.md: values of a payload appear in `debugDescription` only.
@Suite(.endsInTime) struct PayloadPrivacyTests {
    /// A text and a number that are in each payload, and must not be in any message.
    private static let marks = ["Zqx Patient", "718281828459045235"]
    private static let text = #""Zqx Patient""#
    private static let number = "718281828459045235"

    /// A transformer's own error that quotes the value.
    private struct Quoting: Error, CustomStringConvertible {
        let description: String
    }

    private enum Role: String, Codable, CaseIterable {
        case admin
    }

    private struct Person: SyncObject {
        var id: Int
        var role: Role?
        var address: Address?
    }

    private struct Address: Codable {
        var zip: Int
        var role: Role?
    }

    /// Looks for the marks in all that a program can show, and notes which kinds of errors it saw.
    private final class Watch: Sendable {
        private let seen = Locked<Set<String>>([])
        private let found = Locked<[String]>([])

        var kinds: Set<String> { seen.withLock { $0 } }
        var leaks: [String] { found.withLock { $0 } }

        func look(at value: some Sendable, _ place: String) {
            look(in: "\(value)", place)
            look(in: String(describing: value), place)
        }

        func look(at error: any Error, _ place: String) {
            look(in: "\(error)", "\(place) error")
            look(in: String(describing: error), "\(place) error")
            look(in: error.localizedDescription, "\(place) localizedDescription")
            if let error = error as? any LocalizedError { look(in: error.errorDescription ?? "", "\(place) error") }
            look(atCodable: SyncError.Recorded(error), "\(place) recorded")
            note(error)
        }

        func look(atCodable value: some Encodable & Sendable, _ place: String) {
            look(at: value, place)
            let encoded = (try? JSONEncoder().encode(value)).map { String(decoding: $0, as: UTF8.self) }
            look(in: encoded ?? "cannot be encoded", "\(place) as JSON")
            #expect(encoded != nil)
        }

        private func look(in text: String, _ place: String) {
            for mark in marks where text.contains(mark) { found.withLock { $0.append("\(place): \(text)") } }
        }

        /// Notes the names of an error's case and of the case in it.
        private func note(_ error: any Error) {
            var value: Any = error
            if let error = error as? HTTPError { value = error.problem }
            if case .unfit(let problem)? = error as? MappingError { value = problem.reason }
            if let error = error as? JSONError, let reason = error.reason { value = reason }
            let mirror = Mirror(reflecting: value)
            let name = mirror.displayStyle == .enum ? mirror.children.first?.label ?? "\(value)" : ""
            seen.withLock { _ = $0.insert("\(type(of: value)).\(name)") }
        }
    }

    // MARK: Payloads

    private static let model = Result {
        try DataModel {
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string, optional: false)
                SyncAttribute("age", .int16)
                SyncAttribute("rank", .double)
                SyncAttribute("price", .decimal)
                SyncAttribute("flag", .bool)
                SyncAttribute("born", .date)
                SyncAttribute("uuid", .uuid)
                SyncAttribute("site", .uri)
                SyncAttribute("photo", .binary)
                SyncAttribute("code", .transformable, transformer: "code")
                SyncAttribute("extra", .json)
                SyncAttribute("state", .string, allowedValues: ["open", "closed"])
                SyncRelationship("company", toOne: "Company", inverse: "people")
            }
            SyncEntity("Company", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("people", toMany: "Person", inverse: "company")
            }
        }
    }

    private static var transformers: RecordMapper.Transformers {
        var transformers = RecordMapper.Transformers()
        transformers.register("code") { (text: String) -> String? in
            throw Quoting(description: "no such code: \(text)")
        }
        return transformers
    }

    private static let whole: [(key: String, value: String)] = [
        ("id", "1"), ("name", text), ("age", "3"), ("rank", "1.5"), ("price", "2.5"), ("flag", "true"),
        ("born", #""2020-01-01""#), ("uuid", #""00000000-0000-0000-0000-000000000001""#),
        ("site", #""https://host/""#), ("photo", #""AAAA""#), ("code", "null"), ("extra", text), ("state", #""open""#),
        ("company", #"{"id": 7, "name": \#(text)}"#),
    ]

    /// Values of every kind, each with a mark.
    private static let values = [
        text, number, "-\(number)", "\(number).5", "1e400", "[\(text)]", "[\(number), {\"a\": \(text)}]",
        "{\"a\": \(text)}", "{\"id\": \(text)}", "{\"id\": {\"a\": \(text)}}", #""Zqx Patient \ud800""#, "true", "null",
    ]

    /// Lists in which each property has each of the values, and bodies that are no lists.
    private static let bodies: [String] =
        sampled(
            whole.indices.flatMap { index in
                values.map { value in
                    var fields = whole
                    fields[index].value = value
                    let element = "{" + fields.map { #""\#($0.key)": \#($0.value)"# }.joined(separator: ", ") + "}"
                    return "[\(element), \(element.replacing(#""id": 1,"#, with: #""id": 2,"#))]"
                }
            }, every: 3) + values.map { "[\($0)]" }
        + [
            "[{\"id\": 1, \"unknown\": \(text)}]", "[{\"id\": 1, \"name\": \(text)",
            "[{\"id\": 1, \"name\": \"Zqx Patient",
            "[{\"id\": 1, \"name\": \(text)]", "[{\"id\": 1, \"name\": \(text)}] \(text)", text, number,
            "Zqx Patient", "<html><p>Zqx Patient</p></html>", "<?xml?><p>Zqx Patient</p>", "", "{\"error\": \(text)}",
            "{\"data\": \(text)}", "{\"ok\": false, \"error\": \(text)}", "{\"data\": [\(text)]}", "[[\(text)]]",
            "[{\"id\": 1, \"name\": \(text)}, {\"id\": 1, \"name\": \"b\"}, {\"id\": 1, \"id\": \(number)}]",
            #"[{"id": 1, "name": "Zqx Patient \x"}]"#, "[{\"id\": 01, \"name\": \(text)}]",
            "\(String(repeating: "[", count: 600))\(text)",
        ]

    private static func contracts() -> [ValueContract?] { [nil, .strict, .keeping] }

    private func store(_ contract: ValueContract?, isMemory: Bool = true) async throws -> any Store {
        let mapping = JSONMapping(transformers: Self.transformers, contract: contract)
        let model = try Self.model.get()
        if isMemory { return try MemoryStore(model, mapping: mapping, history: SyncHistory()) }
        return try await SQLiteStore(model, at: .memory, mapping: mapping, history: SyncHistory())
    }

    /// Looks at what a sync returns or throws, and what is recorded of it.
    private func sync(
        _ store: any Store, _ watch: Watch, _ place: String,
        _ body: @Sendable (any Store) async throws -> StoreSyncResult
    ) async throws {
        do {
            let result = try await body(store)
            watch.look(atCodable: result, place)
            for entry in result.drift.entries { watch.look(atCodable: entry, "\(place) drift") }
            for problem in result.rejected {
                watch.look(atCodable: problem, "\(place) rejected")
                watch.look(at: MappingError.unfit(problem), "\(place) rejected")
            }
        } catch {
            watch.look(at: error, place)
            try await lookAtPass(failingWith: error, watch)
        }
    }

    /// Looks at all that a pass over items and a service report about an error.
    private func lookAtPass(failingWith error: any Error, _ watch: Watch) async throws {
        let underlying = error
        let processor = ScriptedProcessor(source: [TestItem("a")]) { call in
            if call == .content("a") { throw underlying }
        }
        let synchronizer = Synchronizer(processor: processor, options: SyncOptions().with { $0.reportsKeys = true })
        let events = synchronizer.events
        do throws(SyncFailure) { _ = try await synchronizer.sync() } catch {
            watch.look(at: error as any Error, "pass")
            watch.look(atCodable: error, "pass")
            watch.look(atCodable: error.report, "report")
            for error in error.errors { watch.look(at: error as any Error, "item") }
        }
        for await event in events {
            watch.look(at: event, "event")
            if case .passEnded = event { break }
        }
        let service = SyncService<Int>(schedule: SyncSchedule(interval: .seconds(60), jitter: 0)) { throw underlying }
        let serviceEvents = service.events
        let run = Task { try await service.run() }
        for await event in serviceEvents {
            watch.look(at: event, "service event")
            if case .failed = event { break }
        }
        watch.look(atCodable: service.health, "health")
        run.cancel()
        _ = await run.result
        watch.look(at: SyncLeaseError.lost(name: "lease", underlying: underlying), "lease")
        watch.look(at: RemoteChange.Event.gap(underlying), "feed")
        watch.look(at: RemoteChange.Event.interrupted(underlying), "feed")
    }

    // MARK: Tests

    @Test func valuesOfJSONAreForDebuggingOnly() async throws {
        let watch = Watch()
        for contract in Self.contracts() {
            for isMemory in [true, false] {
                let store = try await store(contract, isMemory: isMemory)
                for body in Self.bodies {
                    try await sync(store, watch, body) { try await $0.sync("Person", .text(body)) }
                }
                for pass in try await store.passes() { watch.look(atCodable: pass, "history") }
            }
        }
        #expect(watch.leaks.isEmpty, "\(watch.leaks.prefix(5))")
        let expected: Set = [
            "Reason.the text ends too early", "Reason.unexpected character", "Reason.content after the end",
            "Reason.invalid number", "Reason.invalid escape", "Reason.half of a surrogate pair", "Reason.not an array",
            "Reason.too many levels", "Reason.the entity has no property for the key", "Reason.wrongType",
            "Reason.outOfRange", "Reason.notAllowed", "Reason.the value is not a date",
            "Reason.a mandatory value is missing",
            "Reason.refused", "Reason.an object was expected",
        ]
        // A smaller sample of the bodies need not have each kind.
        guard caseStride == 1 else { return }
        #expect(watch.kinds.isSuperset(of: expected), "\(expected.subtracting(watch.kinds)), \(watch.kinds)")
    }

    @Test func valuesOfAServersBodiesAreForDebuggingOnly() async throws {
        let watch = Watch()
        let store = try await store(nil)
        let url = try #require(URL(string: "https://api.test/people"))
        var sources: [HTTPAPI.Pages] = [
            .single, .link, .linkField(keyPath: "next"), .linkField(keyPath: "data"),
            .cursor(keyPath: "error", parameter: "after"),
            .page(parameter: "page"),
        ]
        sources += [.cursor(keyPath: "data", parameter: "after")]
        let next = Self.values.map { "{\"data\": [{\"id\": 1, \"name\": \(Self.text)}], \"next\": \($0)}" }
        let addresses = ["ftp://host/Zqx Patient", "Zqx Patient:x", "http:///Zqx Patient", "http://host:Zqx Patient/"]
            .map { "{\"data\": [], \"next\": \"\($0)\"}" }
        for body in Self.bodies.suffix(20) + next + addresses {
            for status in isThorough && caseStride == 1 ? [200, 206, 400, 401, 503] : [200, 206, 503] {
                let transport = Answering { request in
                    // An address that a body names is requested, and is part of messages.
                    request.url.path == "/people"
                        ? HTTPResponse(status: status, bytes: Array(body.utf8))
                        : HTTPResponse(status: 200, bytes: Array("[]".utf8))
                }
                let client = HTTPClient(
                    transport: transport, limits: HTTPClient.Limits(bodyByteCount: 1 << 20),
                    retry: RetryPolicy(maxAttempts: 1))
                for pages in status == 200 ? sources : [.single] {
                    var api = HTTPAPI(pages: pages, totalKeyPath: "error")
                    api.check = .failing(ifUnset: "ok", message: "error").or(.failing(ifText: "error"))
                    if !body.contains("\"ok\"") { api.check = .failing(ifSet: "errors") }
                    for keyPath in ["", "data"] {
                        api.keyPath = keyPath
                        var source = HTTPJSONSource(url, api: api, client: client)
                        source.maximumPageCount = 3
                        try await sync(store, watch, body) { [source] in try await $0.sync("Person", from: source) }
                    }
                }
                for format in [HTTPAPI.Format.lines, .events()] {
                    let lines = format == .lines ? body : "event: error\ndata: \(body)\n\n"
                    let answer = Answering { _ in HTTPResponse(status: status, bytes: Array(lines.utf8)) }
                    let source = HTTPJSONSource(
                        url, api: HTTPAPI(format: format),
                        client: HTTPClient(transport: answer, retry: RetryPolicy(maxAttempts: 1)))
                    try await sync(store, watch, lines) { try await $0.sync("Person", from: source) }
                }
            }
        }
        for pass in try await store.passes() { watch.look(atCodable: pass, "history") }
        #expect(watch.leaks.isEmpty, "\(watch.leaks.prefix(5))")
        let expected: Set = [
            "Problem.status", "Problem.notJSON", "Problem.the body is empty", "Problem.cutShort",
            "Problem.unsuitableJSON",
            "Problem.refused", "Problem.unsuitablePointer", "Problem.forbiddenAddress",
        ]
        #expect(watch.kinds.isSuperset(of: expected), "\(expected.subtracting(watch.kinds)), \(watch.kinds)")
    }

    @Test func valuesOfStoredObjectsAreForDebuggingOnly() async throws {
        let watch = Watch()
        // The stored values are those of a payload that the type cannot hold.
        let model = try DataModel {
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("role", .string)
                SyncAttribute("address", .json)
            }
        }
        let stores: [any Store] = [
            try MemoryStore(model), try await SQLiteStore(model, at: .memory),
        ]
        for store in stores {
            for role in [
                #""role": \#(Self.text)"#, #""address": {"zip": \#(Self.text)}"#, #""address": \#(Self.text)"#,
                #""address": {"zip": 1, "role": \#(Self.text)}"#, #""address": {"zip": 718281828459045235.5}"#,
            ] {
                try await store.sync("Person", .text("[{\"id\": 1, \"role\": null, \"address\": null, \(role)}]"))
                await look(watch, role) { try await store.all(Person.self).map(\.id).description }
                await look(watch, role) {
                    try await store.records(StoreQuery("Person")).map { try $0.record.decode(Person.self).id }
                        .description
                }
            }
        }
        #expect(watch.leaks.isEmpty, "\(watch.leaks.prefix(5))")
        #expect(watch.kinds.contains("CodingError.wrongType"), "\(watch.kinds)")
    }

    @Test func valuesOfAConstraintAreForDebuggingOnly() async throws {
        let watch = Watch()
        let model = try DataModel {
            var person = SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
            }
            let _ = person.indexes = [SyncEntity.Index(["name"], unique: true)]
            person
        }
        let people = "[{\"id\": 1, \"name\": \(Self.text)}, {\"id\": 2, \"name\": \(Self.text)}]"
        let stores: [any Store] = [
            try MemoryStore(model, history: SyncHistory()),
            try await SQLiteStore(model, at: .memory, history: SyncHistory()),
        ]
        for store in stores {
            try await sync(store, watch, "unique") { try await $0.sync("Person", .text(people)) }
            for pass in try await store.passes() { watch.look(atCodable: pass, "history") }
        }
        #expect(watch.leaks.isEmpty, "\(watch.leaks.prefix(5))")
        #expect(watch.kinds.contains("StoreError.refused"), "\(watch.kinds)")
    }

    @Test func valuesOfASampleAreNotInItsFindings() async throws {
        let watch = Watch()
        let earlier = try InferredModel(
            from: JSONReader(bytes: Array("[{\"id\": 1, \"name\": \"a\"}]".utf8)), entity: "Person"
        ).model
        for body in Self.bodies {
            for key in [[], ["name"], ["extra"], ["company"]] {
                await look(watch, body) {
                    var options = InferredModel.Options()
                    options.key = key
                    let inferred = try InferredModel(
                        from: JSONReader(bytes: Array(body.utf8)), entity: "Person", options: options)
                    for finding in inferred.findings { watch.look(at: finding, body) }
                    let evolved = try InferredModel.Evolution(
                        earlier, with: JSONReader(bytes: Array(body.utf8)), entity: "Person")
                    for change in evolved.changes { watch.look(at: change, body) }
                    for obstacle in evolved.obstacles { watch.look(at: obstacle, body) }
                    return ""
                }
            }
        }
        #expect(watch.leaks.isEmpty, "\(watch.leaks.prefix(5))")
    }

    /// What debugging shows, and nothing else does.
    @Test func valuesAreInTheDebugDescription() throws {
        let url = try #require(URL(string: "https://api.test/people?KEY"))
        let quoted = "Zqx Patient"
        let errors: [any Error] = [
            HTTPError(url: url, problem: .status(500, firstLine: quoted, retryAfter: nil)),
            HTTPError(url: url, problem: .notJSON(firstLine: quoted)),
            HTTPError(url: url, problem: .refused("ok is false", text: quoted)),
            HTTPError(url: url, problem: .unsuitableJSON("no list", firstLine: quoted)),
            HTTPError(url: url, problem: .forbiddenAddress("is less secure", target: quoted)),
            MappingError.unfit(MappingError.Problem(entity: "Person", index: 0, reason: .refused(by: "code", quoted))),
            MappingError.unfit(
                MappingError.Problem(entity: "Person", index: 0, reason: .notAllowed(quoted, allowed: ["open"]))),
            MappingError.irreversible(entity: "Person", attribute: "code", by: "code", quoted),
            SQLiteError(code: 1811, message: quoted),
        ]
        for error in errors {
            let nested = SyncFailure(
                report: {
                    var report = SyncReport()
                    report.errors = [SyncError(stage: .content, key: "a", underlying: error)]
                    return report
                }())
            for error in [error, nested.errors[0], nested, SyncLeaseError.lost(name: "x", underlying: error)] {
                #expect(!"\(error)".contains(quoted), "\(error)")
                #expect(!error.localizedDescription.contains(quoted), "\(error)")
                #expect(String(reflecting: error).contains(quoted), "\(error)")
                #expect(!String(reflecting: error).contains("KEY"))
            }
        }
    }

    /// Looks at the text that a body returns, or at the error that it throws.
    private func look(_ watch: Watch, _ place: String, _ body: () async throws -> String) async {
        do { watch.look(at: try await body(), place) } catch { watch.look(at: error, place) }
    }
}
