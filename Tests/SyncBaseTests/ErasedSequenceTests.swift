import OneWayTestLimits
import SyncBase
import Testing

@Suite(.endsInTime) struct ErasedSequenceTests {
    private struct Failure: Error {}

    private func numbers(failing: Bool) -> AsyncThrowingStream<Int, any Error> {
        AsyncThrowingStream { continuation in
            for number in 1...3 { continuation.yield(number) }
            continuation.finish(throwing: failing ? Failure() : nil)
        }
    }

    @Test func itHasTheElementsOfItsBase() async throws {
        var found: [Int] = []
        for try await number in ErasedSequence(numbers(failing: false)) { found.append(number) }
        #expect(found == [1, 2, 3])
    }

    @Test func itEndsWithTheErrorOfItsBase() async throws {
        let iterator = ErasedSequence(numbers(failing: true)).makeAsyncIterator()
        for number in 1...3 { #expect(try await iterator.next() == number) }
        await #expect(throws: Failure.self) { try await iterator.next() }
    }
}
