import Foundation
import OneWaySynchronizer
import SyncFolder

/// Mirrors a list into a folder again and again until its standard input ends: `mirror LIST_URL
/// FOLDER`.
///
/// It says `began`, then `stored` for each content, and `ended`, or `in use` where another process
/// is in a pass.
enum MirrorRole {
    static func run(_ arguments: [String]) async throws {
        guard arguments.count == 2, let list = URL(string: arguments[0]) else { throw UsageError() }
        Thread.detachNewThread {
            while readLine() != nil {}
            exit(0)
        }
        let mirror = FolderMirror(of: list, in: URL(filePath: arguments[1], directoryHint: .isDirectory))
        let synchronizer = Synchronizer(processor: mirror, options: SyncOptions(concurrency: 4))
        let events = synchronizer.events
        Task {
            for await case .progress(let progress) in events where progress.stage == .content {
                TestChild.say("stored")
            }
        }
        while true {
            TestChild.say("began")
            do throws(SyncFailure) {
                try await synchronizer.sync()
                TestChild.say("ended")
            } catch {
                guard case .inUse? = error.errors.first?.underlying as? FolderError else { throw error }
                TestChild.say("in use")
            }
        }
    }
}
