import SyncBase

/// Counts calls, and lets one of them fail.
final class Countdown: Sendable {
    private let left: Locked<Int>
    private let taken = Locked(0)

    init(_ call: Int) {
        left = Locked(call)
    }

    var count: Int { taken.withLock { $0 } }

    func step() throws {
        taken.withLock { $0 += 1 }
        let isOver = left.withLock { left in
            left -= 1
            return left == 0
        }
        if isOver { throw FaultyStore.Fault() }
    }
}
