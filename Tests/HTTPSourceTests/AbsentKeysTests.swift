import Foundation
import HTTPSource
import HTTPTransfer
import OneWayTestLimits
import StoreSync
import SyncModel
import Testing

/// APIs that omit empty values.
@Suite(.endsInTime) struct AbsentKeysTests {
    /// A list whose only user loses the name.
    private static func source(_ api: HTTPAPI) throws -> HTTPJSONSource {
        let server = ScriptedServer { _, index in
            .json(index == 0 ? #"{"data":[{"id":1,"name":"a"}]}"# : #"{"data":[{"id":1}]}"#)
        }
        var source = try HTTPJSONSource.users(server)
        source.api.keyPath = "data"
        source.api.absentKeys = api.absentKeys
        return source
    }

    @Test(arguments: [HTTPAPI.airtable, .kinto, .firebase, .kubernetes, .google])
    func aValueThatAnAPIOmitsIsEmpty(api: HTTPAPI) async throws {
        let world = try await SourceWorld()
        let source = try Self.source(api)
        #expect(try await world.sync(source).absentKeys == .clear)
        #expect(try await world.sync(source).counts.updated == 1)
        #expect(try await world.users().isEmpty)
    }

    @Test func otherwiseAValueStays() async throws {
        let world = try await SourceWorld()
        let source = try Self.source(.github)
        #expect(try await world.sync(source).absentKeys == .keep)
        #expect(try await world.sync(source).counts.unchanged == 1)
        #expect(try await world.users() == [1: "a"])
    }

    /// A change of Microsoft Graph has at least the properties that changed, and perhaps no other.
    @Test func aChangeOfODataKeepsWhatItOmits() async throws {
        let world = try await SourceWorld(
            DataModel {
                SyncEntity("User", identity: "id", userInfo: [SyncEntity.inferredAnnotation: "true"]) {
                    SyncAttribute("id", .int64)
                    SyncAttribute("name", .string)
                }
                SyncEntity.bookmark
            })
        let server = ScriptedServer { request, _ in
            let users = request.url.query == nil ? usersJSON([1]) : #"[{"id":1}]"#
            return .json(#"{"value":\#(users),"@odata.deltaLink":"https://api.test/users?token=1"}"#)
        }
        var source = try HTTPJSONSource.users(server)
        source.api = .odata
        try await world.sync(source)
        let result = try await world.sync(source)
        #expect(result.coverage == .changes && result.absentKeys == .keep)
        #expect(try await world.users() == [1: "user 1"])
    }

    @Test func theOptionsOfASyncDecide() async throws {
        let world = try await SourceWorld()
        let source = try Self.source(.airtable)
        let options = StoreSyncOptions(absentKeys: .keep)
        #expect(try await world.sync(source, options).absentKeys == .keep)
        #expect(try await world.sync(source, options).absentKeys == .keep)
        #expect(try await world.users() == [1: "a"])
    }

    /// What was stored under one rule is read again under another.
    @Test func aBookmarkBelongsToItsRule() async throws {
        let world = try await SourceWorld()
        let server = ScriptedServer { request, _ in
            request.headers["If-None-Match"] != nil
                ? HTTPResponse(status: 304) : .json(usersJSON([1]), headers: ["ETag": "\"1\""])
        }
        let source = try HTTPJSONSource.users(server)
        try await world.sync(source)
        #expect(try await world.sync(source).coverage == .unchanged)
        #expect(try await world.sync(source).absentKeys == nil)
        #expect(try await world.sync(source, StoreSyncOptions(absentKeys: .clear)).coverage == .everything)
    }
}
