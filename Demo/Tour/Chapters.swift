import Foundation
import OneWayLoopbackServer
import OneWaySynchronizer

extension Chapter {
    static let firstSync = Chapter(title: "The first sync downloads everything") { stage in
        stage.say("'maple' is slow. 'oak' first fails with status 503 and is retried.")
        let report = try await stage.syncSuccessfully()
        try stage.check("all 12 items were inserted, with one retry", report.inserted == 12 && report.retries == 1)
        try stage.check("files and previews equal the source", try stage.isFolderEqualToSource())
        let transfers = stage.server.takeTransfers()
        try stage.check(
            "every preview was downloaded before the first content",
            transfers.prefix(12).allSatisfy { $0.hasPrefix("/previews/") } && transfers.count == 24)
    }

    static let dryRun = Chapter(title: "A dry run shows what a change of the source means") { stage in
        stage.say("'alder' was removed, 'birch' has a new revision, and 'yew' was added.")
        stage.server.entries["alder"] = nil
        stage.server.entries["birch"] = CatalogueServer.Entry(content: "Birch was rewritten.\n", revision: 2)
        stage.server.entries["yew"] = CatalogueServer.Entry(content: "Yew is new here.\n")
        let before = try stage.mirroredContents()
        let plan = try await stage.synchronizer.plan()
        for line in MirrorCommand.lines(of: plan) { stage.say("plan: \(line)") }
        try stage.check(
            "the plan has 1 insertion, 1 update, 1 removal and 10 unchanged items",
            plan.counts == [
                .insert: 1, .update: 1, .delete: 1, .leave: 10,
            ])
        try stage.check("the plan changed nothing", try stage.mirroredContents() == before)
        try stage.check("the plan transferred nothing", stage.server.takeTransfers().isEmpty)
    }

    static let changedSource = Chapter(title: "The second sync transfers only the differences") { stage in
        _ = try await stage.syncSuccessfully()
        let transfers = stage.server.takeTransfers()
        stage.say("transferred: \(transfers.sorted().joined(separator: " "))")
        try stage.check(
            "only 'birch' and 'yew' were transferred",
            Set(transfers) == ["/items/birch", "/items/yew", "/previews/birch", "/previews/yew"] && transfers.count == 4
        )
        try stage.check("files and previews equal the source", try stage.isFolderEqualToSource())
    }

    static let emptyList = Chapter(title: "A removal limit protects against a broken source") { stage in
        stage.say("The server returns an empty list. The removal limit is half of the stored items.")
        stage.server.isEmptied = true
        stage.synchronizer.options.removalLimit = RemovalLimit(fraction: 0.5)
        let failure = try await stage.syncUnsuccessfully()
        guard case .removalLimitExceeded? = failure.errors.first?.underlying as? SyncError.Reason else {
            throw TourFailure(claim: "the removal limit stopped the pass")
        }
        stage.server.isEmptied = false
        try stage.check("nothing was removed", try stage.isFolderEqualToSource())
    }

    static let stopOnError = Chapter(title: "With stopOnError, the first error ends the pass") { stage in
        stage.say("Three items are new. The first one, 'ash', is listed but missing: status 404.")
        stage.say("Previews have no stage of their own, so that the stage of contents fails.")
        for (order, name) in ["ash", "beech", "chestnut"].enumerated() {
            stage.server.entries[name] = CatalogueServer.Entry(content: "\(name) is late.\n", order: order)
        }
        stage.server.entries["ash"]?.isMissing = true
        stage.synchronizer.options = TourStage.options
        stage.synchronizer.options.downloadPreview = false
        stage.synchronizer.options.concurrency = 1
        let failure = try await stage.syncUnsuccessfully()
        try stage.check("the only error is about 'ash'", failure.report.errorCount == 1 && failure.isAbout("ash"))
        try stage.check("no other item was downloaded", stage.server.takeTransfers().isEmpty)
    }

    static let keepGoing = Chapter(title: "Without stopOnError, the other items are downloaded") { stage in
        stage.synchronizer.options.stopOnError = false
        let failure = try await stage.syncUnsuccessfully()
        try stage.check("the error about 'ash' is reported", failure.report.errorCount == 1 && failure.isAbout("ash"))
        try stage.check("'beech' and 'chestnut' were inserted", failure.report.inserted == 2)
        stage.say("'ash' is back. The next pass downloads it.")
        stage.server.entries["ash"]?.isMissing = false
        stage.synchronizer.options = TourStage.options
        _ = try await stage.syncSuccessfully()
        try stage.check("files and previews equal the source", try stage.isFolderEqualToSource())
    }

    static let cancel = Chapter(title: "A cancellation leaves nothing incomplete") { stage in
        stage.say("Every item has a new revision. All contents after the fourth hang, and the pass is cancelled.")
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
        try stage.check("the caller receives a cancellation", failure.isCancelled)
        try stage.check("four contents were updated", failure.report.updated == 4)
        try stage.check("no incomplete file is left", try stage.hasNoLeftovers())
        stage.say("The server recovers. The next pass downloads the rest.")
        gate.open()
        let report = try await stage.syncSuccessfully()
        try stage.check("only the rest was downloaded", report.unchanged == 4)
        try stage.check("files and previews equal the source", try stage.isFolderEqualToSource())
    }

    static let queuedSync = Chapter(title: "Calls of sync() during a pass share the next pass") { stage in
        stage.say("Two more callers arrive during a pass, and the source changes.")
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
        try stage.check("the first caller received the report of the first pass", reports[0].inserted == 0)
        try stage.check(
            "the others received the report of the second pass", reports.dropFirst().allSatisfy { $0.inserted == 1 })
        try stage.check("the second pass saw the change: files equal the source", try stage.isFolderEqualToSource())
    }

    #if !Essentials
    static let notifications = Chapter(title: "Notifications announce the status") { stage in
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
        try stage.check("the beginning and the end of a pass are announced", await seen.value == [true, false])
    }
    #endif
}

extension SyncFailure {
    /// Returns whether the first error concerns an item.
    fileprivate func isAbout(_ key: String) -> Bool {
        errors.first?.key as? SyncKey == SyncKey(key)
    }
}
