import JSONMapper
import OneWayTestLimits
import SyncModel
import Testing

@Suite(.endsInTime) struct ExportStreamTests {
    private let exporter: RecordMapper.Exporter
    private let layout: EntityLayout

    init() throws {
        let model = try DataModel([
            SyncEntity(
                "Thing", attributes: [SyncAttribute("number", .int64), SyncAttribute("text", .string)],
                relationships: [])
        ])
        exporter = try RecordMapper.Exporter(model)
        layout = model.layouts[0]
    }

    private func record(_ number: Int) -> Record {
        var record = Record(of: layout)
        record["number"] = .int(Int64(number))
        record["text"] = .string(String(repeating: "x", count: 100))
        return record
    }

    @Test(arguments: [0, 1, 2, 10_000])
    func piecesMakeOneArray(count: Int) throws {
        var bytes: [UInt8] = []
        var largest = 0
        try exporter.write((0..<count).lazy.map(record)) { piece in
            largest = max(largest, piece.count)
            bytes += piece
        }
        #expect(bytes == (try exporter.bytes(ofAll: (0..<count).map(record))))
        #expect(largest < 80 << 10)
        guard case .array(let elements) = try JSONValue(parsing: bytes) else {
            Issue.record("no array")
            return
        }
        #expect(elements.compactMap { $0["number"] } == (0..<count).map { .integer(Int64($0)) })
    }

    @Test func whatTheSinkThrowsEndsTheExport() {
        struct Full: Error {}
        var pieceCount = 0
        #expect(throws: Full.self) {
            try exporter.write((0..<10_000).lazy.map(record)) { _ in
                pieceCount += 1
                if pieceCount == 2 { throw Full() }
            }
        }
        #expect(pieceCount == 2)
    }

    @Test func prettyIsForPeople() throws {
        let model = try DataModel([
            SyncEntity("Thing", attributes: [SyncAttribute("number", .int64)], relationships: [])
        ])
        var options = RecordMapper.Exporter.Options()
        options.style = .pretty
        let text = String(
            decoding: try RecordMapper.Exporter(model, options: options).bytes(ofAll: [Record(of: model.layouts[0])]),
            as: UTF8.self)
        #expect(text == "[\n  {\n    \"number\": null\n  }\n]")
    }
}
