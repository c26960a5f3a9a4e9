import Foundation
import OneWayTestLimits
import OneWayTestSupport
import Testing

@testable import Demo

@Suite(.endsInTime) struct InterruptHandlerTests {
    /// Not Ctrl-C, which would end the tests if it were not handled.
    @Test func aSignalRightAfterTheCreationIsHandled() async throws {
        let gate = Gate()
        let handler = InterruptHandler(of: SIGWINCH) { gate.open() }
        kill(getpid(), SIGWINCH)
        try await gate.pass()
        withExtendedLifetime(handler) {}
    }
}
