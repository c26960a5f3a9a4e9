import OneWayBenchmarkSupport
import Foundation
import OneWaySynchronizer

// What the engine itself costs: full passes over items whose processor returns at once, beside the
// least that such a pass has to do; and how close it comes to ideal where items take their time.

let width = 16

func pass(_ processor: InstantProcessor, itemTimeout: Duration? = nil) async throws -> Int {
    let synchronizer = Synchronizer(
        processor: processor, options: SyncOptions(concurrency: width, itemTimeout: itemTimeout))
    let report = try await synchronizer.sync()
    return report.inserted + report.updated + report.unchanged
}

func sum(of repeats: Int, _ body: @Sendable () async throws -> Int) async throws -> Int {
    var sum = 0
    for _ in 0..<repeats { sum += try await body() }
    return sum
}

let memorySizes = [10_000, 1_000_000]
var memoryCases: [String: @Sendable () async throws -> Int] = [:]
for workload in Workload.allCases {
    for count in memorySizes {
        memoryCases["\(workload.rawValue) \(count)"] = { try await pass(InstantProcessor(workload, count: count)) }
        memoryCases["\(workload.rawValue) \(count) input"] = {
            let processor = InstantProcessor(workload, count: count)
            // The items' own array and the local keys; a list of what to download is the pass's
            // own.
            return processor.items.count + processor.localKeys.count
        }
    }
}
// The same with a time limit for each call.
let timeoutName = "all new with time-outs 1000000"
memoryCases[timeoutName] = {
    try await pass(InstantProcessor(.new, count: 1_000_000), itemTimeout: .seconds(600))
}
let probe = MemoryProbe(memoryCases)
if try await probe.runIfChild() { exit(0) }

let options = BenchmarkOptions.ofProcess()
var report = BenchmarkReport(options: options)

for workload in Workload.allCases {
    // All sizes in turns, so that what is said of their ratio does not depend on when each was
    // measured; and as many items of each in a turn, so that none is too short to be timed.
    let sizes = [10_000, 100_000, 1_000_000].filter { options.includes("\(workload.rawValue) \($0)") }
    let itemsPerTurn = sizes.max() ?? 0
    let cases = sizes.flatMap { count in
        let name = "\(workload.rawValue) \(count)"
        let processor = InstantProcessor(workload, count: count)
        let repeats = itemsPerTurn / count
        return [
            BenchmarkCase("floor: \(name)", n: count) {
                try await sum(of: repeats) { try await Floor.run(processor, width: width) }
            },
            BenchmarkCase(name, n: count) { try await sum(of: repeats) { try await pass(processor) } },
        ]
    }
    let measurements = try await measure(runs: options.isFull ? 15 : 5, cases)
    let costs = measurements.map { $0.seconds / Double(itemsPerTurn) }
    for (index, measurement) in measurements.enumerated() {
        let count = measurement.n
        let isFloor = index % 2 == 0
        var row = BenchmarkReport.Row(name: measurement.name, n: count, seconds: costs[index] * Double(count))
        row.extra = [("ns_per_item", .number(costs[index] * 1e9))]
        if !isFloor {
            row.ratio = costs[index] / costs[index - 1]
            row.against = measurements[index - 1].name
        }
        if count > 10_000, sizes.first == 10_000 {
            row.extra.append(("cost_over_10000", .number(costs[index] / costs[index % 2])))
        }
        if !isFloor, memorySizes.contains(count), options.isFull || count == 1_000_000 {
            row.peakMemoryBytes = probe.peakBytes(of: measurement.name)
            if let peak = row.peakMemoryBytes, let input = probe.peakBytes(of: "\(measurement.name) input") {
                row.extra.append(("bytes_per_item", .number(Double(peak - input) / Double(count))))
            }
        }
        row.extra.append(("spread", .number(measurement.spread)))
        report.add(row)
    }
}

if options.includes(timeoutName) {
    let processor = InstantProcessor(.new, count: 1_000_000)
    let plainName = "all new 1000000"
    let measurements = try await measure(
        runs: options.isFull ? 15 : 5,
        [
            BenchmarkCase(plainName, n: 1_000_000) { try await pass(processor) },
            BenchmarkCase(timeoutName, n: 1_000_000) { try await pass(processor, itemTimeout: .seconds(600)) },
        ])
    var row = BenchmarkReport.Row(name: timeoutName, n: 1_000_000, seconds: measurements[1].seconds)
    row.ratio = measurements[1].seconds / measurements[0].seconds
    row.against = plainName
    row.peakMemoryBytes = probe.peakBytes(of: timeoutName)
    if let peak = row.peakMemoryBytes, let plain = probe.peakBytes(of: plainName) {
        row.extra = [("bytes_over_peer", .number(Double(peak) - Double(plain)))]
    }
    row.extra.append(("spread", .number(measurements[1].spread)))
    report.add(row)
}

let latency = Duration.milliseconds(10)
let slowWidth = 64
let slowCount = options.isFull ? 10_000 : 2_000
let slowName = "\(slowCount) items of 10 ms, \(slowWidth) wide"
if options.includes(slowName) {
    let processor = SlowProcessor(count: slowCount, latency: latency)
    // Nobody can be quicker than full rounds of as many calls as may run at once. The floor shows
    // what the system's timers leave of that.
    let ideal = Double((slowCount + slowWidth - 1) / slowWidth) * (latency / .seconds(1))
    let floor = "floor: \(slowName)"
    let measurements = try await measure(
        runs: 3, warmup: 0,
        [
            BenchmarkCase(floor, n: slowCount) { try await Floor.run(processor, width: slowWidth) },
            BenchmarkCase(slowName, n: slowCount) {
                let synchronizer = Synchronizer(processor: processor, options: SyncOptions(concurrency: slowWidth))
                return try await synchronizer.sync().inserted
            },
        ])
    report.add(measurements, against: floor) { [("of_ideal", .number(ideal / $0.seconds))] }
}
