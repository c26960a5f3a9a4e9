import Foundation
import HTTPSource
import HTTPTransfer
import JSONMapper
import OneWaySynchronizer
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import OneWayTestSupport
import Testing

@Suite(.endsInTime) struct DeltaTests {
    private let now = Watched(testDate)

    private func source(
        _ api: any HTTPClient.Transport, tombstones: RemotePage.Tombstones? = nil, overlap: Duration = .zero,
        cursor: HTTPAPI.Delta.Cursor = .element(keyPath: "updated_at"), interval: Duration? = .seconds(86_400)
    ) throws -> HTTPJSONSource {
        let delta = HTTPAPI.Delta(
            cursor: cursor, parameter: "since", overlap: overlap, tombstones: tombstones, fullPassInterval: interval)
        return try .users(api, delta: delta, date: { now.value })
    }

    @discardableResult
    private func sync(_ world: SourceWorld, _ source: HTTPJSONSource) async throws -> StoreSyncResult {
        try await world.sync(source, StoreSyncOptions(keyPath: "data"))
    }

    @Test func changesAreAskedForFromTheLatestOneOnItIncluded() async throws {
        let api = FakeAPI()
        api.change { $0.users = [1: .init(name: "a", changed: -20), 2: .init(name: "b", changed: -10)] }
        let world = try await SourceWorld()
        #expect(try await sync(world, source(api)).coverage == .everything)
        // Of the same moment as the latest that was seen.
        api.change { $0.users[3] = .init(name: "c", changed: -10) }
        let result = try await sync(world, source(api))
        #expect(result.coverage == .changes)
        #expect(result.counts.inserted == 1)
        #expect(result.counts.unchanged == 1)
        #expect(api.log == ["-", FakeAPI.text(-10)])
        #expect(try await world.users() == [1: "a", 2: "b", 3: "c"])
    }

    @Test func whatIsCommittedLateIsFoundWithinTheOverlap() async throws {
        let api = FakeAPI()
        api.change { $0.users = [1: .init(name: "a", changed: -10)] }
        let world = try await SourceWorld()
        try await sync(world, source(api, overlap: .seconds(60)))
        api.change { $0.users[2] = .init(name: "late", changed: -40) }
        try await sync(world, source(api, overlap: .seconds(60)))
        #expect(api.log == ["-", FakeAPI.text(-70)])
        #expect(try await world.users()[2] == "late")
    }

    @Test func nothingNewKeepsTheCursor() async throws {
        let api = FakeAPI()
        api.change { $0.users = [1: .init(name: "a", changed: -100)] }
        let world = try await SourceWorld()
        for _ in 0..<4 { try await sync(world, source(api, overlap: .seconds(60))) }
        // The overlap must not move it back each time.
        #expect(api.log == ["-"] + Array(repeating: FakeAPI.text(-160), count: 3))
        api.change { $0.users = [:] }
        let result = try await sync(world, source(api, overlap: .seconds(60)))
        #expect(result.counts.deleted == 0)
        #expect(try await world.bookmark("cursor") == .string(FakeAPI.text(-100)))
    }

    @Test func aTextInPlaceOfATimeDoesNotMoveTheCursor() async throws {
        let times = [FakeAPI.text(-20), "unknown", FakeAPI.text(-10)]
        let server = ScriptedServer { _, index in
            let users = times.prefix(index + 1).enumerated().map { id, time in
                #"{"id":\#(id),"name":"a","updated_at":"\#(time)"}"#
            }
            return .json(#"{"data":[\#(users.joined(separator: ","))]}"#)
        }
        let world = try await SourceWorld()
        for _ in 0..<4 { try await sync(world, source(server)) }
        #expect(server.requests.map { $0.query("since") } == [nil, times[0], times[0], times[2]])
        #expect(try await world.users().count == 3)
    }

    @Test func anEmptyListHasNoCursor() async throws {
        let api = FakeAPI()
        let world = try await SourceWorld()
        try await sync(world, source(api))
        api.change { $0.users[1] = .init(name: "a", changed: -500) }
        try await sync(world, source(api))
        #expect(api.log == ["-", "-"])
        #expect(try await world.users() == [1: "a"])
    }

    @Test func aDateInTheFutureHidesNothing() async throws {
        let api = FakeAPI()
        api.change { state in
            state.users = [1: .init(name: "a", changed: 86_400 * 365), 2: .init(name: "b", changed: -10)]
            // The server's clock is an hour ahead of this machine's.
            state.headers = ["Date": "Thu, 01 Jan 2026 13:00:00 GMT"]
        }
        let world = try await SourceWorld()
        try await sync(world, source(api))
        api.change { $0.users[3] = .init(name: "c", changed: 3_700) }
        try await sync(world, source(api))
        #expect(api.log == ["-", FakeAPI.text(3_600)])
        #expect(try await world.users().count == 3)
    }

    @Test(arguments: [true, false]) func objectsThatAreNamedAsGoneAreDeleted(isList: Bool) async throws {
        let api = FakeAPI(isList ? .list : .flag)
        let tombstones: RemotePage.Tombstones = isList ? .list(keyPath: "gone") : .flag(keyPath: "deleted")
        api.change { state in for id in 1...5 { state.users[id] = .init(name: "u\(id)", changed: -100) } }
        let world = try await SourceWorld()
        try await sync(world, source(api, tombstones: tombstones))
        api.change { state in
            state.users[2] = .init(name: "", changed: -50, isDeleted: true)
            state.users[4] = .init(name: "", changed: -50, isDeleted: true)
            state.users[9] = .init(name: "", changed: -50, isDeleted: true)
            state.users[6] = .init(name: "u6", changed: -40)
        }
        let result = try await sync(world, source(api, tombstones: tombstones))
        #expect(result.coverage == .changes)
        #expect(result.counts.deleted == 2)
        #expect(result.counts.inserted == 1)
        #expect(try await world.users().keys.sorted() == [1, 3, 5, 6])
        #expect(try await sync(world, source(api, tombstones: tombstones)).isUnchanged)
        // It comes back.
        api.change { $0.users[2] = .init(name: "again", changed: -30) }
        try await sync(world, source(api, tombstones: tombstones))
        #expect(try await world.users()[2] == "again")
    }

    @Test func flaggedObjectsOfAFullListAreGone() async throws {
        let json =
            #"{"data":[{"id":1,"name":"a"},{"id":2,"name":"b","deleted_at":"2026-01-01"},{"id":3,"deleted_at":""}]}"#
        let server = ScriptedServer { _, index in .json(index == 0 ? #"{"data":\#(usersJSON(1...3))}"# : json) }
        let world = try await SourceWorld()
        let flagged = try HTTPJSONSource.users(
            server,
            delta: HTTPAPI.Delta(
                cursor: .element(keyPath: "x"), parameter: "since", tombstones: .flag(keyPath: "deleted_at")))
        try await sync(world, flagged)
        try await sync(world, flagged)
        #expect(try await world.users().keys.sorted() == [1, 3])
    }

    /// The order of one page decides: a log of events has both.
    @Test func inOnePageTheLastWordCounts() async throws {
        let events = """
            {"data":[{"id":1,"name":"a","deleted":true},{"id":1,"name":"back"},{"id":2,"name":"new"},{"id":2,"deleted":true}]}
            """
        let server = ScriptedServer { _, index in
            .json(index == 0 ? #"{"data":[{"id":1,"name":"a","updated_at":"2026-01-01"}]}"# : events)
        }
        let world = try await SourceWorld()
        for _ in 0..<2 { try await sync(world, source(server, tombstones: .flag(keyPath: "deleted"))) }
        #expect(try await world.users() == [1: "back"])
    }

    @Test func tooManyThatAreNamedAsGoneAreSuspicious() async throws {
        let api = FakeAPI(.list)
        api.change { state in for id in 1...5 { state.users[id] = .init(name: "u\(id)", changed: -100) } }
        let world = try await SourceWorld()
        let options = StoreSyncOptions(keyPath: "data", removalLimit: RemovalLimit(count: 2))
        try await world.sync(source(api, tombstones: .list(keyPath: "gone")), options)
        api.change { state in for id in 1...3 { state.users[id] = .init(name: "", changed: -50, isDeleted: true) } }
        await #expect(throws: StoreSyncError.self) {
            try await world.sync(source(api, tombstones: .list(keyPath: "gone")), options)
        }
        #expect(try await world.users().count == 5)
        #expect(try await world.bookmark("cursor") == .string(FakeAPI.text(-100)))
    }

    @Test func tombstonesThatAreNoListAreAnError() async throws {
        let server = ScriptedServer { _, _ in .json(#"{"gone":{"1":true},"data":[]}"#) }
        let world = try await SourceWorld()
        let error = StoreSyncError.unsuitableTombstones(entity: "User", keyPath: "gone")
        await #expect(throws: error) { try await sync(world, source(server, tombstones: .list(keyPath: "gone"))) }
    }

    @Test func aCursorThatIsTooOldMeansEverything() async throws {
        let api = FakeAPI()
        api.change { $0.users = [1: .init(name: "a", changed: -100), 2: .init(name: "b", changed: -100)] }
        let world = try await SourceWorld()
        try await sync(world, source(api))
        api.change { state in
            state.users = [2: .init(name: "b", changed: -100), 3: .init(name: "c", changed: -5)]
            state.oldest = -50
        }
        let result = try await sync(world, source(api))
        #expect(result.coverage == .everything)
        #expect(try await world.users().keys.sorted() == [2, 3])
        #expect(api.log == ["-", FakeAPI.text(-100), "-"])
        #expect(try await sync(world, source(api)).coverage == .changes)
    }

    @Test func everySoOftenEverythingIsReadAndGhostsAreFound() async throws {
        let api = FakeAPI()
        api.change { $0.users = [1: .init(name: "a", changed: -100), 2: .init(name: "b", changed: -100)] }
        let world = try await SourceWorld()
        try await sync(world, source(api))
        api.change { $0.users[1] = nil }
        now.update { $0 += 86_399 }
        #expect(try await sync(world, source(api)).coverage == .changes)
        #expect(try await world.users().count == 2)
        now.update { $0 += 1 }
        let result = try await sync(world, source(api))
        #expect(result.coverage == .everything)
        #expect(result.counts.deleted == 1)
        // From here on the day begins anew; and a clock that was set back must not put it off.
        #expect(try await sync(world, source(api)).coverage == .changes)
        now.update { $0 -= 86_400 * 30 }
        #expect(try await sync(world, source(api)).coverage == .everything)
    }

    /// A store keeps microseconds; this is later than the nearest of them.
    @Test func aDateThatWasRoundedIsNotInTheFuture() async throws {
        now.update { $0 += 0.000_000_6 }
        let api = FakeAPI()
        api.change { $0.users = [1: .init(name: "a", changed: -100)] }
        let world = try await SourceWorld()
        try await sync(world, source(api))
        #expect(try await sync(world, source(api)).coverage == .changes)
    }

    @Test func aTokenBesideTheObjectsIsHandedBackAsItIs() async throws {
        let server = ScriptedServer { request, index in
            .json(#"{"sync":{"token":"t/\#(index)+="},"data":\#(usersJSON([index]))}"#)
        }
        let world = try await SourceWorld()
        let source = try source(server, overlap: .seconds(60), cursor: .document(keyPath: "sync.token"))
        for _ in 0..<3 { try await sync(world, source) }
        #expect(server.requests.map { $0.query("since") } == [nil, "t/0+=", "t/1+="])
        #expect(server.paths[1] == "/users?since=t%2F0%2B%3D")
        #expect(try await world.users().count == 3)
    }

    /// OneDrive's cursor is called `token`. A token of the source's own address is a credential.
    @Test(arguments: ["", "?token=s3cr3t-token"]) func aTokenOfALinkToChangesIsACursor(query: String) async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { request, index in
            let token = request.query("token")
            let link = query.isEmpty ? "?token=cursor-\(index)" : "?token=s3cr3t-token&after=\(index)"
            let isFirst = query.isEmpty ? token == nil : request.query("after") == nil
            return .json(
                #"{"value":\#(usersJSON(isFirst ? [1, 2] : [])),"@odata.deltaLink":"https://api.test/users\#(link)"}"#,
                headers: ["ETag": "\"\(index)\""])
        }
        var source = try HTTPJSONSource.users(
            server, pages: HTTPAPI.odata.pages, delta: HTTPAPI.odata.delta, query: query)
        source.api.keyPath = "value"
        try await world.sync(source)
        #expect(try await world.sync(source).coverage == .changes)
        #expect(try await world.sync(source).coverage == .changes)
        let queries = query.isEmpty ? ["", "?token=cursor-0", "?token=cursor-1"] : ["", "&after=0", "&after=1"]
        #expect(server.paths == queries.map { "/users\(query)\($0)" })
        let kept = "\(String(describing: try await world.bookmark("cursor")))"
        #expect(kept.contains("2") && !kept.contains("s3cr3t"), "\(kept)")
        #expect(try await world.users().count == 2)
    }

    @Test func aFailedRunKeepsTheCursor() async throws {
        let server = ScriptedServer { request, index in
            switch index {
            case 0: .json(#"{"data":[{"id":1,"name":"a","updated_at":100}]}"#)
            case 1: .json(#"{"data":[{"id":2,"name":"b","updated_at":200},"#)
            default: .json(#"{"data":[{"id":2,"name":"b","updated_at":200}]}"#)
            }
        }
        let world = try await SourceWorld()
        try await sync(world, source(server))
        await #expect(throws: HTTPError.self) { try await sync(world, source(server)) }
        #expect(try await world.users().count == 1)
        try await sync(world, source(server))
        #expect(server.requests.map { $0.query("since") } == [nil, "100", "100"])
        #expect(try await world.users().count == 2)
    }

    /// The server can find out on any page that a cursor is too old.
    @Test(arguments: [410, 404]) func aLaterPageCanSayThatTheCursorIsTooOld(status: Int) async throws {
        let first = #"{"id":1,"name":"a","updated_at":"2026-01-01T11:00:00Z"}"#
        let second = #"{"id":2,"name":"b","updated_at":"2026-01-01T11:30:00Z"}"#
        let server = ScriptedServer { request, index in
            let isDelta = request.query("since") != nil
            guard isDelta else { return .json(#"{"data":[\#(index == 0 ? first : "\(first),\(second)")]}"#) }
            guard request.query("p") == nil else { return HTTPResponse(status: status) }
            let next: HTTPHeaders = ["Link": "<?p=2&since=\(request.query("since") ?? "")>; rel=next"]
            return .json(#"{"data":[\#(second)]}"#, headers: next)
        }
        let world = try await SourceWorld()
        let delta = HTTPAPI.Delta(cursor: .element(keyPath: "updated_at"), parameter: "since", overlap: .zero)
        let source = try HTTPJSONSource.users(server, pages: .link, delta: delta)
        try await sync(world, source)
        guard status == 410 else {
            let error = await #expect(throws: HTTPError.self) { try await sync(world, source) }
            #expect(error?.description.contains("status 404") == true)
            #expect(try await world.users() == [1: "a"])
            return
        }
        #expect(try await sync(world, source).coverage == .everything)
        #expect(try await world.users() == [1: "a", 2: "b"])
        #expect(server.requests.map { $0.query("since") == nil } == [true, false, false, true])
    }

    /// Neither another status nor the first request of everything means an old cursor.
    @Test(arguments: [(404, [true, false]), (410, [true])])
    func onlyACursorCanBeTooOld(status: Int, areWhole: [Bool]) async throws {
        let server = ScriptedServer { request, index in
            guard status == 404, request.query("since") == nil else { return HTTPResponse(status: status) }
            return .json(#"{"data":[{"id":\#(index),"name":"a","updated_at":"2026-01-01T11:00:00Z"}]}"#)
        }
        let world = try await SourceWorld()
        if status == 404 { try await sync(world, source(server)) }
        let error = await #expect(throws: HTTPError.self) { try await sync(world, source(server)) }
        #expect(error?.description.contains("status \(status)") == true)
        #expect(server.requests.map { $0.query("since") == nil } == areWhole)
    }

    /// The first page of changes has a user that is gone when the whole list is read.
    @Test func whatOnlyPagesOfAnExpiredCursorHadIsGone() async throws {
        let server = ScriptedServer { request, index in
            guard request.query("pageToken") == nil else { return HTTPResponse(status: 410) }
            return switch request.query("syncToken") {
            case "t1": .json(#"{"items":\#(usersJSON([2], suffix: "!")),"nextPageToken":"p2"}"#)
            case "t2": .json(#"{"items":[],"nextSyncToken":"t2"}"#)
            default:
                .json(
                    index == 0
                        ? #"{"items":\#(usersJSON([1, 2, 3])),"nextSyncToken":"t1"}"#
                        : #"{"items":\#(usersJSON([1, 3])),"nextSyncToken":"t2"}"#)
            }
        }
        let world = try await SourceWorld()
        let google = HTTPAPI.google
        let source = try HTTPJSONSource.users(server, pages: google.pages, delta: google.delta)
        let options = StoreSyncOptions(keyPath: google.keyPath)
        try await world.sync(source, options)
        let result = try await world.sync(source, options)
        #expect(result.coverage == .everything && result.counts.deleted == 1)
        #expect(try await world.users().keys.sorted() == [1, 3])
        #expect(try await world.bookmark("cursor") == .string("t2"))
        #expect(try await world.sync(source, options).coverage == .changes)
    }
}
