import ModelInference
import Foundation
import HTTPSource
import HTTPTransfer
import JSONMapper
import StoreSync

/// Syncs from a server into a store.
struct ServerSync {
    /// The pause between two syncs; nil for a single sync.
    let interval: Duration?
    private let arguments: SyncArguments
    private let source: HTTPJSONSource

    init(_ url: URL, _ server: ServerArguments, arguments: SyncArguments) {
        let delta = server.sinceKeyPath.map { keyPath in
            HTTPDelta(cursor: .element(keyPath: keyPath), parameter: server.sinceParameter)
        }
        source = HTTPJSONSource(
            url, pages: server.pages.pages, delta: delta,
            client: HTTPClient(requestsPerSecond: server.requestsPerSecond), headers: { server.headers })
        interval = server.interval
        self.arguments = arguments
    }

    /// Returns the given or stored model, or one inferred from the first page.
    func modelChoice(warn: (String) -> Void) async throws -> ModelChoice {
        if let choice = try await arguments.modelChoice(warn: warn) { return choice }
        var bytes: [UInt8] = []
        if case .changed(let run) = try await source.begin(after: nil, keyPath: arguments.keyPath),
            case .chunks(let chunks) = try await run.next()?.json
        {
            for try await chunk in chunks { bytes += chunk }
        }
        let layout = JSONLayout.array(at: arguments.keyPath, acceptsSingleObject: true)
        return try .inferred(from: JSONReader(bytes: bytes, layout: layout), entity: arguments.entity)
    }

    /// Runs one sync or plan.
    ///
    /// - Parameter show: Called with progress lines.
    func run(
        _ store: JSONStore, origin: ModelChoice.Origin, show: @escaping @Sendable (String) -> Void
    ) async throws -> SyncSummary {
        let begin = ContinuousClock.now
        let progress: @Sendable (RemoteSyncProgress) -> Void = { progress in
            show(Self.line(progress, after: ContinuousClock.now - begin))
        }
        let remote =
            arguments.isPlan
            ? try await store.plan(
                from: source, into: arguments.entity, options: arguments.options, progress: progress)
            : try await store.sync(
                from: source, into: arguments.entity, options: arguments.options, progress: progress)
        return SyncSummary(
            entity: arguments.entity, origin: origin, isPlan: arguments.isPlan, result: remote.result, remote: remote)
    }

    /// Returns a progress line.
    ///
    ///     [####----] 12 pages, 12000 of 20000 objects, 3.1 MB, 4000 objects/s, 2.0 s left
    static func line(_ progress: RemoteSyncProgress, after duration: Duration) -> String {
        let seconds = duration / .seconds(1)
        let rate = seconds > 0 ? Double(progress.elementCount) / seconds : 0
        var parts = [
            "\(progress.pageCount) pages", "\(progress.elementCount) objects",
            "\(SyncCommand.megabytes(progress.byteCount)) MB", "\(Int(rate)) objects/s",
        ]
        guard let total = progress.totalElementCount, total > 0 else { return parts.joined(separator: ", ") }
        parts[1] = "\(progress.elementCount) of \(total) objects"
        if rate > 0 {
            let left = Double(max(total - progress.elementCount, 0)) / rate
            parts.append("\(ProgressDisplay.seconds(.milliseconds(Int64(left * 1_000)))) left")
        }
        return "\(ProgressDisplay.bar(progress.elementCount, of: total)) " + parts.joined(separator: ", ")
    }
}
