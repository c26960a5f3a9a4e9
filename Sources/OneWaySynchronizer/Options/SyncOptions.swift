#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How a pass runs. A pass uses the options that its synchronizer had when it began.
///
/// ```swift
/// var options = SyncOptions(concurrency: 8, stopOnError: false)
/// options.removalLimit = RemovalLimit(fraction: 0.2, atLeast: 10)
/// options.retry = RetryPolicy()
/// options.stageTimeouts[.list] = .seconds(30)
/// ```
public struct SyncOptions: Sendable {
    /// The number of previews or contents downloaded at a time. Default 0: the number of active
    /// processors.
    ///
    /// Never more calls than that run at once, and that many run whenever there is enough work. A
    /// value below 0 becomes 0.
    public var concurrency: Int {
        didSet { concurrency = max(concurrency, 0) }
    }

    /// Whether previews are downloaded, all before the first content. Default `false`.
    public var downloadPreview: Bool

    /// Whether contents are downloaded. Default `true`.
    public var downloadContent: Bool

    /// Whether the first error of a preview or content ends the pass. Default `true`.
    ///
    /// - `true`: No further item is started, running calls are cancelled and awaited, and the pass
    ///   ends.
    /// - `false`: Every item is tried, and every error is reported.
    ///
    /// An error in listing, comparing, removing or preparing always ends the pass.
    public var stopOnError: Bool

    /// The limit of removals, as protection against incomplete lists. Default `nil`: any number.
    public var removalLimit: RemovalLimit?

    /// When removals are made. Default ``SyncOptions/RemovalOrder/beforeDownloads``.
    public var removalOrder = RemovalOrder.beforeDownloads

    /// Whether and how a failed call is retried. Default `nil`: never.
    ///
    /// Applies to every call of a pass except `owsSyncBegin` and `owsSyncEnd`. While an item waits
    /// for its retry, the next item takes its place.
    public var retry: RetryPolicy?

    /// The longest duration of one preview or content call. Default `nil`: no limit.
    ///
    /// A call that takes longer is cancelled, and fails with ``SyncError/Reason/timedOut(after:)``
    /// unless it still succeeds. A call that ignores its cancellation is awaited. With a ``retry``
    /// policy, the limit applies to each attempt.
    public var itemTimeout: Duration?

    /// The longest duration of a whole stage, including retries and their waits. Default empty: no
    /// limit.
    ///
    /// A stage that takes longer is cancelled and awaited, and the pass ends with
    /// ``SyncError/Reason/timedOut(after:)``, whatever ``stopOnError`` says. It goes on if the
    /// stage is of one call and this succeeds nevertheless. ``SyncStage/compare`` cannot be
    /// cancelled.
    public var stageTimeouts: [SyncStage: Duration] = [:]

    /// The longest duration of a pass without `owsSyncEnd`. Default `nil`: no limit.
    ///
    /// A pass that takes longer is stopped as if cancelled, and fails with
    /// ``SyncError/Reason/timedOut(after:)`` in the stage that it had reached.
    public var passTimeout: Duration?

    /// Whether `owsShouldUpdateItem` is called for several items at a time, up to ``concurrency``.
    /// Default `false`: one after another, in the source's order.
    public var concurrentUpdateChecks = false

    /// Whether the report lists the keys of inserted, updated, deleted and kept items. Default
    /// `false`, which keeps reports small.
    public var reportsKeys = false

    /// Creates options. The defaults are those of the properties; the other properties are set
    /// afterwards.
    public init(
        concurrency: Int = 0,
        downloadPreview: Bool = false,
        downloadContent: Bool = true,
        stopOnError: Bool = true,
        removalLimit: RemovalLimit? = nil,
        retry: RetryPolicy? = nil,
        itemTimeout: Duration? = nil,
        passTimeout: Duration? = nil
    ) {
        self.concurrency = max(concurrency, 0)
        self.downloadPreview = downloadPreview
        self.downloadContent = downloadContent
        self.stopOnError = stopOnError
        self.removalLimit = removalLimit
        self.retry = retry
        self.itemTimeout = itemTimeout
        self.passTimeout = passTimeout
    }

    /// ``concurrency``, with 0 replaced by the number of processors; at least 1.
    var width: Int {
        concurrency > 0 ? concurrency : ProcessInfo.processInfo.activeProcessorCount
    }
}
