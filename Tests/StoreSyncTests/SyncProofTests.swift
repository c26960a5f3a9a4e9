import JSONMapper
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing
import OneWayStoreTestSupport
import OneWayTestSupport

@Suite(.endsInTime) struct SyncProofTests {
    /// Pages in an asynchronous sequence; the last of them may be an error.
    private func pages(_ texts: [String], failing: Bool = false) -> AsyncThrowingStream<JSONSource, any Error> {
        AsyncThrowingStream { continuation in
            for text in texts { continuation.yield(.bytes(Array(text.utf8))) }
            continuation.finish(throwing: failing ? Countdown.Fault() : nil)
        }
    }

    private func page(_ ids: some Sequence<Int>) -> String {
        "[\(ids.map { #"{"id":\#($0)}"# }.joined(separator: ","))]"
    }

    @Test func manyPagesAreSweptOnce() async throws {
        let world = try SyncWorld()
        try await world.sync(page(90_000...90_010))
        let texts = (0..<21).map { page($0 * 1000..<($0 + 1) * 1000) }
        let result = try await world.json.sync(pages: pages(texts.reversed() + [texts[3]]), into: "User")
        #expect(result.counts.all == [21_000, 0, 0, 11])
        #expect(try await world.store.count(StoreQuery("User")) == 21_000)
    }

    @Test func aListThatBreaksOffSweepsNothing() async throws {
        let world = try SyncWorld()
        try await world.sync(page(1...5))
        await #expect(throws: Countdown.Fault.self) {
            try await world.json.sync(pages: pages([page(6...7)], failing: true), into: "User")
        }
        #expect(try await world.column("id") == [1, 2, 3, 4, 5])
    }

    @Test func whicheverCallFailsTheStateIsOldOrNew() async throws {
        let old = #"[{"id":1,"notes":[{"id":1},{"id":2}]},{"id":2,"tags":[{"name":"x"}]},{"id":3}]"#
        let new =
            #"[{"id":1,"notes":[{"id":2,"text":"t"}],"manager_id":4},{"id":2,"tags":null},{"id":4,"address":{"city":"C"}}]"#
        let reference = try SyncWorld()
        try await reference.sync(old)
        let before = try await reference.state()
        try await reference.sync(new)
        let after = try await reference.state()
        var call = 1
        while true {
            let world = try SyncWorld()
            try await world.sync(old)
            let faulty = HookedStore(world.store, Countdown(call))
            let json = try JSONStore(faulty, mapper: world.json.mapper)
            do {
                _ = try await json.sync(.bytes(Array(new.utf8)), into: "User")
                #expect(try await world.state() == after)
                break
            } catch is Countdown.Fault {
                #expect(try await world.state() == before, "call \(call)")
            }
            call += 1
            try #require(call < 1000)
        }
        #expect(call > 5)
    }

    @Test(arguments: seeds(25, thorough: 100))
    func agreesWithSetAlgebra(_ seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let world = try SyncWorld()
        let draw = { (random: inout SeededRandom) in
            var drawn: [Int: Int] = [:]
            for _ in 0..<Int.random(in: 0..<12, using: &random) {
                drawn[Int.random(in: 0..<15, using: &random)] = Int.random(in: 0..<3, using: &random)
            }
            return drawn
        }
        let text = { (objects: [Int: Int]) in
            "[\(objects.map { #"{"id":\#($0.key),"age":\#($0.value)}"# }.joined(separator: ","))]"
        }
        let local = draw(&random)
        let source = draw(&random)
        let operations = StoreSyncOptions.Operations(rawValue: Int.random(in: 0..<8, using: &random))
        try await world.sync(text(local))
        let result = try await world.sync(text(source), operations)

        var expected = local
        for (id, age) in source where operations.contains(local[id] == nil ? .insert : .update) { expected[id] = age }
        let gone = operations.contains(.delete) ? local.keys.filter { source[$0] == nil } : []
        for id in gone { expected[id] = nil }
        var found: [Int: Int] = [:]
        for stored in try await world.store.records(StoreQuery("User")) {
            if case (.int(let id), .int(let age)) = (stored.record["id"], stored.record["age"]) {
                found[Int(id)] = Int(age)
            }
        }
        #expect(found == expected)
        #expect(result.counts.deleted == gone.count)
        #expect(
            result.counts.inserted == (operations.contains(.insert) ? source.keys.filter { local[$0] == nil }.count : 0)
        )
        let changed = source.filter { local[$0.key] != nil && local[$0.key] != $0.value }.count
        #expect(result.counts.updated == (operations.contains(.update) ? changed : 0))
    }

    @Test(arguments: seeds(10, thorough: 40))
    func theOrderOfThePayloadDoesNotMatter(_ seed: UInt64) async throws {
        let objects = [
            #"{"id":1,"manager_id":2,"tags":[{"name":"x"},{"name":"y"}],"notes":[{"id":1},{"id":2}]}"#,
            #"{"id":2,"manager_id":3,"company_id":7,"notes":[]}"#,
            #"{"id":3,"manager_id":1,"company":{"id":7,"name":"ACME"},"tags":[{"name":"y"}]}"#,
            #"{"id":4,"reports_ids":[5],"manager":{"id":4}}"#, #"{"id":5,"notes":[{"id":3,"text":"t"}]}"#,
        ]
        let reference = try SyncWorld()
        try await reference.sync("[\(objects.joined(separator: ","))]")
        var random = SeededRandom(seed: seed)
        let shuffled = objects.shuffled(using: &random)
        let cut = Int.random(in: 0...shuffled.count, using: &random)
        let world = try SyncWorld()
        let texts = [shuffled[..<cut], shuffled[cut...]].map { "[\($0.joined(separator: ","))]" }
        _ = try await world.json.sync(pages: pages(texts), into: "User")
        #expect(try await world.state() == reference.state())
    }

    @Test func theNumberOfCallsDoesNotGrowWithTheParents() async throws {
        var counts: [Int] = []
        for parentCount in [10, 900] {
            let countdown = Countdown(.max)
            let world = try SyncWorld { HookedStore($0, countdown) }
            let users = (1...parentCount).map {
                #"{"id":\#($0),"notes":[{"id":\#($0)}],"tags":[{"name":"t\#($0 % 7)"}]}"#
            }
            try await world.sync("[\(users.joined(separator: ","))]")
            counts.append(countdown.count)
        }
        #expect(counts[0] == counts[1])
    }

    @Test func syncsOfManyTasksRunInTurn() async throws {
        let world = try SyncWorld()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<30 {
                group.addTask {
                    _ = try await world.json.sync(
                        .bytes(Array(#"[{"id":\#(number)}]"#.utf8)), into: "User",
                        options: StoreSyncOptions(operations: [.insert, .update]))
                }
            }
            try await group.waitForAll()
        }
        #expect(try await world.store.count(StoreQuery("User")) == 30)
    }

    @Test func aSyncThatWaitsCanBeCancelled() async throws {
        let world = try SyncWorld()
        let json = world.json
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await json.sync(.bytes(Array("[]".utf8)), into: "User")
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        try await world.sync(page(1...2))
        #expect(try await world.store.count(StoreQuery("User")) == 2)
    }

    @Test(arguments: sampled(1...40))
    func chunksMayBeCutAnywhere(_ size: Int) async throws {
        let world = try SyncWorld()
        let bytes = Array(#"{"data":{"users":[{"id":1,"name":"Zoë"},{"id":2,"notes":[{"id":3}]}]}}"#.utf8)
        let chunks = AsyncThrowingStream<[UInt8], any Error> { continuation in
            for start in stride(from: 0, to: bytes.count, by: size) {
                continuation.yield(Array(bytes[start..<min(start + size, bytes.count)]))
            }
            continuation.finish()
        }
        let result = try await world.json.sync(
            .chunks(chunks), into: "User", options: StoreSyncOptions(keyPath: "data.users"))
        #expect(result.counts.inserted == 2)
        #expect(try await world.column("name") == ["Zoë", .null])
        #expect(try await world.store.count(StoreQuery("Note")) == 1)
    }
}
