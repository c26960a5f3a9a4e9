import OneWayStoreKinds
import Foundation
import OneWayTestLimits
import SyncModel
import SyncStore
import OneWayTestSupport
import Testing

/// Every kind of store selects, sorts and returns the same as the one in memory.
@Suite(.serialized, .endsInTime) struct PredicateTests {
    @Test(arguments: StoreKind.all) func batchesHaveTheSizeThatIsAskedFor(kind: StoreKind) async throws {
        try await kind.use { makeStore in
            let store = try await makeStore(
                try DataModel { SyncEntity("Thing", identity: "id") { SyncAttribute("id", .int64) } })
            try await store.transaction { transaction in
                for id in 1...10 {
                    var record = Record(of: try transaction.model.layout(of: "Thing"))
                    record["id"] = .int(Int64(id))
                    try await transaction.insert(record)
                }
            }
            let selection = StoreSelection(StoreQuery("Thing"), columns: [.value(PropertyPath("id"))])
            for (size, expected) in [(3, [3, 3, 3, 1]), (10, [10]), (0, Array(repeating: 1, count: 10))] {
                let counts = try await store.read { reader in
                    var selected: [Int] = []
                    var fetched: [Int] = []
                    try await reader.select(selection, batchRowCount: size) { selected.append($0.count) }
                    try await reader.fetch(StoreQuery("Thing"), batchRowCount: size) { fetched.append($0.count) }
                    return [selected, fetched]
                }
                #expect(counts == [expected, expected])
            }
        }
    }

    @Test(arguments: StoreKind.all.filter { $0.name != "MemoryStore" }, sampled(0..<10 as Range<UInt64>))
    func predicatesSelectTheSameAsInMemory(kind: StoreKind, seed: UInt64) async throws {
        var thing = SyncEntity("Thing") {
            for (name, type) in Self.attributes { SyncAttribute(name, type) }
        }
        // Indexes change the statements, but not what they select.
        if seed % 2 == 1 {
            thing.indexes = Self.attributes.filter { $0.type != .json }.map { SyncEntity.Index([$0.name]) }
        }
        let model = try DataModel([thing])
        try await kind.use { makeStore in
            try await compare(try await makeStore(model), with: MemoryStore(exactly: model), seed: seed)
        }
    }

    private func compare(_ stored: some Store, with memory: MemoryStore, seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        var batch = RecordBatch(of: try memory.model.layout(of: "Thing"))
        for _ in 0..<60 {
            batch.beginRecord()
            for column in Self.attributes.indices { batch.setValue(value(column, &random), at: column) }
            batch.endRecord()
        }
        let records = batch
        for store in [memory, stored] as [any Store] {
            try await store.transaction { transaction in
                _ = try await transaction.merge(MergeRequest(records))
            }
        }
        for _ in 0..<60 {
            let sortable = Self.attributes.filter { $0.type != .json }
            let key = sortable[Int.random(in: sortable.indices, using: &random)].name
            let query = StoreQuery(
                "Thing", where: predicate(3, &random),
                orderedBy: [Ordering(key, ascending: .random(using: &random), nulls: .last)])
            let found = try await fetched(query, in: stored)
            let expected = try await fetched(query, in: memory)
            #expect(found == expected, "\(query.predicate), by \(key)")
        }
    }

    private static let attributes: [(name: String, type: AttributeType)] = [
        ("whole", .int64), ("real", .double), ("exact", .decimal), ("text", .string), ("moment", .date),
        ("flag", .bool),
        ("small", .int16), ("single", .float), ("bytes", .binary), ("id", .uuid), ("link", .uri), ("meta", .json),
    ]

    private func fetched(_ query: StoreQuery, in store: some Store) async throws -> [StoredRecord] {
        try await store.read { reader in
            var records: [StoredRecord] = []
            try await reader.fetch(query, batchRowCount: 7) { records += $0 }
            return records
        }
    }

    private func predicate(_ depth: Int, _ random: inout SeededRandom) -> RecordPredicate {
        let column = Int.random(in: Self.attributes.indices, using: &random)
        let key = PropertyPath(Self.attributes[column].name)
        switch Int.random(in: 0..<(depth == 0 ? 4 : 7), using: &random) {
        case 0: return .isNull(key)
        case 1:
            let count = Int.random(in: 0...3, using: &random)
            return .isIn(key, (0..<count).map { _ in operand(column, &random) }.filter { !$0.isNull })
        case 2:
            let texts = ["a", "é", "", "b%", "\u{0}", "\u{1}", "\u{2}", "\u{1}\u{2}", "\\", "U"]
            let matches = PropertyPath.TextMatch.allCases
            return .text(
                PropertyPath(Bool.random(using: &random) ? "text" : "link"),
                matches[Int.random(in: matches.indices, using: &random)],
                texts[Int.random(in: texts.indices, using: &random)])
        case 3:
            let comparisons: [PropertyPath.Comparison] =
                Self.attributes[column].type == .json ? [.equal, .notEqual] : PropertyPath.Comparison.allCases
            return .comparison(
                key, comparisons[Int.random(in: 0..<comparisons.count, using: &random)], operand(column, &random))
        case 4: return .not(predicate(depth - 1, &random))
        case 5: return predicate(depth - 1, &random) && predicate(depth - 1, &random)
        default: return predicate(depth - 1, &random) || predicate(depth - 1, &random)
        }
    }

    /// A value that may be compared with those of a column, numbers of other kinds and at the
    /// limits included.
    private func operand(_ column: Int, _ random: inout SeededRandom) -> AttributeValue {
        let type = Self.attributes[column].type
        guard type.isInteger || type == .double, Int.random(in: 0..<2, using: &random) == 0 else {
            return value(column, &random)
        }
        let numbers: [AttributeValue] = [
            0.5, -0.5, 2.0, 1e300, -1e300, .double(0x1p63), .double(-0x1p63), .int(1 << 53 + 1), .int(.max), .int(.min),
            .int(70_000),
        ]
        return numbers[Int.random(in: numbers.indices, using: &random)]
    }

    private func value(_ column: Int, _ random: inout SeededRandom) -> AttributeValue {
        let number = Int.random(in: -3...3, using: &random)
        let byte = UInt8(number + 3)
        if Int.random(in: 0..<5, using: &random) == 0 { return .null }
        switch Self.attributes[column].type {
        case .int64:
            return .int(
                [.max, .min, 1 << 53 + 2].randomElement(using: &random).flatMap {
                    number == 3 ? $0 : nil
                } ?? Int64(number))
        case .int16, .int32: return .int(Int64(number))
        case .double: return .double(number == 3 ? 0x1p53 + 2 : Double(number) / 2)
        case .float: return .double(Double(Float(number) / 3))
        case .decimal: return .decimal(decimals[number + 3])
        case .string:
            let texts = [
                "a", "ab", "é", "e\u{301}", "B%", "", "b%a", "\u{0}\u{2}x", "\u{1}", "\u{0}\u{1}", "\u{2}a", "\\U",
            ]
            return .string(texts[Int.random(in: texts.indices, using: &random)])
        case .date: return .date(Timestamp(microseconds: Int64(number) * 40_000_000_000_000_001))
        case .bool: return .bool(number > 0)
        case .binary, .transformable: return .binary(Data([byte, 0, 255 - byte].prefix(Int(byte))))
        case .uuid: return .uuid(UUID(uuid: (byte, 255, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, byte)))
        case .json:
            let texts = ["{}", "[1]", "1.0", "\"\\u0000\"", "\"\\u0001\\u0001\"", #"{"b":1,"a":[1e300]}"#, "false"]
            return CanonicalJSON(texts[number + 3])?.value ?? .null
        case .uri: return .uri("http://a/\(number)")
        }
    }

    private let decimals: [Decimal] = [
        "-5.25", "0", "0.0001", "123456789012345678901234567890.12345678", "10000",
        "-0.00000000000000000000000000000001",
        "99999999.9999",
    ].compactMap { Decimal(string: $0) }
}
