import OneWayBenchmarkSupport
import Foundation
import JSONMapper
import SyncModel

/// Writing users as JSON: records by a compiled exporter against structs by `JSONEncoder`.
enum ExportCases {
    static func run(options: BenchmarkOptions, memory: MemoryProbe, report: inout BenchmarkReport) async throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        for count in options.isFull ? [10_000, 200_000] : [10_000] {
            let bytes = UserGenerator.bytes(count: count)
            let users = try decoder.decode([User].self, from: Data(bytes))
            let mapper = try MappingCases.mapper()
            let records = try mapper.records(of: "User", bytes: bytes)
            let exporter = try RecordMapper.Exporter(mapper.model)
            let measured = try await measure(
                runs: count > 100_000 ? 3 : 9,
                [
                    BenchmarkCase("export-jsonencoder", n: count) { try encoder.encode(users).count },
                    BenchmarkCase("export", n: count) { try exporter.bytes(ofAll: records).count },
                    BenchmarkCase("export-streamed", n: count) {
                        var byteCount = 0
                        try exporter.write(records) { byteCount += $0.count }
                        return byteCount
                    },
                ])
            report.add(measured, against: "export-jsonencoder") {
                [("objects/s", .number(Double($0.n) / $0.seconds)), ("spread", .number($0.spread))]
            }
        }
        for count in options.isFull ? [10_000, 1_000_000] : [10_000] {
            report.add(memory.row(of: memoryCaseName(count), n: count))
        }
    }

    static func memoryCaseName(_ count: Int) -> String { "export-generated-\(count)" }

    /// Writes records that are made one after the other, none of them kept.
    static func exportGenerated(count: Int) throws -> Int {
        let model = try MappingCases.mapper().model
        let layout = try model.layout(of: "User")
        let records = (0..<count).lazy.map { index in
            var record = Record(of: layout)
            record["remoteID"] = .int(Int64(index))
            record["name"] = .string("A name of some length \(index)")
            return record
        }
        var byteCount = 0
        try RecordMapper.Exporter(model).write(records) { byteCount += $0.count }
        return byteCount
    }
}
