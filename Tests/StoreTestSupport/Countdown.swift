import SyncBase
import SyncStore

/// Counts the calls within transactions, and makes one of them fail.
package final class Countdown: StoreHook {
    package struct Fault: Error {
        package init() {}
    }

    private let left: Locked<Int>
    private let taken = Locked(0)

    /// - Parameter call: The number of the call that fails, from 1 on; `Int.max` for none.
    package init(_ call: Int) {
        left = Locked(call)
    }

    /// How many calls were made.
    package var count: Int { taken.withLock { $0 } }

    package func willMake(_ call: StoreCall) throws {
        switch call {
        case .transaction, .read: break
        case .fetch, .count, .links, .find, .merge, .changeEntity, .link, .remove: try step()
        }
    }

    /// Counts a call.
    package func step() throws {
        taken.withLock { $0 += 1 }
        let isOver = left.withLock { left in
            left -= 1
            return left == 0
        }
        if isOver { throw Fault() }
    }
}
