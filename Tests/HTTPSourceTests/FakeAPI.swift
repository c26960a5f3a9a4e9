import SyncBase
import Foundation
import HTTPTransfer

/// An API of users that remembers when each was changed or deleted, and can tell what has changed
/// since then.
final class FakeAPI: HTTPClient.Transport {
    struct User {
        var name: String
        /// Seconds after `testDate`.
        var changed: Int
        var isDeleted = false
    }

    struct State {
        var users: [Int: User] = [:]
        /// How deletions are told: not at all, as a list, or as a flag of the users.
        var tombstones = Tombstones.none
        /// Before this, deltas are answered by 410.
        var oldest = Int.min
        var log: [String] = []
        var headers: HTTPHeaders = [:]
    }

    enum Tombstones { case none, list, flag }

    private let state = Locked(State())

    init(_ tombstones: Tombstones = .none) {
        change { $0.tombstones = tombstones }
    }

    func change(_ body: (inout State) -> Void) {
        state.withLock { body(&$0) }
    }

    /// What each request asked for as `since`; `-` where it was none.
    var log: [String] { state.withLock(\.log) }

    static func text(_ seconds: Int) -> String {
        testDate.addingTimeInterval(Double(seconds)).formatted(.iso8601)
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        state.withLock { state in
            let since = request.query("since")
            state.log.append(since ?? "-")
            let seconds = since.flatMap { text in
                (try? Date(text, strategy: .iso8601)).map { $0.timeIntervalSince(testDate) }
            }
            if let seconds, seconds < Double(state.oldest) { return HTTPResponse(status: 410) }
            let found = state.users.filter {
                seconds == nil ? !$0.value.isDeleted : Double($0.value.changed) >= seconds ?? 0
            }
            let shown = found.filter { state.tombstones == .flag || !$0.value.isDeleted }
            let users = shown.sorted { $0.key < $1.key }.map { id, user in
                #"{"id":\#(id),"name":"\#(user.name)","updated_at":"\#(Self.text(user.changed))","deleted":\#(user.isDeleted)}"#
            }
            let gone = found.filter(\.value.isDeleted).keys.sorted().map(String.init)
            let list = state.tombstones == .list ? #","gone":[\#(gone.joined(separator: ","))]"# : ""
            return .json(#"{"data":[\#(users.joined(separator: ","))]\#(list)}"#, headers: state.headers)
        }
    }
}
