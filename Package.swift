// swift-tools-version: 6.1

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// Linked under the trait `Postgres` alone; without it nothing here needs libpq.
let libpq = Target.Dependency.target(name: "CPostgres", condition: .when(traits: ["Postgres"]))

let package = Package(
    name: "OneWaySynchronizer",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "OneWaySynchronizer", targets: ["OneWaySynchronizer"]),
        .library(name: "SyncModel", targets: ["SyncModel"]),
        .library(name: "CoreDataModel", targets: ["CoreDataModel"]),
        .library(name: "JSONMapper", targets: ["JSONMapper"]),
        .library(name: "SyncStore", targets: ["SyncStore"]),
        .library(name: "SyncStoreTesting", targets: ["SyncStoreTesting"]),
        .library(name: "StoreSync", targets: ["StoreSync"]),
        .library(name: "HTTPSource", targets: ["HTTPSource"]),
        .library(name: "SyncStoreSQLite", targets: ["SyncStoreSQLite", "SyncStoreSQL"]),
        .library(name: "SyncStorePostgres", targets: ["SyncStorePostgres", "SyncStoreSQL"]),
        // For the packages in Tests/Benchmarks, and for no one else.
        .library(name: "_BenchmarkSupport", targets: ["BenchmarkSupport"]),
    ],
    traits: [
        .trait(name: "Postgres", description: "Everything that needs PostgreSQL's client library, libpq.")
    ],
    targets: [
        .target(name: "OneWaySynchronizer", swiftSettings: settings),
        .target(name: "LoopbackServer", swiftSettings: settings),
        .executableTarget(
            name: "Demo",
            dependencies: [
                "OneWaySynchronizer", "LoopbackServer", "SyncModel", "CoreDataModel", "JSONMapper", "SyncStore",
                "StoreSync", "HTTPSource", "SyncStoreSQLite", "SyncStorePostgres",
            ], path: "Demo", swiftSettings: settings),
        .target(name: "SyncModel", swiftSettings: settings),
        .target(name: "CoreDataModel", dependencies: ["SyncModel"], swiftSettings: settings),
        .target(name: "JSONMapper", dependencies: ["SyncModel"], swiftSettings: settings),
        .target(name: "SyncStore", dependencies: ["SyncModel"], swiftSettings: settings),
        .target(
            name: "SyncStoreTesting",
            dependencies: ["SyncModel", "CoreDataModel", "JSONMapper", "SyncStore", "StoreSync"],
            swiftSettings: settings),
        .target(
            name: "StoreSync", dependencies: ["OneWaySynchronizer", "SyncModel", "JSONMapper", "SyncStore"],
            swiftSettings: settings),
        .target(
            name: "HTTPSource", dependencies: ["OneWaySynchronizer", "JSONMapper", "StoreSync"],
            swiftSettings: settings),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite3"])]),
        .target(name: "SyncStoreSQL", dependencies: ["SyncModel", "SyncStore"], swiftSettings: settings),
        .target(
            name: "SyncStoreSQLite",
            dependencies: ["OneWaySynchronizer", "SyncModel", "SyncStore", "SyncStoreSQL", "CSQLite"],
            swiftSettings: settings),
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .target(
            name: "SyncStorePostgres",
            dependencies: ["OneWaySynchronizer", "SyncModel", "SyncStore", "SyncStoreSQL", libpq],
            swiftSettings: settings),

        // Tests
        .target(
            name: "TestSupport", dependencies: ["OneWaySynchronizer"], path: "Tests/TestSupport",
            swiftSettings: settings),
        .testTarget(
            name: "OneWaySynchronizerTests", dependencies: ["OneWaySynchronizer", "TestSupport"],
            swiftSettings: settings),
        .testTarget(name: "LoopbackServerTests", dependencies: ["LoopbackServer"], swiftSettings: settings),
        .testTarget(
            name: "DemoTests",
            dependencies: [
                "Demo", "HTTPSource", "LoopbackServer", "OneWaySynchronizer", "SyncModel", "CoreDataModel",
                "JSONMapper",
                "StoreSync", "PostgresTestSupport", "TestSupport",
            ], swiftSettings: settings),
        .testTarget(name: "SyncModelTests", dependencies: ["SyncModel", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "CoreDataModelTests", dependencies: ["CoreDataModel", "SyncModel", "TestSupport"],
            resources: [.copy("Fixtures")], swiftSettings: settings),
        .testTarget(
            name: "JSONMapperTests", dependencies: ["JSONMapper", "SyncModel", "TestSupport"],
            resources: [.copy("Fixtures")], swiftSettings: settings),
        .testTarget(
            name: "SyncStoreTests", dependencies: ["SyncModel", "SyncStore", "SyncStoreTesting", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "StoreSyncTests",
            dependencies: [
                "StoreSync", "SyncStore", "SyncModel", "JSONMapper", "OneWaySynchronizer", "TestSupport",
            ], swiftSettings: settings),
        .testTarget(
            name: "HTTPSourceTests",
            dependencies: [
                "HTTPSource", "LoopbackServer", "StoreSync", "SyncStore", "SyncStoreSQLite", "SyncModel", "JSONMapper",
                "OneWaySynchronizer", "TestSupport",
            ], swiftSettings: settings),
        .testTarget(
            name: "SimulationTests", dependencies: ["Simulation", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "ScenarioTests",
            dependencies: [
                "OneWaySynchronizer", "SyncModel", "CoreDataModel", "JSONMapper", "SyncStore", "SyncStoreTesting",
                "StoreSync", "SyncStoreSQLite", "SyncStorePostgres", "PostgresTestSupport", "TestSupport",
            ], swiftSettings: settings),
        .testTarget(
            name: "SyncStoreSQLTests", dependencies: ["SyncStoreSQL", "SyncStore", "SyncModel"],
            swiftSettings: settings),
        .testTarget(
            name: "SyncStoreSQLiteTests",
            dependencies: [
                "SyncStoreSQLite", "SyncStoreSQL", "SyncStore", "SyncStoreTesting", "SyncModel", "OneWaySynchronizer",
                "StoreSync", "JSONMapper", "CSQLite", "TestSupport", "TestChild",
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "TestChild",
            dependencies: [
                "StoreSync", "SyncStoreSQLite", "SyncStorePostgres", "SyncStore", "JSONMapper", "SyncModel",
                "OneWaySynchronizer",
            ],
            path: "Tests/TestChild", swiftSettings: settings),
        .target(
            name: "PostgresTestSupport",
            dependencies: ["SyncStorePostgres", "SyncStoreSQL", "SyncStore", "TestSupport"],
            path: "Tests/PostgresTestSupport", swiftSettings: settings),
        .testTarget(
            name: "SyncStorePostgresTests",
            dependencies: [
                "SyncStorePostgres", "SyncStoreSQL", "SyncStore", "SyncStoreTesting", "SyncModel", "OneWaySynchronizer",
                "PostgresTestSupport", "TestSupport", "TestChild",
            ], swiftSettings: settings),

        // Programs that tests run beside themselves
        .executableTarget(
            name: "Simulation",
            dependencies: [
                "HTTPSource", "StoreSync", "SyncStoreSQLite", "SyncStore", "SyncModel", "JSONMapper",
                "OneWaySynchronizer", "TestSupport",
            ], path: "Tests/Simulation", swiftSettings: settings),

        // Fuzz targets, each built alone with --sanitize=fuzzer
        .executableTarget(
            name: "FuzzModelFile", dependencies: ["CoreDataModel"], path: "Tests/Fuzz/FuzzModelFile",
            swiftSettings: settings),
        .executableTarget(
            name: "FuzzJSONReader", dependencies: ["JSONMapper"], path: "Tests/Fuzz/FuzzJSONReader",
            swiftSettings: settings),
        .executableTarget(
            name: "FuzzDateParser", dependencies: ["JSONMapper"], path: "Tests/Fuzz/FuzzDateParser",
            swiftSettings: settings),

        // Benchmarks
        .target(
            name: "BenchmarkSupport", dependencies: ["SyncModel", "TestSupport"],
            path: "Tests/Benchmarks/BenchmarkSupport",
            swiftSettings: settings),
        .executableTarget(
            name: "EngineBenchmark", dependencies: ["OneWaySynchronizer", "BenchmarkSupport"],
            path: "Tests/Benchmarks/EngineBenchmark", swiftSettings: settings),
        .executableTarget(
            name: "MapperBenchmark", dependencies: ["JSONMapper", "SyncModel", "BenchmarkSupport", "TestSupport"],
            path: "Tests/Benchmarks/MapperBenchmark", swiftSettings: settings),
        .executableTarget(
            name: "SourceBenchmark",
            dependencies: [
                "HTTPSource", "StoreSync", "SyncStoreSQLite", "JSONMapper", "SyncModel", "LoopbackServer",
                "BenchmarkSupport", "StoreBenchmarkSupport", "TestSupport",
            ], path: "Tests/Benchmarks/SourceBenchmark", swiftSettings: settings),
        .executableTarget(
            name: "StoreBenchmark",
            dependencies: [
                "StoreSync", "SyncStoreSQLite", "SyncStore", "JSONMapper", "SyncModel", "CSQLite", "BenchmarkSupport",
                "StoreBenchmarkSupport", "TestSupport",
            ], path: "Tests/Benchmarks/StoreBenchmark", swiftSettings: settings),
        .target(
            name: "StoreBenchmarkSupport",
            dependencies: ["StoreSync", "JSONMapper", "SyncModel", "BenchmarkSupport", "TestSupport"],
            path: "Tests/Benchmarks/StoreBenchmarkSupport", swiftSettings: settings),
        .executableTarget(
            name: "PostgresBenchmark",
            dependencies: [
                "StoreSync", "SyncStorePostgres", "JSONMapper", "BenchmarkSupport", "StoreBenchmarkSupport",
                "PostgresTestSupport", "TestSupport",
            ], path: "Tests/Benchmarks/PostgresBenchmark", swiftSettings: settings),
        .executableTarget(
            name: "WorkQueueBenchmark",
            dependencies: [
                "OneWaySynchronizer", "SyncStorePostgres", "BenchmarkSupport", "PostgresTestSupport", "TestSupport",
            ], path: "Tests/Benchmarks/WorkQueueBenchmark", swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
