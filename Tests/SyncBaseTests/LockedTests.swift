import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import Testing

/// Values with a lock. An access that comes while the lock is held would never return.
@Suite(.endsInTime) struct LockedTests {
    private final class Probe: Sendable {
        let lock: Locked<Probe?>?

        init(_ lock: Locked<Probe?>? = nil) { self.lock = lock }

        deinit { _ = lock?.value }
    }

    @Test func aValueIsReleasedWithItsLock() {
        weak var released: Probe?
        do {
            let probe = Probe()
            released = probe
            #expect(Locked(probe).value === probe)
        }
        #expect(released == nil)
    }

    @Test func aReplacedValueIsReleasedOutsideTheLock() {
        let lock = Locked<Probe?>(nil)
        lock.value = Probe(lock)
        lock.value = Probe()
        #expect(lock.value?.lock == nil)
    }

    @Test func anErrorReleasesTheLock() {
        let lock = Locked(1)
        #expect(throws: TestError("no")) {
            try lock.withLock { number in
                number = 2
                throw TestError("no")
            }
        }
        #expect(lock.value == 2)
    }

    @Test func changesOfManyTasksAreAllMade() async {
        let lock = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<1_000 { lock.value += 1 } }
            }
        }
        #expect(lock.value == 8_000)
    }
}
