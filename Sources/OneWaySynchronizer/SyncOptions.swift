import Foundation

/// How a pass is run. A pass uses the options that its synchronizer had when it began.
///
/// ```swift
/// var options = SyncOptions(concurrency: 8, stopOnError: false)
/// options.removalLimit = RemovalLimit(fraction: 0.2)
/// options.retry = RetryPolicy()
/// ```
public struct SyncOptions: Sendable {
    /// How many previews or contents are downloaded at a time; 0 (default) is the number of active processors, and so is
    /// anything below.
    ///
    /// Never more calls than that at once, and that many whenever there is work.
    public var concurrency: Int

    /// Whether previews are downloaded, all of them before the first content. Default `false`.
    public var downloadPreview: Bool

    /// Whether contents are downloaded. Default `true`.
    public var downloadContent: Bool

    /// What the first error of a preview or content does. Default `true`.
    ///
    /// `true`: no further item is started, running ones are cancelled and awaited, the pass ends. `false`: every item is
    /// tried and every error reported. An error in listing, comparing, removing or preparing always ends the pass.
    public var stopOnError: Bool

    /// How many removals a pass may make before they are suspicious. Default `nil`: any number.
    public var removalLimit: RemovalLimit?

    /// When removals are made. Default ``RemovalOrder/beforeDownloads``.
    public var removalOrder: RemovalOrder

    /// Whether and how a failed call is tried again. Default `nil`: never.
    ///
    /// Holds for every call of a pass except `owsSyncBegin` and `owsSyncEnd`. An item that waits to be tried again leaves
    /// its place to the next one.
    public var retry: RetryPolicy?

    /// How long one call for a preview or content may take before it is cancelled and counts as failed with
    /// ``SyncError/Reason/timedOut(after:)``. Default `nil`: any time.
    ///
    /// A call that ignores its cancellation is still awaited. With a ``retry`` policy each attempt has this long.
    public var itemTimeout: Duration?

    /// Whether `owsShouldUpdateItem` is called for several items at a time, as many as ``concurrency`` says. Default
    /// `false`: one after another, in the source's order.
    public var concurrentUpdateChecks: Bool

    /// Whether the report lists the keys of what was inserted, updated, removed and withheld, beside counting them.
    /// Default `false`, which keeps reports small.
    public var reportsKeys: Bool

    /// The defaults are those of the properties.
    public init(
        concurrency: Int = 0,
        downloadPreview: Bool = false,
        downloadContent: Bool = true,
        stopOnError: Bool = true,
        removalLimit: RemovalLimit? = nil,
        removalOrder: RemovalOrder = .beforeDownloads,
        retry: RetryPolicy? = nil,
        itemTimeout: Duration? = nil,
        concurrentUpdateChecks: Bool = false,
        reportsKeys: Bool = false
    ) {
        self.concurrency = concurrency
        self.downloadPreview = downloadPreview
        self.downloadContent = downloadContent
        self.stopOnError = stopOnError
        self.removalLimit = removalLimit
        self.removalOrder = removalOrder
        self.retry = retry
        self.itemTimeout = itemTimeout
        self.concurrentUpdateChecks = concurrentUpdateChecks
        self.reportsKeys = reportsKeys
    }

    /// ``concurrency`` with 0 resolved; at least 1.
    var width: Int {
        concurrency > 0 ? concurrency : ProcessInfo.processInfo.activeProcessorCount
    }
}

/// When a pass removes what is absent from the source.
public enum RemovalOrder: Sendable, Hashable {
    /// Before anything is downloaded.
    case beforeDownloads

    /// After the last download, and only if none failed: a failed pass never leaves less than there was before. The
    /// removals of a pass with a failure are withheld; the next pass finds them again.
    case afterDownloads
}

/// How many removals a pass may make, and what happens to a pass that would make more.
///
/// Guards against a source that answers with an empty or truncated list without saying so.
public struct RemovalLimit: Sendable, Hashable {
    /// What happens to a pass that would remove more than the limit.
    public enum Action: Sendable, Hashable {
        /// The pass ends with ``SyncError/Reason/removalLimitExceeded(removals:localCount:limit:)``, before anything is
        /// removed or downloaded.
        case abort

        /// Nothing is removed, the rest of the pass goes on, and the report says how many removals were withheld.
        case withhold
    }

    /// The highest number of removals; 0 allows none. `nil`: any number.
    public var count: Int?

    /// The highest share of the local items, from 0 to 1, that may be removed. `nil`: any share.
    public var fraction: Double?

    /// Default ``Action/abort``.
    public var action: Action

    /// A limit by number, by share, or by both, in which case the stricter holds.
    public init(count: Int? = nil, fraction: Double? = nil, action: Action = .abort) {
        self.count = count
        self.fraction = fraction
        self.action = action
    }

    /// Whether removing `removals` of `localCount` local items is within the limit.
    package func allows(removals: Int, of localCount: Int) -> Bool {
        if let count, removals > count { return false }
        if let fraction, Double(removals) > fraction * Double(localCount) { return false }
        return true
    }
}

extension RemovalLimit: CustomStringConvertible {
    /// Such as `10 items or 20% of the local ones`.
    public var description: String {
        let parts = [
            count.map { "\($0) items" },
            fraction.map { "\(($0 * 1000).rounded() / 10)% of the local items" },
        ]
        let limits = parts.compactMap(\.self)
        return limits.isEmpty ? "no limit" : limits.joined(separator: " or ")
    }
}
