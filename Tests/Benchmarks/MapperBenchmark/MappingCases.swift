import OneWayBenchmarkSupport
import Foundation
import JSONMapper
import SyncModel

/// From bytes to records, against `JSONDecoder` into a struct with the same fields.
enum MappingCases {
    /// The fields of ``User``.
    static func mapper() throws -> RecordMapper {
        try RecordMapper(try DataModel { UserGenerator.entity })
    }

    static func run(options: BenchmarkOptions, memory: MemoryProbe, report: inout BenchmarkReport) async throws {
        let mapper = try mapper()
        for count in options.isFull ? [10_000, 1_000_000] : [10_000] {
            let bytes = UserGenerator.bytes(count: count)
            let data = Data(bytes)
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            let measured = try await measure(
                runs: count > 100_000 ? 3 : 9,
                [
                    BenchmarkCase("map-jsondecoder", n: count) { try decoder.decode([User].self, from: data).count },
                    BenchmarkCase("map-records", n: count) { try drain(mapper.reader(of: "User", bytes: bytes)) },
                ])
            report.add(measured, against: "map-jsondecoder") { item in
                [
                    ("ns", .number(item.seconds / Double(item.n) * 1e9)),
                    ("MB/s", .number(Double(bytes.count) / 1e6 / item.seconds)), ("spread", .number(item.spread)),
                ]
            }
        }
        for count in options.isFull ? [10_000, 1_000_000] : [10_000] {
            report.add(memory.row(of: memoryCaseName(count), n: count))
        }
    }

    static func memoryCaseName(_ count: Int) -> String { "map-generated-\(count)" }

    /// Maps what the generator makes without ever holding it all.
    static func mapGenerated(count: Int) throws -> Int {
        let reader = JSONReader(source: ReaderCases.generated(count: count))
        return try drain(RecordMapper.Reader(mapper(), entity: "User", reader: reader))
    }

    private static func drain(_ reader: RecordMapper.Reader) throws -> Int {
        var count = 0
        while let batch = try reader.next() {
            count += batch.recordCount
            if batch.toleratedCount > 0 || !batch.rejected.isEmpty { throw Unmapped() }
        }
        return count
    }

    private struct Unmapped: Error {}
}
