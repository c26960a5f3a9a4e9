import BenchmarkSupport
import Foundation
import OneWaySynchronizer

// What the engine itself costs: full passes over items whose processor returns at once, beside the least that such a pass
// has to do; and how close it comes to ideal where items take their time.

let width = 16

func pass(_ processor: InstantProcessor) async throws -> Int {
    let synchronizer = Synchronizer(processor: processor, options: SyncOptions(concurrency: width))
    let report = try await synchronizer.sync()
    return report.inserted + report.updated + report.unchanged
}

let memorySizes = [10_000, 1_000_000]
var memoryCases: [String: @Sendable () async throws -> Int] = [:]
for workload in Workload.allCases {
    for count in memorySizes {
        memoryCases["\(workload.rawValue) \(count)"] = { try await pass(InstantProcessor(workload, count: count)) }
        memoryCases["\(workload.rawValue) \(count) input"] = {
            let processor = InstantProcessor(workload, count: count)
            // What a pass cannot do without: the items, the local keys, and the list of what to download.
            let downloads = processor.items.filter { _ in workload != .unchanged }
            return downloads.count + processor.localKeys.count
        }
    }
}
let probe = MemoryProbe(memoryCases)
if try await probe.runIfChild() { exit(0) }

let options = try BenchmarkOptions()
var report = BenchmarkReport(options: options)

for workload in Workload.allCases {
    var costs: [Int: Double] = [:]
    for count in [10_000, 100_000, 1_000_000] {
        let name = "\(workload.rawValue) \(count)"
        guard options.includes(name) else { continue }
        let processor = InstantProcessor(workload, count: count)
        let floor = "floor: \(name)"
        let runs = (options.isFull ? 3 : 1) * (count < 1_000_000 ? 9 : 3)
        let measurements = try await measure(
            runs: runs,
            [
                BenchmarkCase(floor, n: count) { try await Floor.run(processor, width: width) },
                BenchmarkCase(name, n: count) { try await pass(processor) },
            ])
        costs[count] = measurements[1].seconds / Double(count)
        report.add(measurements, against: floor) { measurement in
            var extra: [(name: String, value: BenchmarkReport.Field)] = [
                ("ns_per_item", .number(measurement.seconds / Double(count) * 1e9))
            ]
            if measurement.name == name, memorySizes.contains(count), options.isFull || count == 1_000_000,
                let peak = probe.peakBytes(of: name), let input = probe.peakBytes(of: "\(name) input")
            {
                extra.append(("bytes_per_item", .number(Double(peak - input) / Double(count))))
            }
            if measurement.name == name, let small = costs[10_000], count > 10_000 {
                extra.append(("cost_over_10000", .number((costs[count] ?? 0) / small)))
            }
            return extra
        }
    }
}

let latency = Duration.milliseconds(10)
let slowCount = options.isFull ? 10_000 : 2_000
let slowName = "\(slowCount) items of 10 ms, 64 wide"
if options.includes(slowName) {
    let processor = SlowProcessor(count: slowCount, latency: latency)
    let ideal = Double(slowCount) / 64 * (latency / .seconds(1))
    let measurements = try await measure(
        runs: 3, warmup: 0,
        [
            BenchmarkCase(slowName, n: slowCount) {
                let synchronizer = Synchronizer(processor: processor, options: SyncOptions(concurrency: 64))
                return try await synchronizer.sync().inserted
            }
        ])
    report.add(measurements) { [("of_ideal", .number(ideal / $0.seconds))] }
}
