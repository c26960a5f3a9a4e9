extension Task where Failure == Never {
    /// Starts a task on the calling thread, where the system can: up to its first wait, no other
    /// thread is woken for it.
    package static func atOnce(_ operation: @escaping @Sendable () async -> Success) -> Task {
        #if compiler(>=6.2)
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            return Task.immediate { await operation() }
        }
        #endif
        return Task { await operation() }
    }
}
