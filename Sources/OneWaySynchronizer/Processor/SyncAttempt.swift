/// What a processor's preview or content call can learn about itself.
///
/// ```swift
/// func owsDownloadItem(for item: Page) async throws {
///     let attempt = SyncAttempt.current
///     try await fetch(item, resuming: (attempt?.number ?? 1) > 1, timeout: attempt?.timeLeft)
/// }
/// ```
///
/// It costs nothing for calls that do not ask.
public struct SyncAttempt: Sendable, Hashable, Codable {
    /// Whether the item was not stored when the pass began. `false`: it is downloaded again,
    /// because it changed.
    public var isNew: Bool

    /// The number of the attempt within the pass; 1 is the first.
    public var number: Int

    /// The time until the call is cancelled by a time-out of the item, the stage or the pass, at
    /// the moment of asking; at least zero. `nil`: there is none.
    public var timeLeft: Duration?

    /// Creates a description of an attempt.
    public init(isNew: Bool = true, number: Int = 1, timeLeft: Duration? = nil) {
        self.isNew = isNew
        self.number = number
        self.timeLeft = timeLeft
    }

    /// Finds the attempt that a worker makes at the moment.
    ///
    /// An object, because Swift 6.3 miscompiles task-local values that are closures: binding one in
    /// generic code crashes in release builds.
    final class Provider: Sendable {
        fileprivate let attempt: @Sendable () -> SyncAttempt?

        init(_ attempt: @escaping @Sendable () -> SyncAttempt?) {
            self.attempt = attempt
        }
    }

    @TaskLocal static var provider: Provider?

    /// The attempt that the current task makes; `nil` outside of preview and content calls.
    ///
    /// Meaningful until the call returns: ask in the call itself or in tasks that it awaits.
    public static var current: SyncAttempt? { provider?.attempt() }
}
