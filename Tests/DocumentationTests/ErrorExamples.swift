import Foundation
import HTTPTransfer
import OneWaySyncSQLite
import OneWayTestLimits
import OneWayTestSupport
import Testing

/// The program of the guide `WhatCanGoWrong`, compiled and run.
@Suite(.endsInTime) struct ErrorExamples {
    private func messageOfASync(_ store: some Store, _ source: some RemoteSource) async throws -> String {
        var message = ""
        do {
            try await store.sync(User.self, from: source)
        } catch {
            switch SyncError.Area(of: error) {
            case .cancelled: break
            case .server: message = "The server cannot be reached. Try again later."
            case .data: message = "The server sends other data than this app expects."
            case .storage: message = "The data cannot be stored. Is the disk full?"
            case .lease, .program, .other: throw error
            }
        }
        return message
    }

    private func source(status: Int = 200, _ body: String) throws -> HTTPJSONSource {
        let client = HTTPClient(
            transport: Answering { _ in HTTPResponse(status: status, bytes: Array(body.utf8)) },
            retry: RetryPolicy(maxAttempts: 1))
        return HTTPJSONSource(try #require(URL(string: "https://api.test/users")), client: client)
    }

    @Test func oneCatchDistinguishesWhatWentWrong() async throws {
        let store = try await SQLiteStore(User.self, at: .memory)
        let users = #"[{"id": 1, "name": "Ada"}]"#
        #expect(try await messageOfASync(store, source(users)).isEmpty)
        #expect(try await messageOfASync(store, source(status: 500, users)).hasPrefix("The server cannot"))
        for body in [#"{"message": "Not Found"}"#, #"[{"id": 1, "name": Ada}]"#, #"[{"name": "Ada"}]"#] {
            #expect(try await messageOfASync(store, source(body)).hasPrefix("The server sends"), "\(body)")
        }
    }

    @Test func aFullDiskConcernsTheStorage() async throws {
        let folder = try TemporaryDirectory()
        let place = SQLiteStore.Location.file(folder.url.appending(path: "data.sqlite"))
        _ = try await SQLiteStore(User.self, at: place)
        var options = SQLiteStore.Options()
        options.maximumPageCount = 1
        let store = try await SQLiteStore(User.self, at: place, options: options)
        let users = (1...9_999).map { #"{"id": \#($0), "name": "Ada"}"# }.joined(separator: ",")
        #expect(try await messageOfASync(store, source("[\(users)]")).hasPrefix("The data cannot be stored"))
    }

    @Test func aCancelledSyncHasNoMessage() async throws {
        let store = try await SQLiteStore(User.self, at: .memory)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await messageOfASync(store, source("[]"))
        }
        #expect(try await task.value.isEmpty)
    }

    @Test func aSettingThatCannotWorkIsThrown() async throws {
        let store = try await SQLiteStore(Issue.self, at: .memory)
        await #expect(throws: (any Error).self) { _ = try await messageOfASync(store, source("[]")) }
    }
}
