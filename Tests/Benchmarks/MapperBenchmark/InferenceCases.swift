import OneWayBenchmarkSupport
import JSONMapper
import ModelInference
import SyncModel

/// Inferring a model from a sample, against mapping the same sample by that model.
enum InferenceCases {
    static func run(options: BenchmarkOptions, memory: MemoryProbe, report: inout BenchmarkReport) async throws {
        for count in options.isFull ? [10_000, 200_000] : [10_000] {
            for (name, bytes) in [("users", UserGenerator.bytes(count: count)), ("orders", orders(count: count))] {
                let mapper = try RecordMapper(try DataModel.inferred(from: bytes, entity: "Item"))
                let measured = try await measure(
                    runs: count > 100_000 ? 3 : 9,
                    [
                        BenchmarkCase("infer-\(name)-map", n: count) { try map(bytes, mapper) },
                        BenchmarkCase("infer-\(name)", n: count) {
                            try DataModel.inferred(from: bytes, entity: "Item").entities.count
                        },
                    ])
                report.add(measured, against: "infer-\(name)-map") { item in
                    [
                        ("ns", .number(item.seconds / Double(item.n) * 1e9)),
                        ("MB/s", .number(Double(bytes.count) / 1e6 / item.seconds)), ("spread", .number(item.spread)),
                    ]
                }
            }
        }
        for count in options.isFull ? [10_000, 1_000_000] : [10_000] {
            report.add(memory.row(of: memoryCaseName(count), n: count))
        }
    }

    static func memoryCaseName(_ count: Int) -> String { "infer-generated-\(count)" }

    /// Infers a model from what the generator makes without ever holding it all.
    static func inferGenerated(count: Int) throws -> Int {
        let reader = JSONReader(source: ReaderCases.generated(count: count))
        return try InferredModel(from: reader, entity: "User").elementCount
    }

    private static func map(_ bytes: [UInt8], _ mapper: RecordMapper) throws -> Int {
        let reader = try mapper.reader(
            of: "Item", bytes: bytes, options: RecordMapper.Reader.Options(keepsRelationships: true))
        var count = 0
        while let batch = try reader.next() { count += batch.recordCount }
        return count
    }

    /// Orders with a customer, lines and maps, as shops deliver them.
    private static func orders(count: Int) -> [UInt8] {
        var random = SeededRandom(seed: 7)
        var writer = JSONWriter()
        writer.beginArray()
        for index in 0..<count {
            let customer = Int.random(in: 0..<1000, using: &random)
            let lines = (0..<Int.random(in: 1...4, using: &random)).map { line in
                #"{"id":\#(index * 10 + line),"title":"Article \#(line)","quantity":\#(line + 1),"price":"19.90","taxable":true,"#
                    + #""properties":[],"tax_lines":[{"price":"1.20","rate":0.06,"title":"State tax"}]}"#
            }
            let order = #"""
                {"id":\#(450_789_469 + index),"name":"#\#(index)","created_at":"2008-01-10T11:\#(10 + index % 50):00-05:00",\#
                "cancelled_at":null,"confirmed":true,"total":\#(index % 500).25,"currency":"EUR",\#
                "customer":{"id":\#(customer),"email":"c\#(customer)@example.org","orders_count":1,"tags":"a, b"},\#
                "discounts":{"TENOFF":{"amount":"10.00"}},"tags":["new","web"],"line_items":[\#(lines.joined(separator: ","))]}
                """#
            writer.raw(Array(order.utf8))
        }
        writer.endArray()
        return writer.bytes
    }
}
