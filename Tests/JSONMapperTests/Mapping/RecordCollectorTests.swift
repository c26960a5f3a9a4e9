import JSONMapper
import SyncModel
import Testing

@Suite struct RecordCollectorTests {
    private func mapper(_ contract: ValueContract? = nil) throws -> RecordMapper {
        try RecordMapper(
            try DataModel {
                SyncEntity("User") {
                    SyncAttribute("id", .int64)
                    SyncRelationship("notes", toMany: "Note", inverse: "user")
                }
                SyncEntity("Note") {
                    SyncAttribute("id", .int64, optional: false)
                    SyncAttribute("text", .string)
                    SyncRelationship("user", toOne: "User", inverse: "notes")
                }
            }, contract: contract)
    }

    @Test func nestedObjectsAreMappedFromTheirSlices() throws {
        let mapper = try mapper()
        let json =
            #"[{"id":1,"notes":[{"id":10},null,{"id":11}]},{"id":2},{"id":3,"notes":{"id":12}},{"id":4,"notes_ids":[13,"14"]}]"#
        let users = try mapper.reader(
            of: "User", bytes: Array(json.utf8), options: .init(keepsRelationships: true))
        let group = try #require(try users.next()?.groups.first)
        var notes = try RecordCollector(mapper, entity: "Note", options: .init(acceptsIdentifiers: true))
        for entry in group.relationships.entries {
            try group.relationships.read(entry) { cursor in try notes.addAll(&cursor, index: entry.row) }
        }
        let all = notes.takeBatch()
        let children = try #require(all?.groups.first)
        #expect(children.makeRecords().map { $0["id"] } == [10, 11, 12, 13, 14])
        #expect(children.elementIndices == [0, 0, 2, 3, 3])
        #expect(children.stubRows == [3, 4])
        let none = notes.takeBatch()
        #expect(none?.recordCount == nil)
    }

    @Test func aRejectedElementIsPassedOver() throws {
        let mapper = try mapper(ValueContract(wrongType: .reject))
        let json = #"[{"notes":[{"id":[[1]],"text":"a"},{"id":2},"x"]}]"#
        let users = try mapper.reader(
            of: "User", bytes: Array(json.utf8), options: .init(keepsRelationships: true))
        let relationships = try #require(try users.next()?.groups.first).relationships
        var notes = try RecordCollector(mapper, entity: "Note")
        try relationships.read(relationships.entries[0]) { cursor in try notes.addAll(&cursor, index: 5) }
        let all = notes.takeBatch()
        let batch = try #require(all)
        #expect(batch.groups.first?.makeRecords().map { $0["id"] } == [2])
        #expect(batch.rejected.map(\.index) == [5, 5])
    }

    @Test func damagedInputGivesRecordsOrAnError() throws {
        let mapper = try mapper()
        let json = Array(#"[{"id":12,"notes":[{"id":1}]},{"i\u0064":"-3","x":{"y":[1.5e3,true,null]}},null,7]"#.utf8)
        func attempt(_ bytes: [UInt8]) throws {
            let reader = try mapper.reader(of: "User", bytes: bytes, options: .init(keepsRelationships: true))
            do { _ = try reader.readAll() } catch is JSONError {}
        }
        for end in json.indices { try attempt(Array(json[..<end])) }
        for index in json.indices {
            for bit in 0..<8 {
                var damaged = json
                damaged[index] ^= 1 << bit
                try attempt(damaged)
            }
        }
    }
}
