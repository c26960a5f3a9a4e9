import Foundation
import JSONMapper
import ModelInference
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
import Testing

/// How the bytes of a document arrive makes no difference to what is read from it.
///
/// Every document is read by the model that is inferred from it, by one that knows no identities
/// and matches objects by their content, and by one that lacks some of the keys.
@Suite(.endsInTime) struct ArrivalTests {
    /// A document with its name, for a failure.
    struct Document: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]

        var testDescription: String { name }
    }

    // MARK: Documents

    private static let fixtures = Bundle.module.resourceURL.map { $0.appending(path: "Fixtures") }

    private static func files(in folder: URL?) -> [Document] {
        let paths = folder.flatMap { FileManager.default.enumerator(atPath: $0.path) }?.compactMap { $0 as? String }
        return (paths ?? []).filter { $0.hasSuffix(".json") }.sorted().compactMap { path in
            guard let folder, let data = try? Data(contentsOf: folder.appending(path: path)) else { return nil }
            return Document(name: path, bytes: Array(data))
        }
    }

    /// The payloads in the steps of scenarios.
    private static func payloads(of scenarios: Document) -> [Document] {
        var found: [Document] = []
        func walk(_ value: JSONValue) {
            switch value {
            case .array(let values): for value in values { walk(value) }
            case .object(let object):
                for (key, value) in object.entries {
                    if key == "json" || key == "pages" {
                        var writer = JSONWriter()
                        guard (try? writer.value(value)) != nil else { continue }
                        found.append(Document(name: "\(scenarios.name) #\(found.count + 1)", bytes: writer.bytes))
                    }
                    walk(value)
                }
            default: break
            }
        }
        if let value = try? JSONValue(parsing: scenarios.bytes, exactDecimals: true) { walk(value) }
        return found
    }

    static let roundTrips = files(in: fixtures?.appending(path: "RoundTrips"))

    static let scenarios = [fixtures, ConformanceFiles.folder].flatMap { folder in
        files(in: folder?.appending(path: "json")) + files(in: folder?.appending(path: "scenarios")).flatMap(payloads)
    }

    static let testSuite = files(in: ConformanceFiles.jsonTestSuite)

    // MARK: Models

    /// The model of a document; one of a few common keys for a document that has none.
    private static func inferred(_ bytes: [UInt8]) throws -> DataModel {
        if let model = try? RoundTrip.infer(bytes).model, (try? RecordMapper(model)) != nil { return model }
        return try DataModel {
            SyncEntity(RoundTrip.entity, identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("a", .string)
                SyncAttribute("date", .date)
                SyncRelationship("b", toMany: RoundTrip.entity)
            }
        }
    }

    /// The same model without identities, and without what a mapper would take for one: objects are
    /// matched by their content.
    private static func withoutIdentities(_ model: DataModel) throws -> DataModel {
        var model = model
        while true {
            let identified = try JSONDialect.sync.identified(model)
            let hash = JSONDialect.contentHashAnnotation
            var isDone = true
            let entities = zip(model.entities, identified.layouts).map { entity, layout in
                var copy = entity
                let keys = layout.identityColumns.map { layout.attributes[$0] }.filter { $0.userInfo[hash] == nil }
                if !keys.isEmpty || !copy.identity.isEmpty { isDone = false }
                copy.identity = []
                copy.identityScope = nil
                copy.attributes.removeAll { attribute in keys.contains { $0.name == attribute.name } }
                if entity.parent == nil, !copy.attributes.contains(where: { $0.userInfo[hash] != nil }) {
                    copy.attributes.append(SyncAttribute("contentHashOfTheTest", .int64, userInfo: [hash: "YES"]))
                }
                return copy
            }
            model = try DataModel(entities)
            if isDone { return model }
        }
    }

    /// The same model without some keys, which are then unknown.
    private static func lackingKeys(_ model: DataModel) throws -> DataModel {
        try DataModel(
            model.entities.map { entity in
                var copy = entity
                let rest = entity.attributes.filter { attribute in
                    !attribute.userInfo.isEmpty || entity.identity.contains(attribute.name)
                }
                let others = entity.attributes.filter { attribute in
                    !rest.contains { $0.name == attribute.name }
                }
                copy.attributes = rest + others.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
                return copy
            })
    }

    // MARK: Reading

    /// What is read from a document, independent of the ends of batches.
    private struct Reading: Equatable {
        /// The objects by element index, with those nested in them.
        var objects: [[String]] = []
        var rejected: [MappingError.Problem] = []
        var toleratedCount = 0
        var drift = DriftReport()
        /// The counts of the batches, if the reader asks for its bytes.
        var batches: [Int] = []
        var error = ""
        var elementCount = 0
        var byteCount = 0

        mutating func add(_ batch: MappedBatch) {
            objects += Self.objects(of: batch).sorted { $0.index < $1.index }.map { ["\($0.index)"] + $0.lines }
            rejected += batch.rejected
            toleratedCount += batch.toleratedCount
            drift.add(batch.drift)
            drift.add(batch.nestedDrift)
            // Differences alone, as of null in place of an object, make no batch of their own.
            let count = batch.recordCount + batch.rejected.count
            if count > 0 { batches.append(count) }
        }

        /// The objects of a batch, nested ones by their place among those of their source.
        private static func objects(of batch: MappedBatch) -> [(index: Int, lines: [String])] {
            batch.groups.flatMap { group -> [(index: Int, lines: [String])] in
                let records = group.makeRecords()
                let nested = group.nested.map { $0.map(Self.sources) ?? [:] }
                return records.indices.map { row in
                    let isStub = group.stubRows.contains(row)
                    var lines = ["\(group.mapping.layout.name) \(records[row].values)\(isStub ? " stub" : "")"]
                    if let json = group.undetermined[row] { lines.append("undetermined \(json.count)") }
                    for (index, relationship) in nested.enumerated() {
                        lines += (relationship[row] ?? []).map { "  \(index): \($0)" }
                    }
                    return (group.elementIndices[row], lines)
                }
            }
        }

        /// What each source of a relationship leads to.
        private static func sources(of elements: NestedElements) -> [Int: [String]] {
            let objects = elements.objects.map(Self.objects) ?? []
            let batches = elements.identifiers.map { Array($0.batches(of: 100)) } ?? []
            let identifiers = batches.flatMap(Self.objects)
            var lines: [Int: [String]] = [:]
            for source in elements.sources {
                let own = (objects + identifiers).filter { source.ordinals.contains($0.index) }
                    .sorted { $0.index < $1.index }
                lines[source.row, default: []].append(
                    "\(source.ordinals.count) holds \(source.holdsObjects) incomplete \(source.isIncomplete)")
                lines[source.row, default: []] += own.flatMap { object in
                    ["\(object.index - source.ordinals.lowerBound)"] + object.lines
                }
                let problems = (elements.objects?.rejected ?? []) + batches.flatMap(\.rejected)
                lines[source.row, default: []] += problems.filter { source.ordinals.contains($0.index) }.map {
                    "\($0.index - source.ordinals.lowerBound) \($0.reason) \($0.keyPath)"
                }
            }
            for misfit in elements.misfits {
                lines[misfit.row, default: []].append("\(misfit.kind) \(misfit.found.map { "\($0)" } ?? "")")
            }
            return lines
        }

        mutating func drain(_ records: RecordMapper.Reader, _ json: JSONReader) {
            do {
                while let batch = try records.next() { add(batch) }
            } catch {
                self.error = String(reflecting: error)
            }
            elementCount = json.elementCount
            // After an error, more bytes may have been read.
            byteCount = error.isEmpty ? json.byteCount : 0
        }
    }

    private static func options(_ rowCount: Int) -> RecordMapper.Reader.Options {
        var options = RecordMapper.Reader.Options(batchRowCount: rowCount, keepsRelationships: true)
        options.keepsJSON = true
        return options
    }

    /// The entity to read, one batch for an object: what was read before an error is then known.
    private static func read(
        _ json: JSONReader, by mapper: RecordMapper, rowCount: Int, feeding pieces: [[UInt8]] = []
    ) throws -> Reading {
        var reading = Reading()
        let records = try RecordMapper.Reader(
            mapper, entity: RoundTrip.entity, reader: json, options: options(rowCount))
        for piece in pieces {
            do { try json.append(piece) } catch { reading.error = String(reflecting: error) }
            if reading.error.isEmpty { reading.drain(records, json) }
            if !reading.error.isEmpty { return reading }
        }
        if !pieces.isEmpty { json.finish() }
        reading.drain(records, json)
        return reading
    }

    private static let layout = JSONReader.Layout.array(acceptsSingleObject: true)

    private static func read(
        _ bytes: [UInt8], arriving arrival: Arrival, by mapper: RecordMapper, rowCount: Int
    ) throws -> Reading {
        switch arrival {
        case .window(let size, let stride):
            let source = Arrival.source(of: bytes, stride: stride)
            let json = JSONReader(layout: layout, windowByteCount: size, source: source)
            return try read(json, by: mapper, rowCount: rowCount)
        case .pieces, .cut:
            let pieces = arrival.pieces(of: bytes)
            return try read(
                JSONReader(layout: layout), by: mapper, rowCount: rowCount, feeding: pieces.isEmpty ? [[]] : pieces)
        }
    }

    // MARK: The property

    /// Compares every arrival with the whole document; reports the first difference.
    private static func check(_ document: Document, _ arrivals: [Arrival]) throws {
        let bytes = document.bytes
        let model = try inferred(bytes)
        // Without its identity, an entity may have an attribute that names one but cannot be one.
        let plain = (try? withoutIdentities(model)).flatMap { (try? RecordMapper($0)) == nil ? nil : $0 } ?? model
        let lacking = (try? lackingKeys(model)).flatMap { (try? RecordMapper($0)) == nil ? nil : $0 } ?? model
        for (name, model) in [("inferred", model), ("without identities", plain), ("lacking keys", lacking)] {
            for contract in [ValueContract(), ValueContract(unknownKey: .reject, wrongType: .reject)] {
                let mapper = try RecordMapper(model, JSONMapping(contract: contract))
                var whole: [Int: Reading] = [:]
                for rowCount in [1, 3] {
                    whole[rowCount] = try read(
                        JSONReader(bytes: bytes, layout: layout), by: mapper, rowCount: rowCount)
                }
                if whole[1]?.error == "", let one = whole[1]?.drift.entries, let other = whole[3]?.drift.entries,
                    Set(one) != Set(other)
                {
                    Issue.record("\(document.name), \(name), batches of 1: \(one), of 3: \(other)")
                    return
                }
                for arrival in arrivals {
                    let rowCount: Int
                    // Batches end where appended bytes end; what is read before an error is known
                    // only of whole batches.
                    if case .window = arrival { rowCount = 3 } else { rowCount = 1 }
                    guard let expected = whole[rowCount] else { continue }
                    let found = try read(bytes, arriving: arrival, by: mapper, rowCount: rowCount)
                    if found != expected {
                        Issue.record(
                            "\(document.name), \(name), \(arrival): \(difference(found, expected))")
                        return
                    }
                }
            }
        }
    }

    private static func difference(_ found: Reading, _ expected: Reading) -> String {
        if found.error != expected.error { return "error \(found.error) instead of \(expected.error)" }
        if found.objects.count != expected.objects.count {
            return "\(found.objects.count) objects instead of \(expected.objects.count)"
        }
        for (one, other) in zip(found.objects, expected.objects) where one != other {
            return "object \(one) instead of \(other)"
        }
        if found.drift != expected.drift {
            return "drift \(found.drift.entries) instead of \(expected.drift.entries)"
        }
        if found.rejected != expected.rejected { return "rejected \(found.rejected) instead of \(expected.rejected)" }
        return "\(found.batches) \(found.elementCount) \(found.byteCount) \(found.toleratedCount)"
            + " instead of \(expected.batches) \(expected.elementCount) \(expected.byteCount) \(expected.toleratedCount)"
    }

    @Test func thereAreDocuments() {
        #expect(Self.roundTrips.count >= 40 && Self.scenarios.count > 200)
        #expect(ConformanceFiles.jsonTestSuite == nil || Self.testSuite.count > 300)
    }

    @Test(arguments: sampled(roundTrips, every: 3))
    func aFileOfAnAPI(document: Document) throws {
        try Self.check(document, Axes.arrivals(of: document.bytes.count))
    }

    /// Small documents by the thousand, each by a sample of the arrivals.
    private static func checkAll(_ documents: [Document]) throws {
        for (number, document) in sampled(documents, every: 3).enumerated() {
            let arrivals = Axes.arrivals(of: document.bytes.count, seed: UInt64(number))
            let stride = Axes.areComplete ? 1 : max(arrivals.count / 12, 1)
            let some = arrivals.indices.filter { ($0 + number).isMultiple(of: stride) }.map { arrivals[$0] }
            try check(document, some)
        }
    }

    @Test func payloadsOfScenarios() throws {
        try Self.checkAll(Self.scenarios)
    }

    @Test(.enabled(if: ConformanceFiles.jsonTestSuite != nil, Comment(rawValue: ConformanceFiles.isMissing)))
    func documentsOfTheJSONTestSuite() throws {
        // Larger ones, of a hundred thousand brackets, say nothing more in small pieces.
        try Self.checkAll(Self.testSuite.filter { $0.bytes.count < 10_000 })
    }

    @Test func randomDocuments() throws {
        try Self.checkAll(
            seeds(60, thorough: 200).map { seed in
                var generator = DocumentGenerator(seed: seed)
                return Document(name: "seed \(seed)", bytes: try generator.document())
            })
    }

    /// The mapped objects of a file, and a store after a sync from pieces as from standard input.
    @Test(arguments: sampled(roundTrips, every: 3))
    func aFileAndAStreamAreReadLikeBytes(document: Document) async throws {
        let folder = try TemporaryDirectory()
        let path = folder.url.appending(path: "document.json").path
        try Data(document.bytes).write(to: URL(filePath: path))
        let mapper = try RecordMapper(try Self.inferred(document.bytes))
        let whole = try Self.read(
            JSONReader(bytes: document.bytes, layout: Self.layout), by: mapper, rowCount: 3)
        let file = try Self.read(try JSONReader(file: path, layout: Self.layout), by: mapper, rowCount: 3)
        #expect(file == whole)
        func export(_ source: JSONSource) async throws -> (result: String, export: [UInt8]) {
            let store = try JSONStore(MemoryStore(exactly: mapper.model), mapper: mapper)
            let result = try await store.sync(source, into: RoundTrip.entity)
            let counts =
                "\(result.countsByEntity.map { "\($0) \($1)" }.sorted()) \(result.rejected) \(result.drift.entries)"
            return (counts, try await store.export(StoreQuery(RoundTrip.entity)))
        }
        let expected = try await export(.bytes(document.bytes))
        for arrival in [.pieces(7), .pieces(64)] + Axes.cuts(of: document.bytes.count, maximumCount: 3).map(Arrival.cut)
        {
            let pieces = arrival.pieces(of: document.bytes)
            let found = try await export(
                .chunks(
                    AsyncStream { continuation in
                        for piece in pieces { continuation.yield(piece) }
                        continuation.finish()
                    }))
            #expect(found == expected, "\(arrival)")
        }
        #expect(try await export(.file(path)) == expected)
    }
}
