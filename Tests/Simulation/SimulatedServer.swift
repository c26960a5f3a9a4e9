import SyncBase
import Foundation
import HTTPTransfer
import OneWayTestSupport

/// A server without sockets, whose data changes while it is read, and that lies and fails.
final class SimulatedServer: HTTPClient.Transport, @unchecked Sendable {
    // Sendable because all tasks of a simulation run on one thread.
    let plan: SimulationPlan
    private(set) var source = SimulatedSource()
    /// Whether everything goes well, and nothing changes.
    var isCalm = false
    /// How many changes there may be during the run, so that lists do not grow faster than they are
    /// read.
    var changesLeft = 0
    private var random: SeededRandom
    private let clock: ManualClock
    private let trace: @Sendable (String) -> Void
    /// What a reader by snapshots goes on reading.
    private var snapshots: [[SimulatedSource.Item]] = []

    init(_ plan: SimulationPlan, seed: UInt64, clock: ManualClock, trace: @escaping @Sendable (String) -> Void) {
        self.plan = plan
        self.clock = clock
        self.trace = trace
        random = SeededRandom(seed: ~seed)
        for _ in 0..<plan.firstItemCount { change() }
    }

    /// The client's time, in seconds since 1970.
    static func clientTime(_ clock: ManualClock) -> Int {
        1_800_000_000 + Int(clock.now.offset.components.seconds)
    }

    private var now: Int { Self.clientTime(clock) + plan.skew }

    func change() {
        source.change(now: now, lag: plan.lag, using: &random)
    }

    private func chance(_ share: Double) -> Bool {
        Double.random(in: 0..<1, using: &random) < share
    }

    // MARK: Answering

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        if !isCalm, chance(plan.changeRate) {
            for _ in 0...Int.random(in: 0..<3, using: &random) where changesLeft > 0 {
                changesLeft -= 1
                change()
            }
        }
        let fault = !isCalm && chance(plan.faultRate) ? Fault.allCases.randomElement(using: &random) : nil
        trace("\(request.url.query ?? "first page")\(fault.map { ", \($0)" } ?? "")")
        switch fault {
        case .refused: throw HTTPError.Problem.unreachable("refused", isLasting: false)
        case .slow: try await clock.sleep(for: .seconds(Int.random(in: 1...45, using: &random)))
        case .error: return HTTPResponse(status: [500, 502, 503].randomElement(using: &random) ?? 500)
        case .busy:
            let wait = ["0", "7", "86400", Self.httpDate(now + 3), "soon"].randomElement(using: &random) ?? ""
            return HTTPResponse(status: 429, headers: ["Retry-After": wait, "Date": Self.httpDate(now)])
        case .forbidden: return HTTPResponse(status: 403, bytes: Array("no".utf8))
        case .page: return HTTPResponse(status: 200, bytes: Array(" <html><body>Sign in</body></html>".utf8))
        case .otherJSON: return HTTPResponse(status: 200, bytes: Array(Self.otherJSON(plan, &random).utf8))
        case .cut, .silentlyCut, nil: break
        }
        let response = answer(request)
        guard fault == .cut || fault == .silentlyCut, response.status == 200 else { return whole(response) }
        let received = Int.random(in: 0..<max(response.body.count, 1), using: &random)
        let part = Array(response.body.prefix(received))
        let body = AsyncThrowingStream<[UInt8], any Error> { continuation in
            continuation.yield(part)
            continuation.finish(
                throwing: fault == .cut ? HTTPError.Problem.cutShort(received: received, expected: nil) : nil)
        }
        return HTTPResponse(status: 200, headers: response.headers, body: body)
    }

    private enum Fault: CaseIterable {
        case refused, slow, error, busy, forbidden, page, otherJSON, cut, silentlyCut
    }

    /// What a proxy or a changed server might say instead of the list.
    private static func otherJSON(_ plan: SimulationPlan, _ random: inout SeededRandom) -> String {
        var texts = [
            #"{"error": "later"}"#, #"{"items": {"id": "x"}"#, "null", "7", #""down""#, #"{"items": null}"#, "{}",
        ]
        if plan.isWrapped { texts += ["[]", #"{"data": []}"#, #"{"items": "none"}"#] }
        return texts.randomElement(using: &random) ?? ""
    }

    private func whole(_ response: (status: Int, headers: HTTPHeaders, body: [UInt8])) -> HTTPResponse {
        HTTPResponse(status: response.status, headers: response.headers, bytes: response.body)
    }

    private func answer(_ request: HTTPRequest) -> (status: Int, headers: HTTPHeaders, body: [UInt8]) {
        var headers = HTTPHeaders()
        if plan.sendsDate { headers["Date"] = Self.httpDate(now) }
        let since = query("since", of: request).flatMap { Self.time(of: $0) }
        if let since, since < now - plan.retention { return (410, headers, []) }
        let (items, next) = page(request, of: list(since: since))
        let isFirst = ["page", "offset", "after"].allSatisfy { query($0, of: request) == nil }
        let body = Array(document(items, next: next, since: since, isFirst: isFirst || plan.repeatsRemovals).utf8)
        if plan.sendsEntityTags { headers["ETag"] = #""\#(Self.digest(body))""# }
        if plan.sendsLastModified, plan.paging == .single || plan.paging == .link {
            headers["Last-Modified"] = Self.httpDate(source.lastChange)
        }
        if plan.paging == .link, let next { headers["Link"] = #"<?\#(next)\#(sinceQuery(since))>; rel="next""# }
        let tags = request.headers["If-None-Match"]
        let isUnchanged =
            tags.map { $0 == headers["ETag"] }
            ?? request.headers["If-Modified-Since"].map { $0 == headers["Last-Modified"] } ?? false
        return isUnchanged ? (304, headers, []) : (200, headers, body)
    }

    /// What there is to say, in the server's order.
    private func list(since: Int?) -> [SimulatedSource.Item] {
        let shown = source.items.values.filter { item in
            guard !item.isGone || plan.removals == .flag else { return false }
            return since.map { item.changed >= $0 } ?? true
        }
        return shown.sorted { one, other in
            plan.isNewestFirst && one.changed != other.changed ? one.changed > other.changed : one.id < other.id
        }
    }

    /// The part of a list that is asked for, and what the next one is asked for by.
    private func page(
        _ request: HTTPRequest, of list: [SimulatedSource.Item]
    ) -> (items: [SimulatedSource.Item], next: String?) {
        func slice(_ list: [SimulatedSource.Item], _ start: Int) -> (items: [SimulatedSource.Item], end: Int?) {
            let end = min(start + plan.pageSize, list.count)
            return (Array(list[min(start, end)..<end]), end < list.count ? end : nil)
        }
        switch plan.paging {
        case .single: return (list, nil)
        case .link, .linkField, .page:
            let number = query("page", of: request).flatMap { Int($0) } ?? 1
            let (items, end) = slice(list, (number - 1) * plan.pageSize)
            return (items, end.map { _ in "page=\(number + 1)" })
        case .offset:
            return (slice(list, query("offset", of: request).flatMap { Int($0) } ?? 0).items, nil)
        case .keyset:
            let after = query("after", of: request).flatMap { Int($0) } ?? 0
            let (items, end) = slice(list.filter { $0.id > after }, 0)
            return (items, end.flatMap { _ in items.last.map { "\($0.id)" } })
        case .snapshot:
            let parts = (query("after", of: request) ?? "").split(separator: "-").compactMap { Int($0) }
            var (number, start) = (snapshots.count, 0)
            if parts.count == 2, parts[0] < snapshots.count {
                (number, start) = (parts[0], parts[1])
            } else {
                snapshots.append(list)
            }
            let (items, end) = slice(snapshots[number], start)
            return (items, end.map { "\(number)-\($0)" })
        }
    }

    private func document(_ items: [SimulatedSource.Item], next: String?, since: Int?, isFirst: Bool) -> String {
        var objects = items.map { item in
            let flag = plan.removals == .flag ? #", "is_gone": \#(item.isGone)"# : ""
            return #"{"id": \#(item.id), "name": "\#(item.name)", "changed": "\#(Self.text(item.changed))"\#(flag)}"#
        }
        // Where a page begins depends on how many objects the one before it had.
        if !isCalm, plan.paging != .offset, chance(0.1), let again = objects.randomElement(using: &random) {
            objects.append(again)
        }
        let array = "[\(objects.joined(separator: ", "))]"
        guard plan.isWrapped else { return array }
        var fields = [#""items": \#(array)"#]
        if let next {
            let link = plan.paging == .linkField ? "?\(next)\(sinceQuery(since))" : next
            fields.append(#""next": "\#(link)""#)
        }
        // What is committed late by then has a time from then on.
        if plan.cursorIsInDocument { fields.append(#""until": "\#(Self.text(now - plan.lag - 1))""#) }
        if plan.removals == .list, isFirst {
            let gone = source.items.values.filter { $0.isGone && $0.changed >= since ?? 0 }.map(\.id).sorted()
            fields.append(#""gone": \#(gone)"#)
        }
        if plan.putsObjectsLast { fields.reverse() }
        return "{\(fields.joined(separator: ", "))}"
    }

    // MARK: Texts

    private func query(_ name: String, of request: HTTPRequest) -> String? {
        URLComponents(url: request.url, resolvingAgainstBaseURL: true)?.queryItems?.first { $0.name == name }?.value
    }

    private func sinceQuery(_ since: Int?) -> String {
        since.map { "&since=\(Self.text($0))" } ?? ""
    }

    private static func text(_ time: Int) -> String {
        Date(timeIntervalSince1970: Double(time)).formatted(.iso8601)
    }

    private static func time(of text: String) -> Int? {
        (try? Date(text, strategy: .iso8601)).map { Int($0.timeIntervalSince1970) }
    }

    /// A date as heads of responses have it (RFC 9110, section 5.6.7).
    private static func httpDate(_ time: Int) -> String {
        let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let parts = text(time).split { !$0.isNumber }.compactMap { Int($0) }
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(days[time / 86_400 % 7]), \(two(parts[2])) \(months[parts[1] - 1]) \(parts[0]) "
            + "\(two(parts[3])):\(two(parts[4])):\(two(parts[5])) GMT"
    }

    private static func digest(_ bytes: [UInt8]) -> String {
        var fingerprint = Fingerprint()
        fingerprint.combine(bytes: bytes)
        return fingerprint.text
    }
}
