import JSONMapper
import OneWayTestLimits
import OneWayTestSupport
import SyncModel
import Testing

/// Long lists of nested objects, which are packed.
@Suite(.endsInTime) struct PackedObjectsTests {
    private static func mapper() throws -> RecordMapper {
        try RecordMapper(
            try DataModel {
                SyncEntity("User") {
                    SyncAttribute("id", .int64)
                    SyncRelationship("notes", toMany: "Note", inverse: "user")
                    SyncRelationship("marks", toMany: "Mark")
                }
                SyncEntity("Note", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncAttribute("text", .string)
                    SyncAttribute("size", .int64)
                    SyncRelationship("user", toOne: "User", inverse: "notes")
                    SyncRelationship("tags", toMany: "Tag")
                }
                SyncEntity("Tag", identity: "name") { SyncAttribute("name", .string) }
                SyncEntity("Mark") {
                    SyncAttribute("hash", .int64, userInfo: [JSONDialect.contentHashAnnotation: "YES"])
                    SyncAttribute("text", .string)
                }
            }, JSONMapping(contract: ValueContract(wrongType: .reject)))
    }

    /// Reads users in batches of a size in bytes, from which on nested objects are packed.
    private static func batches(_ json: String, byteCount: Int) throws -> [MappedBatch] {
        let reader = try mapper().reader(
            of: "User", bytes: Array(json.utf8),
            options: .init(batchByteCount: byteCount, keepsRelationships: true))
        var batches: [MappedBatch] = []
        while let batch = try reader.next() { batches.append(batch) }
        return batches
    }

    /// Everything about the notes of a batch, as text.
    private static func content(_ batch: MappedBatch, rowCount: Int) throws -> [String] {
        let notes = try #require(batch.groups.first?.nested[0])
        var content = notes.sources.map { "\($0.row) \($0.ordinals) \($0.holdsObjects) \($0.isIncomplete)" }
        content += notes.misfits.map { "\($0.row) \($0.kind)" }
        for found in notes.objectBatches(of: rowCount) {
            content += found.rejected.map { "rejected \($0.index)" }
            for group in found.groups {
                for (record, ordinal) in zip(group.makeRecords(), group.elementIndices) {
                    content.append("\(ordinal) \(record)")
                }
                for nested in group.nested {
                    for source in nested?.sources ?? [] {
                        content.append("tags of \(group.elementIndices[source.row]) \(source.ordinals)")
                    }
                }
            }
        }
        content += batch.nestedDrift.entries.map { "\($0)" } + ["\(batch.toleratedCount)"]
        return content + notes.identifierGroups.flatMap(\.elementIndices).map { "identifier \($0)" }
    }

    private static func user(_ random: inout SeededRandom, hasTags: Bool) -> String {
        func list() -> String {
            let notes = (0..<Int.random(in: 0...30, using: &random)).map { index in
                let tags = hasTags && index == 20 ? #","tags":["a",{"name":"b"}]"# : ""
                return switch Int.random(in: 0..<12, using: &random) {
                case 0: #"{"id":"x"}"#
                case 1: "7"
                case 2: "[]"
                case 3: "{\"id\":\(index),\"unknown\":1\(tags)}"
                case 4: #"{"text":"no identity"}"#
                case 5: #"{"id":null,"text":null}"#
                default: "{\"id\":\(index),\"text\":\"note \(index)\"\(tags)}"
                }
            }
            return "[\(notes.joined(separator: ","))]"
        }
        let other = Bool.random(using: &random) ? "" : ",\"notes_ids\":[1,2]"
        return "[{\"id\":1,\"notes\":\(list())\(other),\"notes\":\(list())}]"
    }

    @Test(arguments: seeds(30, thorough: 300)) func packedObjectsAreTheSame(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let json = Self.user(&random, hasTags: seed.isMultiple(of: 3))
        let whole = try #require(try Self.batches(json, byteCount: 1 << 20).first)
        for byteCount in [1, 300] {
            let packed = try #require(try Self.batches(json, byteCount: byteCount).first)
            for rowCount in [1, 7, 1000] {
                #expect(
                    try Self.content(packed, rowCount: rowCount) == Self.content(whole, rowCount: rowCount), "\(json)")
            }
            let (some, expected) = (packed.groups[0].nested[0], whole.groups[0].nested[0])
            #expect(some?.groups.map(\.elementIndices) == expected?.groups.map(\.elementIndices))
            #expect(some?.restricted { _ in nil }.objectCount == 0)
            #expect(some?.restricted { $0 }.objectCount == expected?.objectCount)
        }
    }

    @Test func manyObjectsArePackedUnlessTheyContainOthers() throws {
        func notes(_ last: String) throws -> NestedElements {
            let list = (1...50).map { "{\"id\":\($0),\"text\":\"a\"}" } + [last]
            let json = "[{\"id\":1,\"notes\":[\(list.joined(separator: ","))]}]"
            return try #require(try Self.batches(json, byteCount: 500).first?.groups.first?.nested[0])
        }
        let flat = try notes(#"{"id":51}"#)
        #expect(flat.packedObjects?.count == 51 && flat.objects == nil)
        #expect(flat.packedObjects?.isIdentified == true)
        #expect(try notes(#"{"text":"a"}"#).packedObjects?.isIdentified == false)
        let deep = try notes(#"{"id":51,"tags":["a"]}"#)
        #expect(deep.packedObjects == nil)
        #expect(deep.objects?.groups.map(\.records.count) == [51])
        #expect(deep.objects?.groups.first?.nested.compactMap(\.self).first?.sources.map(\.row) == [50])
    }

    /// Equal objects are told apart by their number, which starts anew for packed ones.
    @Test func objectsMatchedByContentAreNotPacked() throws {
        let marks = Array(repeating: #"{"text":"a"}"#, count: 50).joined(separator: ",")
        let group = try Self.batches("[{\"id\":1,\"marks\":[\(marks)]}]", byteCount: 500).first?.groups.first
        let elements = try #require(group?.nested[1])
        #expect(elements.packedObjects == nil)
        let hashes = elements.objects?.groups.flatMap { $0.makeRecords().map { $0["hash"] } } ?? []
        #expect(hashes.count == 50 && Set(hashes).count == 50)
    }

    @Test func theObjectsOfARejectedElementGoWithIt() throws {
        func user(_ id: String, _ first: Int) -> String {
            let notes = (first..<first + 30).map { "{\"id\":\($0)}" }.joined(separator: ",")
            return "{\"notes\":[\(notes)],\"id\":\(id)}"
        }
        let batches = try Self.batches("[\(user("[]", 1)),\(user("2", 100)),\(user("{}", 200))]", byteCount: 100)
        let notes = batches.flatMap { $0.groups.compactMap { $0.nested[0] } }
        let ids = notes.flatMap { $0.groups.flatMap { $0.makeRecords().map { $0["id"] } } }
        #expect(ids == (100..<130).map { .int($0) })
        #expect(batches.flatMap(\.rejected).map(\.index) == [0, 2])
    }
}
