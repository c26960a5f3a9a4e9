package import OneWaySynchronizer

/// An item with a revision.
package struct TestItem: SyncItem, Equatable, Codable {
    package var owsPrimaryKey: String
    package var owsDownloadOrder: Int
    package var revision: Int

    package init(_ key: String, order: Int = 0, revision: Int = 1) {
        owsPrimaryKey = key
        owsDownloadOrder = order
        self.revision = revision
    }
}

/// An error with a name.
package struct TestError: Error, Equatable, CustomStringConvertible {
    package var name: String

    package init(_ name: String) { self.name = name }

    package var description: String { name }
}

/// An error that allows a retry, with an optional delay.
package struct RetryableTestError: RetryableError {
    package var retryAfter: Duration?

    package init(retryAfter: Duration? = nil) { self.retryAfter = retryAfter }
}

/// A processor with a source and a local collection in memory.
///
/// It logs its calls, and a test can intercept each of them.
package final class ScriptedProcessor: SyncProcessor {
    /// A call of the processor, as logged.
    package enum Call: Sendable, Hashable, CustomStringConvertible {
        case begin
        case list
        case localKeys
        case remove([String])
        case shouldUpdate(String)
        case shouldUpdateAll([String])
        case prepare([String])
        case preview(String)
        case content(String)
        case end

        package var description: String {
            switch self {
            case .begin: "begin"
            case .list: "list"
            case .localKeys: "localKeys"
            case .remove(let keys): "remove \(keys.joined(separator: ","))"
            case .shouldUpdate(let key): "shouldUpdate \(key)"
            case .shouldUpdateAll(let keys): "shouldUpdateAll \(keys.joined(separator: ","))"
            case .prepare(let keys): "prepare \(keys.joined(separator: ","))"
            case .preview(let key): "preview \(key)"
            case .content(let key): "content \(key)"
            case .end: "end"
            }
        }
    }

    package struct State: Sendable {
        /// The items that the source lists.
        package var source: SourceList<TestItem>
        /// What the source lists from the second pass on; nil for the same.
        package var secondSource: SourceList<TestItem>?
        /// The revisions of the local items, by key.
        package var local: [String: Int]
        package var answersUpdatesInBatch = false
        /// The conversion that `owsPrepareDownload` applies to its items.
        package var prepare: @Sendable ([TestItem]) -> [TestItem] = { $0 }
        package var results: [Result<SyncReport, SyncFailure>] = []
        package var inFlight = 0
        package var maximumInFlight = 0
        package var callCount = 0
    }

    package let log = EventLog<Call>()
    private let state: Watched<State>
    /// Runs inside each call, before the call takes effect. May wait at a gate or throw an error.
    private let onCall: @Sendable (Call) async throws -> Void

    package init(
        source: [TestItem] = [], local: [String: Int] = [:],
        onCall: @escaping @Sendable (Call) async throws -> Void = { _ in }
    ) {
        state = Watched(State(source: SourceList(source), local: local))
        self.onCall = onCall
    }

    package var current: State { state.value }
    package var local: [String: Int] { current.local }
    package var calls: [Call] { log.events }

    /// Waits until a condition holds.
    ///
    /// - Throws: `CancellationError` if the task is cancelled first.
    package func wait(until isMet: @escaping @Sendable (State) -> Bool) async throws {
        try await state.wait(until: isMet)
    }

    package func change(_ body: @Sendable (inout State) -> Void) {
        state.update { body(&$0) }
    }

    /// The revisions of the source items, by key. After a sync, `local` must be equal to them.
    package var sourceRevisions: [String: Int] {
        Dictionary(current.source.items.map { ($0.owsPrimaryKey, $0.revision) }) { $1 }
    }

    private func run<Value: Sendable>(_ call: Call, _ effect: @Sendable (inout State) -> Value) async throws -> Value {
        log.append(call)
        state.update { state in
            state.callCount += 1
            state.inFlight += 1
            state.maximumInFlight = max(state.maximumInFlight, state.inFlight)
        }
        defer { state.update { $0.inFlight -= 1 } }
        try await onCall(call)
        return state.update { effect(&$0) }
    }

    package func owsSyncBegin() async throws { try await run(.begin) { _ in } }
    package func owsFetchSourceList() async throws -> SourceList<TestItem> {
        try await run(.list) { state in
            defer { state.source = state.secondSource ?? state.source }
            return state.source
        }
    }

    package func owsGetLocalKeys() async throws -> Set<String> { try await run(.localKeys) { Set($0.local.keys) } }

    package func owsRemoveLocalItems(for keys: Set<String>) async throws {
        try await run(.remove(keys.sorted())) { state in
            for key in keys { state.local[key] = nil }
        }
    }

    package func owsShouldUpdateItem(forKey key: String, with item: TestItem) async throws -> Bool {
        try await run(.shouldUpdate(key)) { $0.local[key] != item.revision }
    }

    package func owsShouldUpdateItems(_ items: [TestItem]) async throws -> Set<String>? {
        guard current.answersUpdatesInBatch else { return nil }
        return try await run(.shouldUpdateAll(items.map(\.owsPrimaryKey))) { state in
            Set(items.filter { state.local[$0.owsPrimaryKey] != $0.revision }.map(\.owsPrimaryKey))
        }
    }

    package func owsPrepareDownload(of items: [TestItem]) async throws -> [TestItem] {
        try await run(.prepare(items.map(\.owsPrimaryKey))) { $0.prepare(items) }
    }

    package func owsDownloadItemPreview(for item: TestItem) async throws {
        try await run(.preview(item.owsPrimaryKey)) { _ in }
    }

    package func owsDownloadItem(for item: TestItem) async throws {
        try await run(.content(item.owsPrimaryKey)) { $0.local[item.owsPrimaryKey] = item.revision }
    }

    package func owsSyncEnd(_ result: Result<SyncReport, SyncFailure>) async throws {
        try await run(.end) { $0.results.append(result) }
    }
}
