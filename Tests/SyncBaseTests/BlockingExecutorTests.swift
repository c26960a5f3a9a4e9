import Foundation
import OneWayTestLimits
import SyncBase
import Testing

@Suite(.endsInTime) struct BlockingExecutorTests {
    private actor Worker {
        private let executor: BlockingExecutor
        private var calls: [Int] = []

        init(_ executor: BlockingExecutor) { self.executor = executor }

        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        func call(_ number: Int) -> (thread: ObjectIdentifier, calls: [Int]) {
            executor.checkIsolated()
            calls.append(number)
            return (ObjectIdentifier(Thread.current), calls)
        }

        func block(on semaphore: DispatchSemaphore) {
            semaphore.wait()
        }

        /// Keeps a reference for as long as the thread runs.
        func keep(_ semaphore: DispatchSemaphore, at key: pthread_key_t) {
            pthread_setspecific(key, Unmanaged.passRetained(semaphore).toOpaque())
        }
    }

    @Test func callsRunOneAfterAnotherOnItsThread() async {
        let worker = Worker(BlockingExecutor(label: "worker 1"))
        var threads: Set<ObjectIdentifier> = []
        for number in 1...5 {
            let (thread, calls) = await worker.call(number)
            threads.insert(thread)
            #expect(calls == Array(1...number))
        }
        #expect(threads.count == 1)
    }

    /// More of them than cooperative threads: if they blocked these, nobody could signal.
    @Test func blockedExecutorsBlockNobodyElse() async {
        let count = 2 * ProcessInfo.processInfo.activeProcessorCount + 2
        let semaphore = DispatchSemaphore(value: 0)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                let worker = Worker(BlockingExecutor(label: "blocked \(number)"))
                group.addTask { await worker.block(on: semaphore) }
            }
            group.addTask {
                await Task.yield()
                for _ in 0..<count { semaphore.signal() }
            }
        }
    }

    @Test func aCheckOnAnotherThreadStopsTheProgram() async {
        await #expect(processExitsWith: .failure) {
            let executor = BlockingExecutor(label: "elsewhere")
            executor.checkIsolated()
        }
    }

    // MARK: Operations

    private enum Scope {
        @TaskLocal static var name = "none"
    }

    private struct Failed: Error {}

    private static func isOnThread(of worker: Worker) async -> Bool {
        let here = currentThread()
        return await worker.call(0).thread == here
    }

    private static func currentThread() -> ObjectIdentifier { ObjectIdentifier(Thread.current) }

    @Test func operationsRunOnItsThreadBetweenTheCallsOfItsActor() async throws {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return }
        let executor = BlockingExecutor(label: "operation")
        let worker = Worker(executor)
        let isThere = await executor.run {
            let before = await Self.isOnThread(of: worker)
            async let child = Self.isOnThread(of: worker)
            return (before, await child, await Self.isOnThread(of: worker))
        }
        #expect(isThere == (true, true, true))
        #expect(await Self.isOnThread(of: worker) == false)
    }

    @Test func whatIsOutsideRunsWhileTheThreadIsBlocked() async throws {
        let executor = BlockingExecutor(label: "inside")
        let worker = Worker(executor)
        let semaphore = DispatchSemaphore(value: 0)
        let isOutside = await executor.run {
            async let outside = BlockingExecutor.outside {
                // The call waits for the signal, and so would everything else on its thread.
                semaphore.signal()
                return Self.currentThread()
            }
            await worker.block(on: semaphore)
            return await outside != worker.call(1).thread
        }
        #expect(isOutside)
    }

    @Test func operationsKeepTheirTask() async throws {
        let executor = BlockingExecutor(label: "task")
        await #expect(throws: Failed.self) { try await executor.run { throw Failed() } }
        let task = Task {
            await Scope.$name.withValue("own") {
                await executor.run {
                    while !Task.isCancelled { await Task.yield() }
                    return await BlockingExecutor.outside { (Scope.name, Task.isCancelled) }
                }
            }
        }
        task.cancel()
        #expect(await task.value == ("own", true))
    }

    /// What a thread has of its own is released when it ends, whether it has a call then or waits
    /// for one.
    @Test(arguments: [false, true]) func theThreadEndsWithTheLastReference(isIdle: Bool) async {
        let ended = DispatchSemaphore(value: 0)
        var key = pthread_key_t()
        pthread_key_create(&key) { pointer in
            #if canImport(Darwin)
            Unmanaged<DispatchSemaphore>.fromOpaque(pointer).takeRetainedValue().signal()
            #else
            if let pointer { Unmanaged<DispatchSemaphore>.fromOpaque(pointer).takeRetainedValue().signal() }
            #endif
        }
        do {
            let (executor, other) = (BlockingExecutor(label: "last"), Worker(BlockingExecutor(label: "other")))
            await Worker(executor).keep(ended, at: key)
            // Meanwhile the thread has begun to wait.
            for number in 0..<(isIdle ? 100 : 0) { _ = await other.call(number) }
            withExtendedLifetime(executor) {}
        }
        #expect(Self.hasEnded(ended))
        pthread_key_delete(key)
    }

    private static func hasEnded(_ semaphore: DispatchSemaphore) -> Bool {
        semaphore.wait(timeout: .now() + 10) == .success
    }
}
