import OneWayTestLimits
import SyncBase
import Testing

@Suite(.endsInTime) struct SystemThreadTests {
    @Test func aJoinedThreadHasEnded() throws {
        let ran = Locked(false)
        let thread = try SystemThread(name: "a name of more than fifteen bytes") { ran.value = true }
        thread.join()
        #expect(ran.value)
        // Another call neither waits nor harms.
        thread.join()
        #expect(!thread.isCurrent)
    }

    @Test func aThreadThatNobodyJoinsRunsToItsEnd() async throws {
        let end = Promise<Void>()
        _ = try SystemThread(name: "") { end.settle() }
        try await end.value(isCancellable: true)
    }

    @Test func itIsCurrentOnlyForItself() throws {
        let thread = Locked<SystemThread?>(nil)
        let answer = Locked<Bool?>(nil)
        thread.value = try SystemThread(name: "itself") {
            while thread.value == nil {}
            answer.value = thread.value?.isCurrent
        }
        thread.value?.join()
        #expect(answer.value == true)
    }
}
