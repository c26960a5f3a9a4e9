import Foundation
import OneWaySynchronizer

/// The command `Demo tour`: the features of OneWaySynchronizer in chapters that check their claims.
struct Tour {
    let console: Console

    /// Runs all chapters.
    ///
    /// - Returns: The exit code: failed as soon as a claim is false.
    func run() async -> Int32 {
        let begin = ContinuousClock.now
        do {
            let stage = try TourStage(console: console)
            defer { stage.close() }
            do {
                try await tell(on: stage)
            } catch {
                await stage.server.stop()
                throw error
            }
            await stage.server.stop()
        } catch {
            console.printError("\nThe tour failed: \(error)")
            return ExitCode.failed
        }
        console.print("\nEverything was as claimed, in \(ProgressDisplay.seconds(ContinuousClock.now - begin)).")
        console.print("Now try it on a server of yours:  swift run Demo mirror --help")
        console.print("or on JSON of yours, or an API:   swift run Demo sync --help")
        return ExitCode.done
    }

    private func tell(on stage: TourStage) async throws {
        console.print(
            """
            OneWaySynchronizer makes a local collection equal to a remote one, and never writes back.
            The remote one, here, is a catalogue of \(stage.server.entries.count) texts at \(stage.server.listURL.absoluteString)
            (a server inside this process); the local one is a temporary folder.
            """)
        for (index, chapter) in Chapter.all.enumerated() {
            console.print("\n\(index + 1). \(chapter.title)")
            try await chapter.tell(stage)
        }
    }
}

/// A chapter of the tour.
struct Chapter: Sendable {
    let title: String
    let tell: @Sendable (TourStage) async throws -> Void

    /// The chapters in order; each continues from the state that the previous one leaves.
    static let all = [
        firstSync, dryRun, changedSource, emptyList, stopOnError, keepGoing, cancel, queuedSync, notifications,
        jsonSync,
        conventions, annotations, remoteSync,
    ]
}

/// An error for a false claim of the tour.
struct TourFailure: Error, CustomStringConvertible {
    let claim: String

    var description: String { "it is not true that \(claim)" }
}
