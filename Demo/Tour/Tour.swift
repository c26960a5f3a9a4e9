import Foundation
import OneWaySynchronizer

/// The command `Demo tour`: the features of OneWaySynchronizer in chapters that check their claims.
struct Tour {
    let console: Console

    /// Runs all chapters.
    ///
    /// - Returns: The exit code: failed as soon as a claim is false.
    func run() async -> Int32 {
        console.keepProgressQuiet()
        let begin = ContinuousClock.now
        do {
            let stage = try TourStage(console: console)
            defer { stage.close() }
            do {
                try await present(on: stage)
            } catch {
                await stage.server.stop()
                throw error
            }
            await stage.server.stop()
        } catch {
            console.printError("\nThe tour failed: \(error)")
            return ExitCode.failed
        }
        console.print("\nAll claims are true. The tour took \(Quantity.time(ContinuousClock.now - begin)).")
        console.print("Sync your own JSON or an API:  swift run Demo sync --help")
        console.print("Mirror your own server:        swift run Demo mirror --help")
        return ExitCode.done
    }

    private func present(on stage: TourStage) async throws {
        console.print(
            """
            OneWaySynchronizer makes a local collection equal to a remote one. It never writes back.
            Here, the remote collection is a catalogue of \(stage.server.entries.count) texts, which this process serves at
            \(stage.server.listURL.absoluteString). The local collection is a temporary folder.
            """)
        for (index, chapter) in Chapter.all.enumerated() {
            console.print("\n\(index + 1). \(chapter.title)")
            try await chapter.run(stage)
        }
    }
}

/// A chapter of the tour.
struct Chapter: Sendable {
    let title: String
    let run: @Sendable (TourStage) async throws -> Void

    /// The chapters in order; each continues from the state that the previous one leaves.
    static let all: [Chapter] = {
        let passes = [firstSync, dryRun, changedSource, emptyList, stopOnError, keepGoing, cancel, queuedSync]
        let documents = [jsonSync, conventions, annotations, remoteSync]
        #if Essentials
        return passes + documents
        #else
        return passes + [notifications] + documents
        #endif
    }()
}

/// An error for a false claim of the tour.
struct TourFailure: Error, CustomStringConvertible {
    let claim: String

    var description: String { "this claim is false: \(claim)" }
}
