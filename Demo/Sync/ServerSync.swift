import Foundation
import HTTPSource
import HTTPTransfer
import JSONMapper
import OneWaySynchronizer
import StoreSync

/// Syncs from a server into a store.
struct ServerSync {
    /// The pause between two syncs; nil for a single sync.
    let interval: Duration?
    private let arguments: SyncArguments
    private let source: SampledSource<HTTPJSONSource>

    init(_ url: URL, _ server: ServerArguments, arguments: SyncArguments) {
        let client = HTTPClient(
            retry: RetryPolicy(outlasting: server.outage), requestsPerSecond: server.requestsPerSecond)
        var api = server.api.flatMap { HTTPAPI.common($0) } ?? HTTPAPI()
        if let body = server.body.flatMap({ try? JSONValue(parsing: $0) }) { api.body = body }
        if let pages = server.pages.flatMap(HTTPAPI.Pages.init(argument:)) { api.pages = pages }
        for end in server.ends { api.pages = api.pages.ending(end) }
        if let size = server.pageSize { api.pages = api.pages.requesting(size.count, by: size.parameter) }
        if !server.isTotalExact { api.isTotalExact = false }
        let delta = server.sinceKeyPath.map { keyPath in
            HTTPAPI.Delta(cursor: .element(keyPath: keyPath), parameter: server.sinceParameter)
        }
        if let delta { api.delta = delta }
        api.adviceText = { ServerArguments.text(of: $0) }
        var source = HTTPJSONSource(url, api: api, client: client) { server.headers }
        source.timeout = server.timeout
        self.source = SampledSource(source)
        interval = server.interval
        self.arguments = arguments
    }

    /// Returns the given or stored model, or one that the first pages decide about, and the key
    /// path of the list.
    func modelChoice(warn: (String) -> Void) async throws -> (ModelChoice, keyPath: String) {
        let kept = try await arguments.modelChoice(warn: warn)
        var keyPath = arguments.keyPath.isEmpty ? source.keyPath : arguments.keyPath
        if keyPath.isEmpty { keyPath = kept?.listKeyPath(of: arguments.entity) ?? "" }
        if let kept, !arguments.needsSample(kept) { return (kept, keyPath) }
        do {
            let sample = try await source.sample(at: keyPath)
            return (try arguments.modelChoice(kept, ListPlace(keyPath: keyPath), with: sample.reader), keyPath)
        } catch let error as HTTPError where keyPath.isEmpty && error.isOfJSON {
            guard let place = try await findList(kept), place.isFound else { throw error }
            let sample = try await source.sample(at: place.keyPath)
            var choice = try arguments.modelChoice(kept, place, with: sample.reader)
            choice.notes = place.notes + choice.notes
            return (choice, place.keyPath)
        }
    }

    /// Finds the list within the first page, which is no list itself.
    private func findList(_ kept: ModelChoice?) async throws -> ListPlace? {
        guard let page = try await source.firstPage() else { return nil }
        return try ListPlace(page, arguments, kept) { JSONReader(bytes: page, layout: $0) }
    }

    /// Runs one sync or plan.
    ///
    /// - Parameters:
    ///   - keyPath: The key path of the list.
    ///   - show: Called with progress lines.
    func run(
        _ store: JSONStore, at keyPath: String, origin: ModelChoice.Origin,
        show: @escaping @Sendable (ProgressLine) -> Void
    ) async throws -> SyncSummary {
        let begin = ContinuousClock.now
        let progress: @Sendable (StoreSyncOptions.Progress) -> Void = { progress in
            show(Self.line(progress, after: ContinuousClock.now - begin))
        }
        var options = arguments.options
        options.keyPath = keyPath
        // Unchanged pages would hide the drift that decides about the exit code.
        let usesBookmark = !arguments.failingFindings.contains(.drift)
        let remote =
            arguments.isPlan
            ? try await store.plan(
                from: source, into: arguments.entity, options: options, usesBookmark: usesBookmark, progress: progress)
            : try await store.sync(
                from: source, into: arguments.entity, options: options, usesBookmark: usesBookmark, progress: progress)
        return SyncSummary(
            entity: arguments.entity, origin: origin, isPlan: arguments.isPlan, result: remote, remote: remote)
    }

    /// Returns a progress line.
    ///
    ///     [####----] 12 pages, 12000 of 20000 objects, 3.1 MB, 4000 objects/s, 2.0 s left
    static func line(_ progress: StoreSyncOptions.Progress, after duration: Duration) -> ProgressLine {
        let seconds = duration / .seconds(1)
        let isAgain = progress.totalElementCount.map { progress.elementCount > $0 } ?? false
        let rate = seconds > 0 ? Double(progress.elementCount) / seconds : 0
        var parts = [
            "\(progress.pageCount) pages", "\(progress.elementCount) objects",
            Quantity.megabytes(progress.byteCount),
        ]
        if rate > 0 { parts.append("\(Int(rate)) objects/s") }
        // Pages are read twice before anything is deleted.
        if isAgain { parts.append("reading again") }
        guard let total = progress.totalElementCount, total > 0, !isAgain else {
            return ProgressLine(parts.joined(separator: ", "))
        }
        parts[1] = "\(progress.elementCount) of \(total) objects"
        if rate > 0 {
            let left = Double(max(total - progress.elementCount, 0)) / rate
            parts.append("\(Quantity.time(.milliseconds(Int64(left * 1_000)))) left")
        }
        return ProgressLine(parts.joined(separator: ", "), done: progress.elementCount, total: total)
    }
}

extension HTTPError {
    /// Whether a page is JSON without a list.
    fileprivate var isOfJSON: Bool {
        if case .unsuitableJSON = problem { true } else { false }
    }
}
