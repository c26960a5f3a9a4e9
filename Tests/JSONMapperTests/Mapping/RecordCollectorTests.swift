import JSONMapper
import OneWayTestLimits
import SyncModel
import Testing

@Suite(.endsInTime) struct RecordCollectorTests {
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
            }, JSONMapping(contract: contract))
    }

    /// The notes of all users.
    private func notes(_ json: String, _ mapper: RecordMapper) throws -> (MappedBatch, NestedElements) {
        let users = try mapper.reader(
            of: "User", bytes: Array(json.utf8), options: .init(keepsRelationships: true))
        let batch = try #require(try users.next())
        return (batch, try #require(batch.groups.first?.nested[0]))
    }

    @Test func nestedObjectsAreMappedWhereTheyAreMet() throws {
        let (_, notes) = try notes(
            #"[{"id":1,"notes":[{"id":10},null,{"id":11}]},{"id":2},{"id":3,"notes":{"id":12}},{"id":4,"notes_ids":[13,"14"]}]"#,
            try mapper())
        let objects = try #require(notes.objects?.groups.first)
        let identifiers = try #require(notes.identifierGroups.first)
        #expect(objects.makeRecords().map { $0["id"] } == [10, 11, 12])
        #expect(objects.elementIndices == [0, 1, 2])
        #expect(identifiers.makeRecords().map { $0["id"] } == [13, 14])
        #expect(identifiers.elementIndices == [3, 4])
        #expect(identifiers.stubRows == [0, 1])
        #expect(notes.owners == [0, 0, 2, 3, 3])
        #expect(notes.sources.map(\.row) == [0, 2, 3])
        #expect(notes.sources.map(\.holdsObjects) == [false, false, false])
    }

    @Test func aRejectedElementIsPassedOver() throws {
        let (batch, notes) = try notes(
            #"[{"notes":[{"id":[[1]],"text":"a"},{"id":2},"x"]}]"#, try mapper(ValueContract(wrongType: .reject)))
        #expect(notes.objects?.groups.first?.makeRecords().map { $0["id"] } == [2])
        #expect(notes.objects?.rejected.map(\.index) == [0])
        #expect(notes.identifiers?.batches(of: 10).flatMap(\.rejected).map(\.index) == [2])
        #expect(notes.sources.first?.isIncomplete == true)
        #expect(batch.rejected == [])
    }

    @Test func whatIsNestedInARejectedElementGoesWithIt() throws {
        let (batch, notes) = try notes(
            #"[{"notes":[{"id":1,"z":0,"text":[]}],"id":[]},{"id":2,"notes":[{"id":3,"z":0}]},{"notes":[{"id":4}],"id":{}}]"#,
            try mapper(ValueContract(wrongType: .reject)))
        #expect(batch.rejected.map(\.index) == [0, 2])
        #expect(batch.groups.first?.elementIndices == [1])
        #expect(notes.owners == [0])
        #expect(notes.objects?.rejected == [])
        #expect(notes.objects?.groups.first?.makeRecords().map { $0["id"] } == [3])
        #expect(batch.nestedDrift.entries.map(\.count) == [1])
        #expect(batch.toleratedCount == 0)
    }

    /// Objects with others nested in them are not packed.
    @Test func everyLevelOfARejectedElementGoesWithIt() throws {
        let (batch, notes) = try notes(
            #"[{"id":1,"notes":[{"id":1}]},{"notes":[{"id":2,"user":{"id":5}},{"id":3,"user":{"id":6}}],"id":[]},{"id":2,"notes":[{"id":4,"user":{"id":7}}]}]"#,
            try mapper(ValueContract(wrongType: .reject)))
        #expect(batch.rejected.map(\.index) == [1])
        #expect(notes.owners == [0, 1])
        let group = try #require(notes.objects?.groups.first)
        #expect(group.makeRecords().map { $0["id"] } == [1, 4])
        #expect(group.elementIndices == [0, 1])
        #expect(group.nested[0]?.objects?.groups.first?.makeRecords().map { $0["id"] } == [7])
    }

    @Test func aBatchIsCutBeforeElements() throws {
        let users = try mapper().reader(
            of: "User", bytes: Array(#"[{"id":1,"z":0},{"id":2},{"id":3,"notes":[{"id":9}]},{"id":4}]"#.utf8),
            options: .init(keepsRelationships: true))
        let batch = try #require(try users.next())
        let parts = batch.parts(beginningAt: [1, 3])
        #expect(parts.map { $0.groups.flatMap { $0.makeRecords().map { $0["id"] } } } == [[1], [2, 3], [4]])
        #expect(parts.map(\.drift.entries.count) == [1, 0, 0])
        #expect(batch.parts(beginningAt: []).map(\.recordCount) == [4])
    }

    @Test func whatIsNestedInARejectedNestedObjectGoesWithIt() throws {
        let (batch, notes) = try notes(
            #"[{"id":1,"notes":[{"user":{"id":5,"z":0},"id":[]},{"id":2,"user":{"id":6,"z":0}}]}]"#,
            try mapper(ValueContract(wrongType: .reject)))
        #expect(notes.objects?.rejected.map(\.index) == [0])
        let group = try #require(notes.objects?.groups.first)
        let users = try #require(group.nested[0])
        #expect(users.sources.map(\.row) == [0])
        #expect(users.objects?.groups.first?.makeRecords().map { $0["id"] } == [6])
        #expect(batch.nestedDrift.entries.map(\.count) == [1])
    }

    /// The index is that of the element of the list, whatever came in the batches before.
    @Test(arguments: [1, 2, 5])
    func whatNestedObjectsLackIsCountedAtTheirElement(rowCount: Int) throws {
        let json = """
            [{"id":1,"notes":[{"id":1},{"id":2},{"id":3,"z":0,"user":{"id":5,"y":0}}]},{"id":2},
             {"id":3,"notes":[{"id":4,"z":[]}]},{"id":4,"z":0,"notes":[{"id":5,"text":[],"z":0}]}]
            """
        let reader = try mapper().reader(
            of: "User", bytes: Array(json.utf8), options: .init(batchRowCount: rowCount, keepsRelationships: true))
        var found = DriftReport()
        var toleratedCount = 0
        while let batch = try reader.next() {
            toleratedCount += batch.toleratedCount
            found.add(batch.drift)
            found.add(batch.nestedDrift)
        }
        #expect(
            Set(found.entries.map { "\($0.kind) \($0.entity).\($0.keyPath) \($0.count) \($0.firstIndex)" }) == [
                "unknownKey Note.z 3 0", "unknownKey User.y 1 0", "unknownKey User.z 1 3", "unfitValue Note.text 1 3",
            ])
        #expect(toleratedCount == 1)
    }

    /// Identifiers leave their records in the middle of a list, and are complete all the same.
    @Test(arguments: [10, 1000, 10_000]) func aLongListOfIdentifiersIsReadInBatches(rowCount: Int) throws {
        func list(_ range: ClosedRange<Int>) -> String { range.map { "\($0)" }.joined(separator: ",") }
        let (batch, notes) = try notes(
            #"[{"id":1,"notes_ids":[\#(list(1...1500)),"x",{"id":1501}]},{"notes_ids":[\#(list(1...1600))],"id":[]},"#
                + #"{"id":2,"notes_ids":[1502,\#(list(1503...5000))]}]"#,
            try mapper(ValueContract(wrongType: .reject)))
        let identifiers = try #require(notes.identifiers)
        var read: [(ordinal: Int, id: AttributeValue?)] = []
        for (number, batch) in identifiers.batches(of: rowCount).enumerated() {
            #expect(batch.recordCount <= rowCount)
            #expect(batch.rejected.map(\.index) == (number == 0 ? [1500] : []))
            for group in batch.groups {
                #expect(group.stubRows == Array(0..<group.records.count))
                read += zip(group.elementIndices, group.makeRecords()).map { ($0, $1["id"]) }
            }
        }
        let expected = Array(1...1500) + Array(1502...5000)
        #expect(read.map(\.id) == expected.map { .int(Int64($0)) })
        #expect(read.map(\.ordinal) == Array(0..<1500) + Array(1502..<5001))
        #expect(batch.rejected.map(\.index) == [1])
        #expect(notes.sources.map(\.ordinals) == [0..<1502, 1502..<5001])
        for wanted in [0..<3, 1498..<1505, 1500..<1502, 4999..<5001, 2000..<2000] {
            let found = identifiers.values(in: wanted)
            #expect(found.map(\.ordinal) == read.map(\.ordinal).filter(wanted.contains))
            #expect(found.map(\.value) == read.filter { wanted.contains($0.ordinal) }.map(\.id))
        }
        let restricted = notes.restricted { $0 == 1 ? 0 : nil }
        #expect(restricted.identifierGroups.flatMap(\.elementIndices) == Array(1502..<5001))
    }

    /// A batch of one byte: what one note leads to is packed before the next one is read.
    @Test func whatAPackedObjectLacksIsCountedAlsoIfNothingFollowsIt() throws {
        let json =
            #"[{"id":1,"notes":[{"id":1,"user":{"id":5,"z":0}},{"user":{"id":6,"y":0},"id":[]}]}]"#
        let users = try mapper(ValueContract(wrongType: .reject)).reader(
            of: "User", bytes: Array(json.utf8), options: .init(batchByteCount: 1, keepsRelationships: true))
        let batch = try #require(try users.next())
        #expect(batch.nestedDrift.entries.map { "\($0.entity).\($0.keyPath) \($0.count)" } == ["User.z 1"])
        let notes = try #require(batch.groups.first?.nested[0])
        #expect(notes.objects?.rejected.map(\.index) == [1])
    }

    @Test func ofSeveralValuesOfARelationshipOneCounts() throws {
        let mapper = try mapper()
        func users(_ json: String) throws -> NestedElements {
            let reader = try mapper.reader(
                of: "Note", bytes: Array(json.utf8), options: .init(keepsRelationships: true))
            return try #require(try reader.next()?.groups.first?.nested[0])
        }
        for json in [
            #"[{"id":1,"user":{"id":5},"user_id":6}]"#, #"[{"id":1,"user_id":6,"user":{"id":5}}]"#,
            #"[{"id":1,"user_id":6,"userID":7,"user":{"id":5}}]"#,
        ] {
            let found = try users(json)
            #expect(found.objects?.groups.first?.makeRecords().map { $0["id"] } == [5], "\(json)")
            #expect(found.identifierGroups.isEmpty)
            #expect(found.sources.map(\.ordinals) == [0..<1])
            #expect(found.misfits.allSatisfy { $0.kind == .contradiction && $0.row == 0 })
            #expect(!found.misfits.isEmpty)
        }
        let same = try users(#"[{"id":1,"user_id":5,"user":{"id":5}},{"id":2,"user":null,"user_id":5}]"#)
        #expect(same.misfits.isEmpty)
        #expect(same.owners == [0, 1])
        #expect(same.identifierGroups.first?.elementIndices == [1])
    }

    @Test func aSupersededValueThatFailsIsReportedWithItsElement() throws {
        let mapper = try mapper(ValueContract(wrongType: .fail))
        let reader = try mapper.reader(
            of: "Note", bytes: Array(#"[{"id":1},{"id":2,"user":{"id":5},"user_id":"abc"}]"#.utf8),
            options: .init(batchRowCount: 1, keepsRelationships: true))
        _ = try reader.next()
        let error = #expect(throws: MappingError.self) { try reader.next() }
        guard case .unfit(let problem)? = error else { Issue.record("\(String(describing: error))"); return }
        #expect(problem.index == 1)
    }

    @Test func anInputCutAnywhereGivesTheSameNestedObjects() throws {
        let mapper = try mapper()
        let json = Array(
            #"[{"id":1,"notes":[{"id":10,"z":1,"user":{"id":1}},{"id":11,"text":"é"}],"q":{}},{"notes_ids":[7,8],"id":2,"notes":[{"id":12}]}]"#
                .utf8)
        func describe(_ batch: MappedBatch?) -> String {
            guard let batch else { return "-" }
            let groups = batch.groups.map { group in
                let records = group.makeRecords().map { "\($0.values)" }
                let nested = group.nested.map { elements in
                    elements.map {
                        "\($0.owners) \($0.sources.map(\.ordinals)) \($0.misfits.map(\.kind)) \(describe($0.objects)) "
                            + "\($0.identifiers?.batches(of: 100).map(describe) ?? [])"
                    } ?? "-"
                }
                return "\(group.elementIndices) \(records) \(nested)"
            }
            return "\(groups) \(batch.drift.entries.map(\.description)) \(batch.toleratedCount)"
        }
        let options = RecordMapper.Reader.Options(keepsRelationships: true)
        let whole = describe(try mapper.reader(of: "User", bytes: json, options: options).next())
        for cut in 1..<json.count {
            var parts = [json[..<cut], json[cut...]][...]
            let source = JSONReader { buffer in
                guard let part = parts.popFirst() else { return 0 }
                buffer.copyBytes(from: part)
                return part.count
            }
            let reader = try RecordMapper.Reader(mapper, entity: "User", reader: source, options: options)
            let batch = try reader.next()
            #expect(describe(batch) == whole, "\(cut)")
        }
    }

    @Test func anObjectInBytesIsMappedOnce() throws {
        var collector = try RecordCollector(try mapper(), entity: "Note")
        try collector.add(Array(#"{"id":1,"text":"a"}"#.utf8), index: 0)
        // The key that is expected next is longer than what is left.
        try collector.add(Array(#"{"id":2}"#.utf8), index: 1)
        let batch = try collector.takeBatch()
        #expect(batch?.groups.first?.elementIndices == [0, 1])
    }

    @Test func nestedObjectsCountForTheSizeOfABatch() throws {
        let mapper = try mapper()
        let notes = (1...40).map { "{\"id\":\($0),\"text\":\"\(String(repeating: "x", count: 100))\"}" }.joined(
            separator: ",")
        let json = Array(
            ("[" + repeatElement("{\"id\":1,\"notes\":[\(notes)]}", count: 20).joined(separator: ",") + "]").utf8)
        func counts(_ options: RecordMapper.Reader.Options) throws -> [Int] {
            let reader = try mapper.reader(of: "User", bytes: json, options: options)
            var counts: [Int] = []
            while let batch = try reader.next() { counts.append(batch.recordCount) }
            return counts
        }
        #expect(try counts(.init(keepsRelationships: true)) == [20])
        #expect(try counts(.init(batchByteCount: 30_000, keepsRelationships: true)).allSatisfy { $0 <= 6 })
        // Forty rows of notes count as much as 2.5 rows of users.
        #expect(try counts(.init(batchRowCount: 10, keepsRelationships: true)).allSatisfy { $0 <= 5 })
        #expect(try counts(.init(batchRowCount: 10)) == [10, 10])
    }

    @Test func longTextsOfRowsWithoutJSONCountForTheSizeOfABatch() throws {
        var collector = try RecordCollector(
            try mapper(), entity: "Note", options: .init(batchByteCount: 1 << 20))
        var rowCount = 0
        while rowCount < 100, !collector.isFull() {
            rowCount += 1
            _ = try collector.addRow(index: rowCount) { row in
                try row.set("id", to: rowCount)
                try row.set("text", to: String(repeating: "x", count: 100_000))
            }
        }
        #expect(rowCount == 11)
    }

    /// Neither of a rejected element, nor twice of one that is read again because its end was
    /// missing.
    @Test func valuesOfRelationshipsThatAreLeftOutAreCounted() throws {
        let mapper = try mapper(ValueContract(wrongType: .reject))
        let json = Array(
            #"""
            [{"id":1,"notes":[{"id":1},{"id":2}]},{"id":2,"notes":[ ]},{"id":3,"notes":null},
             {"notes_ids":[5],"id":4},{"notes":[{"id":6}],"x":0,"id":[]}]
            """#.utf8)
        let whole = try #require(try mapper.reader(of: "User", bytes: json).next())
        #expect(whole.excludedRelationshipCount == 2 && whole.rejected.count == 1)
        let kept = try #require(
            try mapper.reader(of: "User", bytes: json, options: .init(keepsRelationships: true)).next())
        #expect(kept.excludedRelationshipCount == 0)

        let source = JSONReader()
        let reader = try RecordMapper.Reader(mapper, entity: "User", reader: source)
        var count = 0
        for end in json.indices {
            try source.append([json[end]])
            if end == json.endIndex - 1 { source.finish() }
            while let batch = try reader.next() { count += batch.excludedRelationshipCount }
        }
        #expect(count == 2)
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
