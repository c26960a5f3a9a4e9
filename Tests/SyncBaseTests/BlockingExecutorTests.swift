import Foundation
import SyncBase
import Testing

@Suite struct BlockingExecutorTests {
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
}
