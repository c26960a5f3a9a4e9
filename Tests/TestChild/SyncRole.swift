import JSONMapper
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQLite

/// Syncs generations of users into a file: `sync FILE FIRST-ID LAST-ID FIRST-GENERATION
/// LAST-GENERATION [STOP [NAME-LENGTH]]`.
///
/// It says `opened`, for each generation a `.` before each part of the payload and `synced N` at
/// its end. Before part STOP, counted from 0 over all generations, it says `stopped` and waits for
/// a line.
enum SyncRole {
    static func run(_ arguments: [String]) async throws {
        let numbers = arguments.dropFirst().compactMap { Int($0) }
        guard let path = arguments.first, (4...6).contains(numbers.count) else { throw UsageError() }
        let mapper = try RecordMapper(try Generation.model())
        var storeOptions = SQLiteStore.Options()
        // On a busy machine the others may keep the file for long.
        storeOptions.busyTimeout = .seconds(1800)
        let store = try JSONStore(
            try await SQLiteStore(exactly: mapper.model, at: .file(path), options: storeOptions), mapper: mapper)
        TestChild.say("opened")
        let ids = numbers[0]...numbers[1]
        let options = StoreSyncOptions(
            scope: PropertyPath("id") >= ids.lowerBound && PropertyPath("id") <= ids.upperBound)
        let stop = numbers.count > 4 ? numbers[4] : nil
        var partCount = 0
        for number in numbers[2]...numbers[3] {
            let generation = Generation(number, of: ids, nameLength: numbers.count > 5 ? numbers[5] : 200)
            let parts = generation.parts()
            let chunks = AsyncThrowingStream<[UInt8], any Error> { [parts = Parts(parts, from: partCount)] in
                guard let (index, part) = await parts.next() else { return nil }
                if index == stop {
                    TestChild.say("stopped")
                    _ = readLine()
                }
                TestChild.say(".")
                return part
            }
            partCount += parts.count
            try await store.sync(.chunks(chunks), into: "User", options: options)
            TestChild.say("synced \(number)")
        }
    }

    /// The parts of a payload, to be taken one by one.
    private actor Parts {
        private var parts: Zip2Sequence<PartialRangeFrom<Int>, [[UInt8]]>.Iterator

        init(_ parts: [[UInt8]], from first: Int) {
            self.parts = zip(first..., parts).makeIterator()
        }

        func next() -> (Int, [UInt8])? {
            parts.next()
        }
    }
}
