import OneWayTestLimits
import SyncBase
import Testing

@Suite(.endsInTime) struct HandoffTests {
    @Test func aSenderIsNeverMoreThanOneElementAhead() async throws {
        let handoff = Handoff<Int>()
        let sent = Locked(0)
        async let sender: Void = {
            for number in 1...100 {
                try await handoff.send(number)
                sent.withLock { $0 = number }
            }
            handoff.finish(.success(()))
        }()
        for number in 1...100 {
            #expect(try await handoff.next() == number)
            #expect(sent.value <= number + 1)
        }
        #expect(try await handoff.next() == nil)
        try await sender
    }

    @Test func theSendersErrorComesAfterItsElements() async throws {
        struct Failure: Error {}
        let handoff = Handoff<Int>()
        try await handoff.send(1)
        handoff.finish(.failure(Failure()))
        #expect(try await handoff.next() == 1)
        await #expect(throws: Failure.self) { _ = try await handoff.next() }
    }

    @Test func aSenderEndsWhenNobodyTakesElements() async throws {
        let handoff = Handoff<Int>()
        try await handoff.send(1)
        let second = Task { try await handoff.send(2) }
        handoff.close()
        await #expect(throws: CancellationError.self) { try await second.value }
        await #expect(throws: CancellationError.self) { try await handoff.send(3) }
    }

    /// An element may be taken, or the receiver stop, while the sender is about to wait.
    @Test func aSenderThatIsAboutToWaitMissesNothing() async throws {
        let handoff = Handoff<Int>()
        let sender = Task {
            for number in 1...500 { try await handoff.send(number) }
            handoff.finish(.success(()))
        }
        var sum = 0
        while let number = try await handoff.next() { sum += number }
        try await sender.value
        #expect(sum == 125_250)
    }
}
