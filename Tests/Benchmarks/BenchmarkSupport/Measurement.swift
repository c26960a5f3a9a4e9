import Foundation

/// One thing to measure: a name, how much it handles, and the work.
public struct BenchmarkCase {
    /// Name of the case, unique among those measured together.
    public let name: String
    /// How many things one run handles.
    public let n: Int
    /// The work; what it returns keeps the compiler from leaving it out.
    public let body: () async throws -> Int

    /// Makes a case of work that returns something computed from its result.
    public init(_ name: String, n: Int, body: @escaping () async throws -> Int) {
        self.name = name
        self.n = n
        self.body = body
    }
}

/// How long one case took, over all its runs.
public struct Measurement: Sendable {
    /// Name of the case.
    public let name: String
    /// How many things one run handled.
    public let n: Int
    /// Seconds of each run, shortest first.
    public let runs: [Double]
    /// Seconds of processor time of each run, on all threads, shortest first.
    public let processorRuns: [Double]
    /// Median of the runs, in seconds.
    public var seconds: Double { Self.median(runs) }
    /// Median of the processor time of the runs, in seconds. A busy machine changes it less.
    public var processorSeconds: Double { Self.median(processorRuns) }
    /// Longest run over the shortest.
    public var spread: Double { (runs.last ?? 0) / (runs.first ?? 1) }

    private static func median(_ runs: [Double]) -> Double {
        guard !runs.isEmpty else { return 0 }
        let middle = runs.count / 2
        return runs.count % 2 == 1 ? runs[middle] : (runs[middle - 1] + runs[middle]) / 2
    }
}

/// Runs every case in turns: one run of each, then the next round, so that a machine that slows
/// down slows all of them.
///
/// - Parameters:
///   - runs: how many times each case is timed.
///   - warmup: how many rounds run first without being timed.
///   - cases: what to measure.
/// - Returns: a measurement per case, in the given order.
/// - Throws: what a case throws.
public func measure(
    runs: Int = 5, warmup: Int = 1, _ cases: [BenchmarkCase]
) async throws -> [Measurement] {
    var seconds = [[Double]](repeating: [], count: cases.count)
    var processorSeconds = seconds
    let clock = ContinuousClock()
    var sum = 0
    for round in 0..<(warmup + runs) {
        for (index, item) in cases.enumerated() {
            let start = clock.now
            let processorStart = processorTime()
            sum &+= try await item.body()
            let elapsed = start.duration(to: clock.now)
            guard round >= warmup else { continue }
            seconds[index].append(elapsed / .seconds(1))
            processorSeconds[index].append(processorTime() - processorStart)
        }
    }
    consume(sum)
    return cases.indices.map { index in
        Measurement(
            name: cases[index].name, n: cases[index].n, runs: seconds[index].sorted(),
            processorRuns: processorSeconds[index].sorted())
    }
}

/// The processor time of all threads of the process, in seconds.
private func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Takes a value so that the work behind it cannot be left out by the compiler.
@inline(never)
public func consume<Value>(_ value: Value) {
    withUnsafePointer(to: value) { _ in }
}
