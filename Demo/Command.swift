/// A command that reads or prints something, and can be interrupted by Ctrl-C.
protocol Command: Sendable {
    var console: Console { get }

    /// Performs the command. Every error becomes one line on standard error.
    func perform() async throws
}

extension Command {
    /// Runs the command until it ends or is interrupted.
    ///
    /// - Returns: The exit code.
    func run() async -> Int32 {
        await InterruptHandler.cancelling {
            do {
                try await perform()
                return ExitCode.done
            } catch is CancellationError {
                console.clear()
                console.printError("stopped")
                return ExitCode.interrupted
            } catch {
                console.clear()
                console.printFailure(FailureText.text(error))
                return ExitCode.failed
            }
        }
    }
}
