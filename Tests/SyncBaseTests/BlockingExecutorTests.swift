import Foundation
import SyncBase
import Testing

@Suite struct BlockingExecutorTests {
    private actor Worker {
        private let executor: BlockingExecutor
        private var calls: [Int] = []

        init(_ executor: BlockingExecutor) { self.executor = executor }

        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        func call(_ number: Int) -> (thread: String?, calls: [Int]) {
            executor.checkIsolated()
            calls.append(number)
            return (Thread.current.name, calls)
        }

        func block(on semaphore: DispatchSemaphore) {
            semaphore.wait()
        }
    }

    @Test func callsRunOneAfterAnotherOnItsThread() async {
        let worker = Worker(BlockingExecutor(label: "worker 1"))
        for number in 1...5 {
            let (thread, calls) = await worker.call(number)
            #expect(thread == "worker 1")
            #expect(calls == Array(1...number))
        }
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
