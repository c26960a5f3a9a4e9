import Foundation
import OneWayLoopbackServer
import OneWaySynchronizer

extension Chapter {
    static let firstSync = Chapter(title: "A first sync brings everything") { stage in
        stage.say("'maple' comes slowly. 'oak' answers 503 at first, and is tried again.")
        let report = try await stage.syncSuccessfully()
        try stage.check("all 12 were inserted, with one retry", report.inserted == 12 && report.retries == 1)
        try stage.check("files and previews equal the source", try stage.isFolderEqualToSource())
        let transfers = stage.server.takeTransfers()
        try stage.check(
            "every preview came before the first content",
            transfers.prefix(12).allSatisfy { $0.hasPrefix("/previews/") } && transfers.count == 24)
    }

    static let dryRun = Chapter(title: "The source changes; a dry run tells what that means") { stage in
        stage.say("'alder' is gone, 'birch' has a new revision, 'yew' is new.")
        stage.server.entries["alder"] = nil
        stage.server.entries["birch"] = CatalogueServer.Entry(content: "Birch was rewritten.\n", revision: 2)
        stage.server.entries["yew"] = CatalogueServer.Entry(content: "Yew is new here.\n")
        let before = try stage.mirroredContents()
        let plan = try await stage.synchronizer.plan()
        for line in MirrorCommand.lines(of: plan) { stage.say("plan: \(line)") }
        try stage.check(
            "the plan is 1 insert, 1 update, 1 remove, 10 kept",
            plan.counts == [
                .insert: 1, .update: 1, .remove: 1, .keep: 10,
            ])
        try stage.check("nothing was changed by it", try stage.mirroredContents() == before)
        try stage.check("nothing was transferred by it", stage.server.takeTransfers().isEmpty)
    }

    static let changedSource = Chapter(title: "A second sync transfers only the difference") { stage in
        _ = try await stage.syncSuccessfully()
        let transfers = stage.server.takeTransfers()
        stage.say("transferred: \(transfers.sorted().joined(separator: " "))")
        try stage.check(
            "only 'birch' and 'yew' were transferred",
            Set(transfers) == ["/items/birch", "/items/yew", "/previews/birch", "/previews/yew"] && transfers.count == 4
        )
        try stage.check("files and previews equal the source", try stage.isFolderEqualToSource())
    }

    static let emptyList = Chapter(title: "A suspicious list is stopped before it does harm") { stage in
        stage.say("The server's database breaks, and its list is empty. removalLimit: half of what is stored.")
        stage.server.isEmptied = true
        stage.synchronizer.options.removalLimit = RemovalLimit(fraction: 0.5)
        let failure = try await stage.syncUnsuccessfully()
        guard case .removalLimitExceeded? = failure.errors.first?.underlying as? SyncError.Reason else {
            throw TourFailure(claim: "the removal limit stopped the pass")
        }
        stage.server.isEmptied = false
        try stage.check("nothing was removed", try stage.isFolderEqualToSource())
    }

    static let stopOnError = Chapter(title: "stopOnError: the first error ends the pass") { stage in
        stage.say("Three entries are new. The first of them, 'ash', is listed and yet not there: 404.")
        stage.say("Previews are off for now, so that it is the content that fails.")
        for (order, name) in ["ash", "beech", "chestnut"].enumerated() {
            stage.server.entries[name] = CatalogueServer.Entry(content: "\(name) is late.\n", order: order)
        }
        stage.server.entries["ash"]?.isMissing = true
        stage.synchronizer.options = TourStage.options
        stage.synchronizer.options.downloadPreview = false
        stage.synchronizer.options.concurrency = 1
        let failure = try await stage.syncUnsuccessfully()
        try stage.check("the one error is about 'ash'", failure.report.errorCount == 1 && failure.isAbout("ash"))
        try stage.check("no other entry was tried", stage.server.takeTransfers().isEmpty)
    }

    static let keepGoing = Chapter(title: "stopOnError = false: the others are done all the same") { stage in
        stage.synchronizer.options.stopOnError = false
        let failure = try await stage.syncUnsuccessfully()
        try stage.check("the error about 'ash' is reported", failure.report.errorCount == 1 && failure.isAbout("ash"))
        try stage.check("'beech' and 'chestnut' have come", failure.report.inserted == 2)
        stage.say("The server finds 'ash' again, and the previews that were left out are wanted too:")
        stage.server.entries["ash"]?.isMissing = false
        stage.synchronizer.options = TourStage.options
        _ = try await stage.syncSuccessfully()
        try stage.check("files and previews equal the source", try stage.isFolderEqualToSource())
    }

    static let cancel = Chapter(title: "A cancel in the middle leaves nothing half done") { stage in
        stage.say("Every entry has a new revision; the contents after the fourth hang. Then somebody cancels.")
        let gate = try LoopbackGate()
        for (index, key) in stage.server.entries.keys.sorted().enumerated() {
            stage.server.entries[key]?.revision += 1
            stage.server.entries[key]?.order = index
            stage.server.entries[key]?.content += "And again.\n"
            if index >= 4 { stage.server.entries[key]?.gate = gate }
        }
        let events = stage.synchronizer.events
        let synchronizer = stage.synchronizer
        let canceller = Task {
            for await case .progress(let progress) in events where progress.stage == .content && progress.done >= 4 {
                synchronizer.cancel()
                return
            }
        }
        let failure = try await stage.syncUnsuccessfully()
        await canceller.value
        try stage.check("the caller is told that it was cancelled", failure.isCancelled)
        try stage.check("four contents were updated", failure.report.updated == 4)
        try stage.check("no half-downloaded file is left", try stage.hasNoLeftovers())
        stage.say("The server recovers, and the next pass does the rest:")
        gate.open()
        let report = try await stage.syncSuccessfully()
        try stage.check("only the rest was fetched", report.unchanged == 4)
        try stage.check("files and previews equal the source", try stage.isFolderEqualToSource())
    }

    static let queuedSync = Chapter(title: "sync() during a pass queues one more, which all callers share") { stage in
        stage.say("A pass is held in the middle; two more callers come, and the source changes once more.")
        let gate = try LoopbackGate()
        stage.server.entries["yew"]?.revision += 1
        stage.server.entries["yew"]?.gate = gate
        let synchronizer = stage.synchronizer
        let started = synchronizer.events
        let passes = synchronizer.events
        let first = Task { try await synchronizer.sync() }
        for await case .stageBegan(.content) in started { break }
        stage.server.entries["zelkova"] = CatalogueServer.Entry(content: "Zelkova came last.\n")
        let (answers, answer) = AsyncStream.makeStream(of: Result<SyncReport, SyncFailure>.self)
        for _ in 0..<2 { synchronizer.sync { answer.yield($0) } }
        // The actor receives the requests before it answers this query.
        try stage.check("the synchronizer is still in the first pass", synchronizer.isSyncing)
        gate.open()
        var reports = [try await first.value]
        for await result in answers {
            reports.append(try result.get())
            if reports.count == 3 { break }
        }
        var passCount = 0
        for await event in passes {
            if case .passEnded = event { passCount += 1 }
            if case .statusChanged(let status) = event, !status.isSyncing { break }
        }
        try stage.check("three callers needed two passes", passCount == 2)
        try stage.check("all three got the report of the last", reports.allSatisfy { $0.inserted == 1 })
        try stage.check("which saw the change: files equal the source", try stage.isFolderEqualToSource())
    }

    static let notifications = Chapter(title: "Status notifications, for whoever wants no more than that") { stage in
        let (statuses, status) = AsyncStream.makeStream(of: SyncStatus.self)
        let observer = NotificationCenter.default.addObserver(
            forName: .OneWaySynchronizerDidChangeSyncStatusNotification, object: stage.synchronizer, queue: nil
        ) { notification in
            guard let seen = notification.userInfo?[SyncStatus.userInfoKey] as? SyncStatus else { return }
            status.yield(seen)
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        let seen = Task {
            var seen: [Bool] = []
            for await status in statuses {
                // Notifications are posted asynchronously: the first can belong to the previous
                // pass.
                if seen.isEmpty, !status.isSyncing { continue }
                stage.say("notification: \(status.isSyncing ? "syncing" : "idle")")
                seen.append(status.isSyncing)
                if !status.isSyncing { break }
            }
            return seen
        }
        _ = try await stage.syncSuccessfully()
        try stage.check("a pass is announced when it begins and when it has ended", await seen.value == [true, false])
    }
}

extension SyncFailure {
    /// Returns whether the first error concerns an item.
    fileprivate func isAbout(_ key: String) -> Bool {
        errors.first?.key as? MirrorKey == MirrorKey(key)
    }
}
