import OneWayBenchmarkSupport
import OneWayStoreBenchmarkSupport
import StoreSync

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
            add(measured, to: &report)
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
            add(try await measure(runs: runs, warmup: 0, measured), to: &report)
        }
    }

    /// Makes an empty store.
    private func store(_ kind: Kind, _ name: String) async throws -> JSONStore {
        switch kind {
        case .memory: try StoreUnderTest.memory()
        case .sqlite: try await StoreUnderTest.sqlite(emptyFile(name))
        }
    }
}
