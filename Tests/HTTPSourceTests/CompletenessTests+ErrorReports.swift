import HTTPSource
import HTTPTransfer
import StoreSync
import Testing

/// Errors beside a list, in responses with a successful status.
extension CompletenessTests {
    /// A member that may report an error, with the beginning of what is said about it.
    struct Report: Sendable {
        let member: String
        let said: String

        init(_ member: String, _ said: String) {
            (self.member, self.said) = (member, said)
        }
    }

    static let reports: [Report] = [
        Report(#""error":"s3cret""#, "page 1 may report an error: error is a text"),
        Report(#""error":{"code":"s3cret"}"#, "page 1 may report an error: error is an object"),
        Report(#""error":500"#, "page 1 may report an error: error is a number"),
        Report(#""error":true"#, "page 1 may report an error: error is true"),
        Report(#""errors":["s3cret"]"#, "page 1 may report an error: errors is an array"),
        Report(#""success":false,"message":"s3cret""#, "page 1 may report an error: success is false"),
        Report(#""ok":false"#, "page 1 may report an error: ok is false"),
        Report(#""status":"error""#, "page 1 may report an error: status is error"),
        Report(#""status":"FAILED""#, "page 1 may report an error: status is failed"),
        Report(#""partial":true"#, "page 1 may be incomplete: partial is true"),
        Report(#""timed_out":true"#, "page 1 may be incomplete: timed_out is true"),
        Report(#""incomplete":true"#, "page 1 may be incomplete: incomplete is true"),
        Report(#""incomplete_results":true"#, "page 1 may be incomplete: incomplete_results is true"),
        Report(#""success":"false""#, "page 1 may report an error: success is false"),
        Report(#""success":0"#, "page 1 may report an error: success is false"),
        Report(#""ok":0"#, "page 1 may report an error: ok is false"),
        Report(#""status":500"#, "page 1 may report an error: status is 500"),
        Report(#""status":"500""#, "page 1 may report an error: status is 500"),
        Report(#""statusCode":503,"message":"s3cret""#, "page 1 may report an error: statusCode is 503"),
        Report(#""code":401,"msg":"s3cret""#, "page 1 may report an error: code is 401"),
        Report(#""Error":"s3cret""#, "page 1 may report an error: Error is a text"),
        Report(#""errorMessages":["s3cret"]"#, "page 1 may report an error: errorMessages is an array"),
        Report(#""partial":1"#, "page 1 may be incomplete: partial is true"),
        Report(#""timedOut":"true""#, "page 1 may be incomplete: timedOut is true"),
    ]

    @Test(arguments: reports.indices, [true, false])
    func anErrorBesideTheListKeepsAbsentObjects(index: Int, isBefore: Bool) async throws {
        let (member, said) = (Self.reports[index].member, Self.reports[index].said)
        let world = try await SourceWorld()
        let body = isBefore ? #"{\#(member),"data":[]}"# : #"{"data":[],\#(member)}"#
        let result = try await sync(Self.list(.single), into: world) { _ in .json(body) }
        #expect(result.counts.kept == 4)
        let warning = "absent objects were kept: \(said) (check: .failing(…) states what an error is)"
        #expect(result.warnings.contains { $0.hasPrefix(warning) })
        // The reason stands in that sentence, not also by itself.
        #expect(result.warnings.count { $0.contains(said) } == 1)
        #expect(!"\(result.warnings)".contains("s3cret"))
        #expect(try await world.users().count == 4)
    }

    /// Directly beside a list, and at the root of the document.
    @Test(arguments: [
        (#"{"data":{"users":[],"error":"x"}}"#, "data.error is a text"),
        (#"{"data":{"users":[]},"error":"x"}"#, "error is a text"),
    ])
    func anErrorAroundADeepListKeepsAbsentObjects(body: String, said: String) async throws {
        let world = try await SourceWorld()
        let result = try await sync(HTTPAPI(keyPath: "data.users"), into: world) { _ in .json(body) }
        #expect(result.warnings.contains { $0.contains(": page 1 may report an error: \(said)") })
        #expect(try await world.users().count == 4)
    }

    static let schemes: [HTTPAPI.Pages] = [
        .link, .linkField(keyPath: "next"), .cursor(keyPath: "next", parameter: "after"), .automatic, numbered,
        .offset(parameter: "skip"), .lastElement(keyPath: "id", parameter: "after"),
    ]

    @Test(arguments: schemes.indices) func anErrorOnALaterPageKeepsAbsentObjects(scheme: Int) async throws {
        let world = try await SourceWorld()
        let result = try await sync(Self.list(Self.schemes[scheme]), into: world) { index in
            index % 2 == 0
                ? .json(Self.filled(#"{"data":USERS,"next":"/users?page=2"}"#), headers: Self.nextLink)
                : .json(#"{"error":"database is down","data":[],"next":null}"#)
        }
        #expect(result.counts.kept == 2)
        #expect(result.warnings.contains { $0.contains(": page 2 may report an error: error is a text") })
        #expect(try await world.users().count == 4)
    }

    @Test(arguments: [
        #""error":null"#, #""error":false"#, #""error":"" "#, #""error":{}"#, #""error":0"#, #""errors":[]"#,
        #""ok":true"#, #""success":true,"status":"success""#, #""status":500"#, #""status":"ok""#,
        #""partial":false,"timed_out":false,"incomplete":false,"incomplete_results":false"#,
        #""ok":1,"success":"true","code":200,"statusCode":"204","errorMessages":[],"Error":null"#,
        // The list has objects, so that the number may be anything.
        #""code":"415","statusCode":500"#,
        // Not beside the list.
        #""meta":{"error":"x","ok":false}"#,
    ])
    func otherMembersBesideTheListAreNoDoubt(member: String) async throws {
        let world = try await SourceWorld()
        let user = #"{"id":1,"name":"user 1","error":"x","ok":false,"status":"error","partial":true}"#
        let body = #"{"data":[\#(user)],\#(member)}"#
        let result = try await sync(Self.list(.single), into: world) { _ in .json(body) }
        #expect(result.warnings.isEmpty)
        #expect(try await world.users().count == 1)
    }

    /// Numbers beside an empty list that are no statuses of errors.
    @Test(arguments: [#""code":0"#, #""code":200,"status":"200""#, #""statusCode":600"#, #""code":"E401""#])
    func anotherNumberBesideAnEmptyListIsNoDoubt(member: String) async throws {
        let world = try await SourceWorld()
        let result = try await sync(Self.list(.single), into: world) { _ in .json(#"{"data":[],\#(member)}"#) }
        #expect(result.warnings.isEmpty)
        #expect(try await world.users().isEmpty)
    }

    /// A list may have the name of a sign, and so may the members that are its objects.
    @Test(arguments: [
        ("errors", #"{"errors":[{"id":1,"name":"a"}]}"#), ("status.ok", #"{"status":{"ok":[{"id":1,"name":"a"}]}}"#),
        ("data{key}", #"{"data":{"error":{"id":1,"name":"a"}}}"#), ("{key}", #"{"error":{"id":1,"name":"a"}}"#),
    ])
    func theListItselfIsNoDoubt(keyPath: String, body: String) async throws {
        let world = try await SourceWorld()
        let result = try await sync(HTTPAPI(keyPath: keyPath), into: world) { _ in .json(body) }
        #expect(result.warnings.isEmpty)
        #expect(try await world.users().count == 1)
    }

    /// A check states what an error is, and a sign of the last page what a value means.
    @Test(arguments: [true, false]) func aStatedMeaningReplacesTheSigns(isChecked: Bool) async throws {
        let world = try await SourceWorld()
        var api = Self.list(Self.numbered.ending(.unset(keyPath: isChecked ? "more" : "incomplete")))
        if isChecked { api.check = .failing(ifSet: "fault") }
        let result = try await sync(api, into: world) { index in
            let isFirst = index % 2 == 0
            let users = usersJSON(isFirst ? [1] : [2])
            return .json(#"{"data":\#(users),"more":\#(isFirst),"incomplete":\#(isFirst)}"#)
        }
        #expect(result.warnings.isEmpty)
        #expect(try await world.users().count == 2)
    }
}
