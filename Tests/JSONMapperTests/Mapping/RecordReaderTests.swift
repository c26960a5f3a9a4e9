import JSONMapper
import OneWayTestLimits
import OneWayTestSupport
import SyncModel
import Testing

@Suite(.endsInTime) struct RecordReaderTests {
    private let model: DataModel
    private let mapper: RecordMapper

    init() throws {
        model = try DataModel {
            SyncEntity("User") {
                SyncAttribute("remoteID", .int64, optional: false)
                SyncAttribute("firstName", .string)
                SyncAttribute("city", .string, userInfo: ["sync.remoteKey": "address.city"])
                SyncAttribute("zip", .string, userInfo: ["sync.remoteKey": "address.code.zip"])
                SyncAttribute("bornOn", .date)
                SyncRelationship("bestFriend", toOne: "User")
                SyncRelationship("notes", toMany: "User")
            }
        }
        mapper = try RecordMapper(model)
    }

    private func records(_ json: String) throws -> [[AttributeValue]] {
        try mapper.records(of: "User", bytes: Array(json.utf8)).map(\.values)
    }

    private func rejecting(_ contract: ValueContract, _ json: String) throws -> ([Record], [MappingError.Problem]) {
        let mapper = try RecordMapper(model, JSONMapping(contract: contract))
        let result = try mapper.reader(of: "User", bytes: Array(json.utf8)).readAll()
        return (result.records, result.rejected)
    }

    @Test(arguments: [1, 7, 64])
    func objectsMatchedByContentMayCrossTheEndOfTheWindow(stride: Int) throws {
        let model = try DataModel {
            SyncEntity("Note") {
                SyncAttribute("hash", .int64, userInfo: [JSONDialect.contentHashAnnotation: "YES"])
                SyncAttribute("text", .string)
            }
        }
        let mapper = try RecordMapper(model)
        let json = Array(
            #"[{"text":"a","more":{"x":[1,null,2]}},{"text":null},{"text":"a","more":{"x":[1,null,2]}}]"#.utf8)
        let source = JSONReader(windowByteCount: 16, source: Arrival.source(of: json, stride: stride))
        let reader = try RecordMapper.Reader(mapper, entity: "Note", reader: source)
        #expect(try reader.readAll().records.map(\.values) == mapper.records(of: "Note", bytes: json).map(\.values))
    }

    /// Equal objects are told apart by those before them, also if another batch had those.
    @Test func nestedObjectsMatchedByContentAreToldApartAcrossBatches() throws {
        let model = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("notes", toMany: "Note")
            }
            SyncEntity("Note") {
                SyncAttribute("hash", .int64, userInfo: [JSONDialect.contentHashAnnotation: "YES"])
                SyncAttribute("text", .string)
            }
        }
        let mapper = try RecordMapper(model)
        let json = #"[{"id":1,"notes":[{"text":"a"}]},{"id":2},{"id":3},{"id":4,"notes":[{"text":"a"}]}]"#
        func hashes(batchRowCount: Int) throws -> [AttributeValue] {
            let reader = try mapper.reader(
                of: "User", bytes: Array(json.utf8),
                options: RecordMapper.Reader.Options(batchRowCount: batchRowCount, keepsRelationships: true))
            var hashes: [AttributeValue] = []
            while let batch = try reader.next() {
                for elements in batch.groups.flatMap(\.nested).compactMap({ $0 }) {
                    hashes += elements.objects?.groups.flatMap { $0.makeRecords() }.map { $0[column: 0] } ?? []
                }
            }
            return hashes
        }
        let whole = try hashes(batchRowCount: 4)
        #expect(whole.count == 2 && whole.first != whole.last)
        for count in 1...3 { #expect(try hashes(batchRowCount: count) == whole) }
    }

    @Test func absentPropertiesAreClearedUnlessTheyIdentifyOrHaveNoKey() throws {
        let model = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncAttribute("role", .string, default: "guest")
                SyncAttribute("draft", .string, userInfo: [JSONDialect.unmappedAnnotation: "YES"])
            }
        }
        var options = RecordMapper.Reader.Options()
        options.clearsAbsent = true
        let reader = try RecordMapper(model).reader(of: "User", bytes: Array(#"[{"other":1}]"#.utf8), options: options)
        let records = try #require(try reader.next()?.groups.first?.records)
        let kinds = records.withReader { reader in (0..<4).map { reader.kind(row: 0, column: $0) } }
        #expect(kinds == [.absent, .null, .string, .absent])
    }

    // MARK: Keys

    @Test(arguments: [
        #"[{"id":1,"first_name":"a"}]"#, #"[{"id":1,"firstName":"a"}]"#, #"[{"remote_id":1,"first-name":"a"}]"#,
        #"[{"remoteID":1,"FirstName":"a"}]"#, #"[{"first_name":"x","id":1,"first_name":"a"}]"#,
        #"[ { "id" : 1 , "other" : [ {} ] , "FIRST_NAME" : "a" } ]"#, #"[{"\u0069d":1,"first\u005fname":"\u0061"}]"#,
    ])
    func everySpellingOfAKeyLeadsToItsAttribute(json: String) throws {
        #expect(try records(json) == [[1, "a", .null, .null, .null]])
    }

    @Test func objectsMayDifferInTheOrderOfTheirKeys() throws {
        let json =
            #"[{"id":1,"first_name":"a"},{"x":0,"first_name":"b","y":1,"id":2},{"id":3,"first_name":"c"},{},{"first_name":"e"}]"#
        #expect(
            try records(json).map { [$0[0], $0[1]] } == [
                [1, "a"], [2, "b"], [3, "c"], [.null, .null], [.null, "e"],
            ])
    }

    @Test func aKeyPathReachesIntoNestedObjects() throws {
        let json =
            #"[{"address":{"city":"Oslo","code":{"zip":"0150"}}},{"address.city":"Bergen","address.code.zip":"5003"}]"#
        #expect(try records(json).map { [$0[2], $0[3]] } == [["Oslo", "0150"], ["Bergen", "5003"]])
    }

    @Test func nullOnTheWayClearsAndAnAbsentEndLeaves() throws {
        var record = Record(of: try mapper.model.layout(of: "User"))
        record["city"] = "Oslo"
        record["zip"] = "0150"
        #expect(try mapper.fill(&record, from: Array(#"{"address":{"code":null}}"#.utf8)))
        #expect(record["city"] == "Oslo")
        #expect(record["zip"] == .null)
        #expect(try mapper.fill(&record, from: Array(#"{"address":null}"#.utf8)))
        #expect(record["city"] == .null)
        let problems = try rejecting(ValueContract(wrongType: .reject), #"[{"address":"Oslo"}]"#).1
        #expect(problems.map(\.keyPath) == ["address"])
    }

    @Test func oneKeyServesAnAttributeAPathAndARelationship() throws {
        let model = try DataModel {
            SyncEntity("A") {
                SyncAttribute("whole", .binary, userInfo: ["sync.remoteKey": "b"])
                SyncAttribute("name", .string, userInfo: ["sync.remoteKey": "b.name"])
                SyncAttribute("again", .string, userInfo: ["sync.remoteKey": "b.name"])
                SyncRelationship("b", toOne: "A")
            }
        }
        let reader = try RecordMapper(model).reader(
            of: "A", bytes: Array(#"[{"b":{"name":"n"}}]"#.utf8), options: .init(keepsRelationships: true))
        let group = try #require(try reader.next()?.groups.first)
        #expect(group.records.value(row: 0, column: 0) == .binary(.init(#"{"name":"n"}"#.utf8)))
        #expect(group.records.value(row: 0, column: 1) == "n")
        #expect(group.records.value(row: 0, column: 2) == "n")
        #expect(group.nested[0]?.objects?.recordCount == 1)
    }

    @Test func anAttributeAndAnIdentifierOfARelationshipMayShareAKey() throws {
        let model = try DataModel {
            SyncEntity("A") {
                SyncAttribute("ownerID", .int64)
                SyncRelationship("owner", toOne: "A")
            }
        }
        let reader = try RecordMapper(model).reader(
            of: "A", bytes: Array(#"[{"owner_id":7}]"#.utf8), options: .init(keepsRelationships: true))
        let group = try #require(try reader.next()?.groups.first)
        #expect(group.records.value(row: 0, column: 0) == 7)
        // An entity without an identity has no identifiers.
        #expect(group.nested[0]?.misfits.map(\.kind) == [.changedShape])
    }

    @Test func aKeyThatNeedsEscapesIsFoundHoweverItIsEscaped() throws {
        let mapper = try RecordMapper(
            try DataModel { SyncEntity("A") { SyncAttribute("a", .int64, userInfo: ["sync.remoteKey": "q\"\\/k"]) } })
        let json = #"[{"q\"\\/k":1},{"q\"\\\/k":2},{"\u0071\u0022\\/k":3}]"#
        #expect(try mapper.records(of: "A", bytes: Array(json.utf8)).map { $0["a"] } == [1, 2, 3])
        #expect(throws: JSONError.self) { try mapper.records(of: "A", bytes: Array(#"[{"q"\/k":1}]"#.utf8)) }
    }

    @Test func namesThatDifferInCaseAloneAreToldApart() throws {
        let mapper = try RecordMapper(
            try DataModel {
                SyncEntity("A") {
                    SyncAttribute("userId", .int64)
                    SyncAttribute("userID", .int64)
                }
            })
        let records = try mapper.records(of: "A", bytes: Array(#"[{"User_Id":1,"userId":2}]"#.utf8))
        #expect(records.map(\.values) == [[2, 1]])
    }

    @Test func theStrongestClaimOnAKeyHolds() throws {
        let mapper = try RecordMapper(
            try DataModel {
                SyncEntity("A") {
                    SyncAttribute("id", .int64)
                    SyncAttribute("remoteID", .int64)
                    SyncAttribute("aType", .string)
                    SyncAttribute("kind", .string, userInfo: ["sync.remoteKey": "type"])
                }
            })
        let records = try mapper.records(of: "A", bytes: Array(#"[{"id":1,"type":"t"}]"#.utf8))
        #expect(records.map(\.values) == [[1, .null, .null, "t"]])
    }

    // MARK: Relationships

    @Test func relationshipsAreMappedWhereTheyAreMet() throws {
        let json =
            #"[{"id":1},{"best_friend_id":7,"notes":[{"id":2}]},{"bestFriend":{"id":3},"notesIDs":[4],"notes":null}]"#
        let reader = try mapper.reader(
            of: "User", bytes: Array(json.utf8), options: .init(keepsRelationships: true))
        let group = try #require(try reader.next()?.groups.first)
        let friends = try #require(group.nested[0])
        let notes = try #require(group.nested[1])
        #expect(friends.sources.map(\.row) == [1, 2])
        #expect(friends.owners == [1, 2])
        #expect(friends.identifierGroups.first?.elementIndices == [0])
        #expect(friends.objects?.groups.first?.elementIndices == [1])
        #expect(notes.sources.map(\.row) == [1, 2])
        #expect(notes.sources.map(\.holdsObjects) == [true, false])
        // Identifiers outweigh null.
        #expect(notes.sources.map(\.ordinals) == [0..<1, 1..<2])
        #expect(notes.identifierGroups.first?.elementIndices == [1])
        #expect(group.elementIndices == [0, 1, 2])
    }

    // MARK: Contract

    @Test func theDefaultContractIsForgiving() throws {
        let json = #"[{"id":"x","unknown":1,"first_name":["a"],"born_on":"never"}]"#
        #expect(try records(json) == [[.null, .null, .null, .null, .null]])
        let batch = try #require(try mapper.reader(of: "User", bytes: Array(json.utf8)).next())
        #expect(batch.toleratedCount == 3)
        #expect(batch.rejected.isEmpty)
    }

    @Test func rejectedObjectsAreReportedAndTheOthersGoOn() throws {
        let (records, problems) = try rejecting(
            ValueContract(unknownKey: .reject, wrongType: .reject, unreadableDate: .reject),
            #"[{"id":1},{"id":"x"},{"id":2,"address":{"x":1}},{"id":3,"born_on":"never"},7,null,{"id":9}]"#
        )
        #expect(records.map { $0["remoteID"] } == [1, 9])
        #expect(
            problems == [
                MappingError.Problem(
                    entity: "User", attribute: "remoteID", keyPath: "id", index: 1, reason: .wrongType(.int64)),
                MappingError.Problem(entity: "User", keyPath: "address.x", index: 2, reason: .unknownKey),
                MappingError.Problem(
                    entity: "User", attribute: "bornOn", keyPath: "born_on", index: 3, reason: .unreadableDate),
                MappingError.Problem(entity: "User", index: 4, reason: .notAnObject),
            ])
        #expect(problems[0].description == "User.remoteID, element 1 at id: the value is not of type int64")
    }

    @Test func anEntityMayHaveAContractOfItsOwn() throws {
        let mapper = try RecordMapper(model, JSONMapping(contracts: ["User": ValueContract(unknownKey: .fail)]))
        #expect(throws: MappingError.self) { try mapper.records(of: "User", bytes: Array(#"[{"x":1}]"#.utf8)) }
        #expect(throws: MappingError.unknownEntity("X")) {
            try RecordMapper(model, JSONMapping(contracts: ["X": ValueContract()]))
        }
    }

    @Test func aNumberThatDoesNotFitIsToldApartFromAnotherType() throws {
        let (_, problems) = try rejecting(
            ValueContract(wrongType: .reject), #"[{"id":1.5},{"id":9223372036854775808},{"id":[]}]"#)
        #expect(problems.map(\.reason) == [.outOfRange(.int64), .outOfRange(.int64), .wrongType(.int64)])
    }

    @Test func ignoredValuesLeaveWhatIsThere() throws {
        let mapper = try RecordMapper(
            model, JSONMapping(contract: ValueContract(wrongType: .ignore, unreadableDate: .ignore)))
        var record = Record(of: try mapper.model.layout(of: "User"))
        record["remoteID"] = 4
        record["bornOn"] = .date(Timestamp(microseconds: 0))
        #expect(try mapper.fill(&record, from: Array(#"{"id":"x","born_on":"never"}"#.utf8)) == false)
        #expect(record["remoteID"] == 4)
    }

    @Test func aFailingContractEndsWithTheProblemAndReadingCanGoOn() throws {
        let mapper = try RecordMapper(model, JSONMapping(contract: ValueContract(wrongType: .fail)))
        let reader = try mapper.reader(of: "User", bytes: Array(#"[{"id":1},{"id":[]},{"id":3}]"#.utf8))
        let problem = MappingError.Problem(
            entity: "User", attribute: "remoteID", keyPath: "id", index: 1, reason: .wrongType(.int64))
        #expect(throws: MappingError.unfit(problem)) { try reader.next() }
        #expect(try reader.readAll().records.map { $0["remoteID"] } == [1, 3])
    }

    @Test func malformedInputIsAJSONErrorWithItsPlace() throws {
        #expect(throws: JSONError.self) { try records(#"[{"id":1},{"id":}]"#) }
        #expect(throws: JSONError.self) { try records(#"[{"id":1}"#) }
    }

    // MARK: Streams

    @Test func batchesAreBoundedByRowsAndBytes() throws {
        let json = Array(("[" + (0..<25).map { "{\"id\":\($0)}" }.joined(separator: ",") + "]").utf8)
        let byRows = try mapper.reader(of: "User", bytes: json, options: .init(batchRowCount: 10))
        var counts: [Int] = []
        while let batch = try byRows.next() { counts.append(batch.recordCount) }
        #expect(counts == [10, 10, 5])
        let byBytes = try mapper.reader(of: "User", bytes: json, options: .init(batchByteCount: 1))
        #expect(try byBytes.next()?.recordCount == 1)
    }

    @Test func aFloodOfRejectedObjectsComesInBatchesToo() throws {
        let json = Array(("[" + repeatElement("1", count: 25).joined(separator: ",") + "]").utf8)
        let reader = try mapper.reader(of: "User", bytes: json, options: .init(batchRowCount: 10))
        #expect(try reader.next()?.rejected.count == 10)
    }

    @Test func anInputCutAnywhereGivesTheSameRecords() throws {
        let json = Array(
            #"[{"id":12,"first_name":"é\n\"x","address":{"city":"Oslo","code":{"zip":150}},"best_friend":{"id":[1,2]}},null,{"id":-3,"born_on":"2014-01-02"}]"#
                .utf8)
        let whole = try mapper.records(of: "User", bytes: json)
        #expect(whole.count == 2)
        for cut in 1..<json.count {
            let source = JSONReader(layout: .array())
            let reader = try RecordMapper.Reader(
                mapper, entity: "User", reader: source, options: .init(keepsRelationships: true))
            var records: [Record] = []
            var relationships = 0
            for part in [json[..<cut], json[cut...]] {
                try source.append(part)
                if part.endIndex == json.endIndex { source.finish() }
                while let batch = try reader.next() {
                    records += batch.groups.flatMap { $0.makeRecords() }
                    relationships += batch.groups.flatMap(\.nested).reduce(0) { $0 + ($1?.sources.count ?? 0) }
                }
            }
            #expect(records == whole)
            #expect(relationships == 1)
        }
    }

    @Test func chunksThatArriveOverTimeAreMappedAsTheyCome() async throws {
        let chunks = AsyncStream<[UInt8]> { continuation in
            for part in ["{\"data\":[{\"id\"", ":1},{\"id\":2}", "]}"] { continuation.yield(Array(part.utf8)) }
            continuation.finish()
        }
        var ids: [AttributeValue] = []
        try await mapper.read(chunks, of: "User", layout: .array(at: "data")) { records, _ in
            ids += records.map { $0["remoteID"] }
        }
        #expect(ids == [1, 2])
    }

    @Test func aParsedValueFollowsTheSameRules() throws {
        let text = #"{"items":[{"id":"7","first_name":1.0,"address":{"city":null}}]}"#
        let json = try JSONValue(parsing: text)
        let (records, _) = try mapper.reader(of: "User", json: json, keyPath: "items").readAll()
        #expect(records == (try mapper.records(of: "User", bytes: Array(text.utf8), keyPath: "items")))
        #expect(records.first?["firstName"] == "1")
    }

    @Test func anUnknownEntityIsAnError() {
        #expect(throws: MappingError.unknownEntity("Nobody")) { try mapper.reader(of: "Nobody", bytes: []) }
    }

    @Test func sizesBelowOneCountAsOne() throws {
        let model = try DataModel { SyncEntity("E", identity: "id") { SyncAttribute("id", .int64) } }
        var options = RecordMapper.Reader.Options(batchRowCount: 0, batchByteCount: -1)
        #expect(options.batchRowCount == 1 && options.batchByteCount == 1)
        options.batchByteCount = 0
        options.batchRowCount = -5
        #expect(options.batchRowCount == 1 && options.batchByteCount == 1)
        let mapper = try RecordMapper(model)
        let reader = try RecordMapper.Reader(
            mapper, entity: "E", reader: JSONReader(bytes: Array(#"[{"id":1},{"id":2}]"#.utf8)), options: options)
        #expect(try reader.readAll().records.map { $0["id"] } == [1, 2])
    }

    /// Each action for each kind of misfit: what the object is then, and what is counted. What a
    /// missing value does is decided when objects are merged.
    @Test(arguments: [ValueContract.Action.ignore, .null, .reject, .fail])
    func everyActionAppliesToEveryKindOfMisfit(action: ValueContract.Action) throws {
        let model = try DataModel {
            SyncEntity("E") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("text", .string)
                SyncAttribute("small", .int16)
                SyncAttribute("day", .date)
                SyncAttribute("kind", .string, userInfo: ["sync.allowedValues": #"["a"]"#])
            }
        }
        let cases:
            [(WritableKeyPath<ValueContract, ValueContract.Action>, json: String, column: Int, isCounted: Bool)] =
                [
                    (\.unknownKey, #"{"id":1,"other":2}"#, 1, false), (\.wrongType, #"{"id":1,"text":[1]}"#, 1, true),
                    (\.outOfRange, #"{"id":1,"small":32768}"#, 2, true),
                    (\.unreadableDate, #"{"id":1,"day":"never"}"#, 3, true),
                    (\.wrongType, #"{"id":1,"kind":"b"}"#, 4, true),
                ]
        for (field, json, column, isCounted) in cases {
            var contract = ValueContract(wrongType: .ignore, outOfRange: .ignore, unreadableDate: .ignore)
            contract[keyPath: field] = action
            let mapper = try RecordMapper(model, JSONMapping(contract: contract))
            let reader = try mapper.reader(of: "E", bytes: Array("[\(json)]".utf8))
            guard action != .fail else {
                #expect(throws: MappingError.self, "\(json)") { try reader.next() }
                continue
            }
            let batch = try #require(try reader.next())
            #expect(batch.rejected.count == (action == .reject ? 1 : 0), "\(json)")
            guard action != .reject else { continue }
            let value = batch.groups[0].records.withReader { $0.value(row: 0, column: column) }
            #expect(value == (action == .null && isCounted ? .null : nil), "\(action) \(json)")
            #expect(batch.toleratedCount == (isCounted ? 1 : 0), "\(action) \(json)")
        }
    }

    @Test func aValueThatIsNotAllowedIsOnlyInTheDebugDescription() {
        let reason = MappingError.Problem.Reason.notAllowed("secret", allowed: ["a"])
        #expect(!reason.description.contains("secret"))
        #expect(reason.debugDescription == "\(reason.description): secret")
        let empty = MappingError.Problem.Reason.notAllowed("", allowed: ["a"])
        #expect(empty.debugDescription == empty.description)
    }

    /// A batch also ends by the size of what it keeps of nested objects: their JSON, and values
    /// that another value of the same relationship outdoes.
    @Test(arguments: [true, false]) func theSizeOfNestedJSONEndsABatch(isOutdone: Bool) throws {
        let long = String(repeating: "x", count: 20_000)
        let friend =
            isOutdone
            ? #""best_friend":{"id":1,"o":"\#(long)"},"best_friend":{"id":2}"# : #""best_friend":{"o":"\#(long)"}"#
        let json = "[" + (0..<20).map { #"{"id":\#($0),\#(friend)}"# }.joined(separator: ",") + "]"
        var options = RecordMapper.Reader.Options(batchByteCount: 100_000, keepsRelationships: true)
        options.keepsJSON = true
        let reader = try mapper.reader(of: "User", bytes: Array(json.utf8), options: options)
        var counts: [Int] = []
        while let batch = try reader.next() { counts.append(batch.recordCount) }
        #expect(counts.reduce(0, +) == 20)
        #expect(counts.count >= 4 && counts.allSatisfy { $0 <= 6 }, "\(counts)")
    }
}
