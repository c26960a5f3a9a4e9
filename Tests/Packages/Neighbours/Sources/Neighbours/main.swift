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
guard links.allSatisfy({ $0 }), result.counts.inserted == 2 else { exit(1) }
