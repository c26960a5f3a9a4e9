import JSONMapper
import OneWayBenchmarkSupport
import OneWayStoreBenchmarkSupport
import StoreSync
import SyncStore
import SyncStoreSQLite

// Many changes in one call, beside one change with the same objects.
extension StoreCases {
    private enum Kind: String, CaseIterable {
        case memory, sqlite
    }

    /// Objects into an empty store, with versions to compare and without.
    func changes(_ report: inout BenchmarkReport) async throws {
        let all = UserGenerator.bytes(count: count)
        let changes = Payload.records(all).map { RemoteChange.objects(.bytes(Array($0))) }
        for kind in Kind.allCases {
            let cases = [
                ("changes-array-\(kind)", [RemoteChange.objects(.bytes(all))], nil), ("changes-\(kind)", changes, nil),
                ("changes-newer-\(kind)", changes, "updatedAt"),
            ]
            let measured = try await measure(
                runs: runs,
                cases.map { name, changes, version in
                    BenchmarkCase(name, n: count) {
                        let store = try await store(kind, "store")
                        let options = StoreSyncOptions(newerBy: version)
                        return try await store.apply(changes, into: "User", options: options).counts.inserted
                    }
                })
            report.addRates(of: measured)
        }
    }

    /// Objects that each contain another one, which several of them share or which is their own.
    func nestedChanges(_ report: inout BenchmarkReport) async throws {
        for nesting in StoreUnderTest.Nesting.allCases {
            let records = Payload.records(UserGenerator.bytes(count: count)).enumerated().map { index, record in
                record.dropLast() + ",\(nesting.json(of: index + 1))}".utf8
            }
            let array = Array("[".utf8) + records.joined(separator: ",".utf8) + "]".utf8
            let changes = records.map { RemoteChange.objects(.bytes(Array($0))) }
            for kind in Kind.allCases {
                let cases = [
                    ("changes-\(nesting)-array-\(kind)", [RemoteChange.objects(.bytes(array))]),
                    ("changes-\(nesting)-\(kind)", changes),
                ]
                let measured = try await measure(
                    runs: runs,
                    cases.map { name, changes in
                        BenchmarkCase(name, n: count) {
                            let store = try await store(kind, "store", nesting: nesting)
                            return try await store.apply(changes, into: "User").counts.inserted
                        }
                    })
                report.addRates(of: measured)
            }
        }
    }

    /// The removal of half of the objects.
    func removals(_ report: inout BenchmarkReport) async throws {
        let all = RemoteChange.objects(.bytes(UserGenerator.bytes(count: count)))
        let ids = (1...count / 2).map(String.init)
        for kind in Kind.allCases {
            let cases = [
                ("removals-array-\(kind)", [RemoteChange.removals(.text("[\(ids.joined(separator: ","))]"))]),
                ("removals-\(kind)", ids.map { RemoteChange.removals(.text("{\"id\":\($0)}")) }),
            ]
            var measured: [BenchmarkCase] = []
            for (name, changes) in cases {
                var stores: [JSONStore] = []
                for run in 0..<runs {
                    let store = try await store(kind, "\(name)-\(run)")
                    try await store.apply([all], into: "User")
                    stores.append(store)
                }
                measured.append(
                    BenchmarkCase(name, n: ids.count) {
                        try await stores.removeLast().apply(changes, into: "User").counts.deleted
                    })
            }
            report.addRates(of: try await measure(runs: runs, warmup: 0, measured))
        }
    }

    /// Makes an empty store.
    private func store(
        _ kind: Kind, _ name: String, nesting: StoreUnderTest.Nesting? = nil
    ) async throws -> JSONStore {
        let mapper = try nesting.map { try $0.mapper() } ?? StoreUnderTest.mapper()
        switch kind {
        case .memory: return try JSONStore(MemoryStore(exactly: mapper.model), mapper: mapper)
        case .sqlite:
            let store = try await SQLiteStore(exactly: mapper.model, at: .file(emptyFile(name)))
            return try JSONStore(store, mapper: mapper)
        }
    }
}
