import SyncBase

/// The objects of a query as JSON, in chunks of about 64 KiB.
///
///     for try await chunk in store.exportChunks(StoreQuery("User")) {
///         try await response.write(chunk)
///     }
///
/// All chunks come from one snapshot. At most one chunk is read ahead of the consumer. Leaving
/// the loop early, or cancelling its task, ends the read. Each loop starts a new read.
public struct ExportedJSON: AsyncSequence, Sendable {
    /// Bytes of the JSON text, never empty.
    public typealias Element = [UInt8]
    /// The errors of `Store.export(_:options:)`.
    public typealias Failure = any Error

    let write: @Sendable (_ sink: @Sendable ([UInt8]) async throws -> Void) async throws -> Void

    /// Creates an iterator. The read begins with the first element.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(write: write)
    }

    /// An iterator over the chunks.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let reading: Reading

        fileprivate init(
            write: @escaping @Sendable (@Sendable ([UInt8]) async throws -> Void) async throws -> Void
        ) {
            reading = Reading(write)
        }

        /// Waits for the next chunk; nil after the last.
        ///
        /// - Throws: The errors of `Store.export(_:options:)`. The chunks so far are
        ///   then not valid JSON.
        public mutating func next() async throws -> [UInt8]? {
            try await reading.next()
        }

        /// Waits for the next chunk; nil after the last.
        ///
        /// - Throws: As ``next()``.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> [UInt8]? {
            try await reading.next()
        }
    }

    /// A read that ends when its last reference is released.
    private final class Reading: Sendable {
        private let chunks = Handoff<[UInt8]>()
        private let write: @Sendable (@Sendable ([UInt8]) async throws -> Void) async throws -> Void
        private let task = Locked<Task<Void, Never>?>(nil)

        init(_ write: @escaping @Sendable (@Sendable ([UInt8]) async throws -> Void) async throws -> Void) {
            self.write = write
        }

        deinit {
            task.withLock { $0 }?.cancel()
        }

        func next() async throws -> [UInt8]? {
            task.withLock { task in
                guard task == nil else { return }
                task = Task { [chunks, write] in
                    do {
                        try await write { try await chunks.send($0) }
                        chunks.finish(.success(()))
                    } catch {
                        chunks.finish(.failure(error))
                    }
                }
            }
            do { return try await chunks.next() } catch {
                task.withLock { $0 }?.cancel()
                throw error
            }
        }
    }
}
