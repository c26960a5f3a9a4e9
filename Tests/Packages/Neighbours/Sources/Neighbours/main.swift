import BenchmarkSupport
import CPostgres
import CSQLite
import CoreDataModel
import Foundation
import HTTPSource
import JSONMapper
import LoopbackServer
import ModelInference
import OneWaySynchronizer
import PostgresTestSupport
import StoreSync
import SyncModel
import SyncProcessorTesting
import SyncStore
import SyncStorePostgres
import SyncStoreSQLite
import SyncStoreTesting
import SyncWorkQueuePostgres
import TestSupport

/// Types as SwiftData and apps name theirs; ours must not take these names.
struct Model {}
struct Entity {}
struct Attribute {}
struct Relationship {}
struct Key {}
struct Value {}

struct City: SyncObject {
    var id: Int
    var name: String?
}

let links = [
    TestSupport.Neighbour.isLinked, PostgresTestSupport.Neighbour.isLinked, BenchmarkSupport.Neighbour.isLinked,
    LoopbackServer.Neighbour.isLinked, csqlite_neighbour() == 1, cpostgres_neighbour() == 1,
]
let model = try DataModel {
    SyncEntity("User", identity: "id") {
        SyncAttribute("id", .int64)
    }
}
let store = try await SQLiteStore(model, at: .memory)
let result = try await store.sync("User", .text(#"[{"id": 1}, {"id": 2}]"#))
print(links.count, "neighbours,", result.counts.inserted, "users")

// At the top level, where the compiler chooses between overloads without the result's type.
let json = try await store.export(StoreQuery("User", orderedBy: [Ordering("id")]))
let cities = try await SQLiteStore(City.self, at: .memory)
let planned = try await cities.plan(City.self, .text(#"[{"id": 1}]"#))
let applied = try await cities.apply(City.self, [.objects(.text(#"{"id": 1, "name": "Bern"}"#))])
let cityJSON = try await cities.export(City.self, where: \.name != nil, orderedBy: \.name)
print(String(decoding: json, as: UTF8.self), String(decoding: cityJSON, as: UTF8.self))
guard links.allSatisfy({ $0 }), result.counts.inserted == 2, planned.counts.inserted == 1,
    applied.counts.inserted == 1, cityJSON.count > 2
else { exit(1) }
