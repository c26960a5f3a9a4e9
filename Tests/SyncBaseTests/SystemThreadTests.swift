import Foundation
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

    #if os(Linux)
    /// Linux has 15 bytes for a name, and a file that is written to set it.
    @Test func aThreadHasItsName() throws {
        let name = Locked<String?>(nil)
        let isClosed = Locked<Bool?>(nil)
        try SystemThread(name: "a name of a thread") {
            let files = FileManager.default
            name.value = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
            guard let place = try? files.destinationOfSymbolicLink(atPath: "/proc/thread-self"),
                let descriptors = try? files.contentsOfDirectory(atPath: "/proc/self/fd")
            else { return }
            isClosed.value = descriptors.allSatisfy { descriptor in
                let file = try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
                return file != "/proc/\(place)/comm"
            }
        }.join()
        #expect(name.value == "a name of a thr\n" && isClosed.value == true)
    }
    #endif
}
