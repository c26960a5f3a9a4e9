import OneWayBenchmarkSupport
import Foundation
import JSONMapper
import SyncModel

/// Dates, from text and to text.
enum DateCases {
    static func run(options: BenchmarkOptions, report: inout BenchmarkReport) async throws {
        let count = options.isFull ? 1_000_000 : 100_000
        var random = SeededRandom(seed: 1)
        let moments = (0..<1000).map { _ in Int64.random(in: 0..<4_000_000_000, using: &random) * 1_000_000 }
        let texts = moments.map { DateText.text($0, fraction: .shortest) }
        let utf8 = texts.map { Array($0.utf8) }
        let style = Date.ISO8601FormatStyle()
        let parsed = try await measure(
            runs: 5,
            [
                BenchmarkCase("date-iso8601formatstyle", n: count) {
                    var sum = 0.0
                    for index in 0..<count { sum += try style.parse(texts[index % 1000]).timeIntervalSince1970 }
                    return Int(sum)
                },
                BenchmarkCase("date-parser", n: count) {
                    var sum = 0
                    for index in 0..<count {
                        sum &+= Int(utf8[index % 1000].withUnsafeBufferPointer { DateText.microseconds($0) ?? 0 })
                    }
                    return sum
                },
            ])
        report.add(parsed, against: "date-iso8601formatstyle") { [("ns", .number($0.seconds / Double($0.n) * 1e9))] }

        let dates = moments.map { Date(timeIntervalSince1970: Double($0) / 1_000_000) }
        let written = try await measure(
            runs: 5,
            [
                BenchmarkCase("date-write-iso8601formatstyle", n: count) {
                    var sum = 0
                    for index in 0..<count { sum &+= style.format(dates[index % 1000]).utf8.count }
                    return sum
                },
                BenchmarkCase("date-write", n: count) {
                    var writer = JSONWriter()
                    for index in 0..<count {
                        writer.date(Timestamp(microseconds: moments[index % 1000]))
                        writer.flush(minimumByteCount: 2048) { _ in }
                    }
                    return writer.byteCount
                },
            ])
        report.add(written, against: "date-write-iso8601formatstyle") {
            [("ns", .number($0.seconds / Double($0.n) * 1e9))]
        }
    }
}
