import Foundation
import HTTPSource
import HTTPTransfer
import JSONMapper
import ModelInference
import OneWaySynchronizer
import StoreSync
import SyncBase

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
        if let body = server.body { api.body = body }
        if let pages = server.pages.flatMap(HTTPAPI.Pages.init(argument:)) { api.pages = pages }
        for end in server.ends { api.pages = api.pages.ending(end) }
        if let size = server.pageSize { api.pages = api.pages.requesting(size.count, by: size.parameter) }
        if !server.isTotalExact { api.isTotalExact = false }
        if server.isSnapshot { api.isSnapshot = true }
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
    ///
    /// - Parameters:
    ///   - warn: Called with each part of a given model that cannot be used.
    ///   - show: Called with progress lines while the first pages are read.
    func modelChoice(
        warn: (String) -> Void, show: (ProgressLine) -> Void
    ) async throws -> (ModelChoice, keyPath: String) {
        let kept = try await arguments.modelChoice(warn: warn)
        var keyPath = arguments.keyPath.isEmpty ? source.keyPath : arguments.keyPath
        if keyPath.isEmpty { keyPath = kept?.listKeyPath(of: arguments.entity) ?? "" }
        if let kept, !arguments.needsSample(kept) { return (kept, keyPath) }
        do {
            return (try await sampledChoice(kept, ListPlace(keyPath: keyPath), show: show), keyPath)
        } catch let error as HTTPError where keyPath.isEmpty && error.isOfJSON {
            guard let place = try await findList(kept), place.isFound else { throw error }
            var choice = try await sampledChoice(kept, place, show: show)
            choice.notes = place.notes + choice.notes
            return (choice, place.keyPath)
        }
    }

    /// Returns the model that the first pages decide about.
    private func sampledChoice(
        _ kept: ModelChoice?, _ place: ListPlace, show: (ProgressLine) -> Void
    ) async throws -> ModelChoice {
        let empty = ObjectSample(objectLimit: arguments.inference.sampleCount)
        let sample = try await source.sample(at: place.keyPath, into: empty) { show(Self.line(sampling: $0)) }
        var choice = try arguments.modelChoice(kept, place, with: sample.reader)
        choice.sample = sample.extent
        return choice
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
    ///   - origin: The origin of the model.
    ///   - begin: When the first page was requested, also if that was for a model.
    ///   - show: Called with progress lines.
    func run(
        _ store: JSONStore, at keyPath: String, origin: ModelChoice.Origin, since begin: ContinuousClock.Instant,
        show: @escaping @Sendable (ProgressLine) -> Void
    ) async throws -> SyncSummary {
        let elementCount = Locked(0)
        let progress: @Sendable (StoreSyncOptions.Progress) -> Void = { progress in
            // It begins again with each reading of the pages.
            elementCount.withLock { $0 = max($0, progress.elementCount) }
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
        var summary = SyncSummary(
            entity: arguments.entity, origin: origin, isPlan: arguments.isPlan, result: remote, remote: remote)
        if remote.coverage == .everything { summary.elementCount = elementCount.withLock { $0 } }
        return summary
    }

    /// Returns a progress line about the pages that are read for a model.
    ///
    ///     reading the list for a model: 12 pages, 12000 objects, 3.1 MB
    static func line(sampling sample: ObjectSample) -> ProgressLine {
        let action = "reading the list for a model"
        guard sample.pageCount > 0 else { return ProgressLine(action) }
        let amounts = [
            "\(sample.pageCount) pages", "\(sample.objectCount) objects", Quantity.megabytes(sample.readByteCount),
        ]
        return ProgressLine("\(action): \(amounts.joined(separator: ", "))")
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
