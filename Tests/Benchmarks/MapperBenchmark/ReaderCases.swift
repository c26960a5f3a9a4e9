import OneWayBenchmarkSupport
import Foundation
import JSONMapper
import SyncModel

/// Reading and validating all of an array of users.
enum ReaderCases {
    static func run(options: BenchmarkOptions, memory: MemoryProbe, report: inout BenchmarkReport) async throws {
        for count in options.isFull ? [10_000, 1_000_000] : [10_000] {
            let bytes = UserGenerator.bytes(count: count)
            let data = Data(bytes)
            let measured = try await measure(
                runs: count > 100_000 ? 3 : 9,
                [
                    BenchmarkCase("read-jsondecoder", n: count) {
                        try JSONDecoder().decode([UserOfText].self, from: data).count
                    },
                    BenchmarkCase("read-validate", n: count) {
                        let reader = JSONReader(bytes: bytes)
                        while try reader.next({ try $0.skipValue() }) != nil {}
                        return reader.elementCount
                    },
                    BenchmarkCase("read-values", n: count) { try readValues(JSONReader(bytes: bytes)) },
                    BenchmarkCase("read-tree", n: count) {
                        let reader = JSONReader(bytes: bytes)
                        var sum = 0
                        while let value = try reader.next({ try JSONValue(&$0) }) {
                            sum &+= value["tags"] == nil ? 0 : 1
                        }
                        return sum
                    },
                ])
            report.add(measured, against: "read-jsondecoder") { item in
                [("MB/s", .number(Double(bytes.count) / 1e6 / item.seconds)), ("spread", .number(item.spread))]
            }
        }
        for count in options.isFull ? [10_000, 1_000_000] : [10_000] {
            report.add(memory.row(of: memoryCaseName(count), n: count))
        }
    }

    static func memoryCaseName(_ count: Int) -> String { "read-generated-\(count)" }

    /// Reads what the generator makes without ever holding it all.
    static func readGenerated(count: Int) throws -> Int {
        try readValues(JSONReader(source: generated(count: count)))
    }

    /// A source of what the generator makes.
    static func generated(count: Int) -> JSONReader.Source {
        var generator = UserGenerator(count: count)
        var chunk: ArraySlice<UInt8> = []
        return { buffer in
            if chunk.isEmpty { chunk = generator.nextChunk()?[...] ?? [] }
            let count = min(buffer.count, chunk.count)
            chunk.prefix(count).withUnsafeBytes { buffer.copyMemory(from: $0) }
            chunk = chunk.dropFirst(count)
            return count
        }
    }

    /// Takes every value of every user, in whatever order its keys are.
    private static func readValues(_ reader: JSONReader) throws -> Int {
        let keys = ["id", "name", "email", "created_at", "updated_at", "score", "active"].map { Array($0.utf8) }
        var sum = 0
        while let part = try reader.next({ cursor in
            var sum = 0
            try cursor.beginObject()
            while let key = try cursor.nextKey() {
                switch keys.firstIndex(where: { key.equals($0) }) {
                case 0: sum &+= Int(try cursor.readNumber().int64 ?? 0)
                case 1, 2: sum &+= try cursor.readString().count
                case 3, 4: sum &+= Int(DateText.microseconds(try cursor.readString()) ?? 0)
                case 5: sum &+= Int(try cursor.readNumber().double ?? 0)
                case 6: sum &+= try cursor.readBool() ? 1 : 0
                default: try cursor.skipValue()
                }
            }
            return sum
        }) {
            sum &+= part
        }
        return sum
    }
}
