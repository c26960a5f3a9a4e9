// swift-tools-version: 6.1

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// The interface of libpq, only with the trait `Postgres`; without it nothing here needs libpq.
let libpq = Target.Dependency.target(name: "COneWayLibpq", condition: .when(traits: ["Postgres"]))

/// On Linux the library itself, so that no development files are needed.
let libpqLibrary: [LinkerSetting] = [
    .linkedLibrary(":libpq.so.5", .when(platforms: [.linux], traits: ["Postgres"])),
    .linkedLibrary("pq", .when(platforms: [.macOS], traits: ["Postgres"])),
]

#if os(macOS)
// Homebrew keeps libpq out of the linker's search path.
let libpqInterface = Target.systemLibrary(name: "COneWayLibpq", pkgConfig: "libpq", providers: [.brew(["libpq"])])
#else
let libpqInterface = Target.systemLibrary(name: "COneWayLibpq")
#endif

/// What `OneWaySync` re-exports.
let jsonModules = ["StoreSync", "HTTPSource", "HTTPTransfer", "SyncStore", "JSONMapper", "SyncModel"]

/// What `OneWaySyncPostgres` adds.
let postgresModules = ["SyncStorePostgres", "SyncWorkQueuePostgres"]

let package = Package(
    name: "OneWaySynchronizer",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        // Each product answers one "I want to …", and has every module that its users import.
        .library(name: "OneWaySynchronizer", targets: ["OneWaySynchronizer"]),
        .library(name: "OneWaySync", targets: ["OneWaySync"] + jsonModules),
        .library(name: "OneWaySyncSQLite", targets: ["OneWaySyncSQLite", "SyncStoreSQLite"] + jsonModules),
        .library(name: "OneWaySyncPostgres", targets: ["OneWaySyncPostgres"] + postgresModules + jsonModules),
        .library(name: "HTTPTransfer", targets: ["HTTPTransfer"]),
        .library(name: "SyncFolder", targets: ["SyncFolder", "HTTPTransfer", "OneWaySynchronizer"]),
        .library(name: "JSONMapper", targets: ["JSONMapper", "SyncModel"]),
        .library(name: "ModelInference", targets: ["ModelInference"]),
        .library(name: "CoreDataModel", targets: ["CoreDataModel"]),
        .library(name: "OneWaySyncTesting", targets: ["SyncProcessorTesting", "SyncStoreTesting"]),
    ],
    traits: [
        .trait(name: "Postgres", description: "Everything that needs PostgreSQL's client library, libpq."),
        .trait(
            name: "Essentials",
            description: "The core without NotificationCenter: on Linux it needs FoundationEssentials alone."),
    ],
    targets: [
        .target(name: "SyncBase", swiftSettings: settings),
        .target(name: "OneWaySynchronizer", dependencies: ["SyncBase"], swiftSettings: settings),
        .target(
            name: "SyncProcessorTesting", dependencies: ["SyncBase", "OneWaySynchronizer"], swiftSettings: settings),
        .target(
            name: "OneWayLoopbackServer", dependencies: ["SyncBase"], path: "Demo/LoopbackServer",
            swiftSettings: settings),
        .executableTarget(
            name: "Demo",
            dependencies: [
                "SyncBase", "OneWaySynchronizer", "OneWayLoopbackServer", "SyncModel", "CoreDataModel", "JSONMapper",
                "ModelInference", "SyncStore",
                "StoreSync", "HTTPTransfer", "HTTPSource", "SyncFolder", "SyncStoreSQL", "SyncStoreSQLite",
                "SyncStorePostgres",
            ], path: "Demo", exclude: ["LoopbackServer", "README.md", "Server"], swiftSettings: settings),
        .target(name: "SyncModel", dependencies: ["SyncBase"], swiftSettings: settings),
        .target(name: "CoreDataModel", dependencies: ["SyncBase", "SyncModel"], swiftSettings: settings),
        .target(name: "JSONMapper", dependencies: ["SyncBase", "SyncModel"], swiftSettings: settings),
        .target(
            name: "ModelInference", dependencies: ["SyncBase", "JSONMapper", "SyncModel"], swiftSettings: settings),
        .target(name: "SyncStore", dependencies: ["SyncBase", "SyncModel", "JSONMapper"], swiftSettings: settings),
        .target(
            name: "SyncStoreTesting",
            dependencies: ["SyncBase", "SyncModel", "SyncStore"], swiftSettings: settings),
        .target(
            name: "StoreSync",
            dependencies: ["SyncBase", "OneWaySynchronizer", "SyncModel", "JSONMapper", "SyncStore"],
            swiftSettings: settings),
        .target(name: "COneWayCurl"),
        .target(name: "COneWayZlib"),
        .target(
            name: "HTTPTransfer",
            dependencies: [
                "SyncBase", "OneWaySynchronizer",
                .target(name: "COneWayCurl", condition: .when(platforms: [.linux])),
                .target(name: "COneWayZlib", condition: .when(platforms: [.linux])),
            ], swiftSettings: settings),
        .target(name: "COneWayFiles"),
        .target(
            name: "SyncFolder", dependencies: ["SyncBase", "OneWaySynchronizer", "HTTPTransfer", "COneWayFiles"],
            swiftSettings: settings),
        .target(
            name: "HTTPSource",
            dependencies: ["SyncBase", "OneWaySynchronizer", "SyncModel", "JSONMapper", "HTTPTransfer", "StoreSync"],
            swiftSettings: settings),
        .target(
            name: "OneWaySync",
            dependencies: [
                "OneWaySynchronizer", "SyncModel", "JSONMapper", "SyncStore", "StoreSync", "HTTPTransfer", "HTTPSource",
            ], swiftSettings: settings),
        .target(
            name: "OneWaySyncSQLite", dependencies: ["OneWaySync", "SyncStoreSQLite"], swiftSettings: settings),
        .target(
            name: "OneWaySyncPostgres", dependencies: ["OneWaySync", "SyncStorePostgres", "SyncWorkQueuePostgres"],
            swiftSettings: settings),
        .target(
            name: "COneWaySQLite", exclude: ["README.md"],
            linkerSettings: [
                // By the library's own name on Linux: only development packages have
                // `libsqlite3.so`.
                .linkedLibrary(
                    "sqlite3", .when(platforms: [.macOS, .iOS, .tvOS, .watchOS, .visionOS, .macCatalyst])),
                .linkedLibrary(":libsqlite3.so.0", .when(platforms: [.linux])),
            ]),
        .target(name: "SyncStoreSQL", dependencies: ["SyncBase", "SyncModel", "SyncStore"], swiftSettings: settings),
        .target(
            name: "SyncStoreSQLite",
            dependencies: [
                "SyncBase", "OneWaySynchronizer", "SyncModel", "JSONMapper", "SyncStore", "SyncStoreSQL",
                "COneWaySQLite",
            ],
            swiftSettings: settings),
        libpqInterface,
        .target(
            name: "OneWayPostgresClient", dependencies: ["SyncBase", "OneWaySynchronizer", libpq],
            swiftSettings: settings, linkerSettings: libpqLibrary),
        .target(
            name: "SyncStorePostgres",
            dependencies: [
                "SyncBase", "OneWaySynchronizer", "SyncModel", "JSONMapper", "SyncStore", "SyncStoreSQL",
                "OneWayPostgresClient",
            ],
            swiftSettings: settings),
        .target(
            name: "SyncWorkQueuePostgres", dependencies: ["SyncBase", "OneWaySynchronizer", "OneWayPostgresClient"],
            swiftSettings: settings),

        // Tests
        .target(name: "OneWayTestEnvironment", path: "Tests/TestEnvironment"),
        .target(
            name: "OneWayTestLimits", dependencies: ["OneWayTestEnvironment"], path: "Tests/TestLimits",
            swiftSettings: settings),
        .target(
            name: "OneWayTestSupport", dependencies: ["SyncBase", "OneWaySynchronizer", "OneWayTestEnvironment"],
            path: "Tests/TestSupport", swiftSettings: settings),
        .target(
            name: "OneWayFolderTestSupport",
            dependencies: [
                "SyncBase", "SyncFolder", "HTTPTransfer", "OneWaySynchronizer", "OneWayLoopbackServer",
                "OneWayTestSupport",
            ], path: "Tests/FolderTestSupport", swiftSettings: settings),
        .target(
            name: "OneWayStoreTestSupport", dependencies: ["SyncBase", "SyncModel", "SyncStore", "OneWayTestSupport"],
            path: "Tests/StoreTestSupport", swiftSettings: settings),
        .target(
            name: "OneWayStoreLives",
            dependencies: ["SyncBase", "SyncModel", "SyncStore", "StoreSync", "JSONMapper", "OneWayTestSupport"],
            path: "Tests/StoreLives", swiftSettings: settings),
        .target(
            name: "OneWayStoreKinds",
            dependencies: [
                "SyncBase", "SyncModel", "SyncStore", "SyncStoreSQLite", "SyncStorePostgres",
                "OneWayPostgresTestSupport", "OneWayStoreTestSupport",
            ], path: "Tests/StoreKinds", swiftSettings: settings),
        .testTarget(
            name: "SyncBaseTests", dependencies: ["SyncBase", "OneWayTestSupport", "OneWayTestLimits"],
            swiftSettings: settings),
        .testTarget(
            name: "OneWaySynchronizerTests",
            dependencies: [
                "SyncBase", "OneWaySynchronizer", "SyncProcessorTesting", "OneWayTestSupport", "OneWayTestLimits",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "OneWayLoopbackServerTests", dependencies: ["SyncBase", "OneWayLoopbackServer", "OneWayTestLimits"],
            swiftSettings: settings),
        .testTarget(
            name: "DemoTests",
            dependencies: [
                "SyncBase", "Demo", "HTTPTransfer", "HTTPSource", "OneWayLoopbackServer", "OneWaySynchronizer",
                "SyncFolder", "SyncModel",
                "CoreDataModel",
                "JSONMapper",
                "StoreSync", "SyncStore", "SyncStoreSQLite", "OneWayFolderTestSupport", "OneWayPostgresTestSupport",
                "OneWayTestSupport", "TestChild", "OneWayTestLimits",
            ], swiftSettings: settings),
        .testTarget(
            name: "SyncFolderTests",
            dependencies: [
                "SyncBase", "SyncFolder", "HTTPTransfer", "OneWaySynchronizer", "SyncProcessorTesting",
                "OneWayFolderTestSupport", "OneWayLoopbackServer", "OneWayTestSupport", "TestChild", "OneWayTestLimits",
            ], swiftSettings: settings),
        .testTarget(
            name: "SyncModelTests", dependencies: ["SyncBase", "SyncModel", "OneWayTestSupport", "OneWayTestLimits"],
            swiftSettings: settings),
        .testTarget(
            name: "CoreDataModelTests",
            dependencies: ["SyncBase", "CoreDataModel", "SyncModel", "OneWayTestSupport", "OneWayTestLimits"],
            resources: [.copy("Fixtures")], swiftSettings: settings),
        .testTarget(
            name: "JSONMapperTests",
            dependencies: ["SyncBase", "JSONMapper", "SyncModel", "OneWayTestSupport", "OneWayTestLimits"],
            resources: [.copy("Fixtures")], swiftSettings: settings),
        .testTarget(
            name: "ModelInferenceTests",
            dependencies: [
                "SyncBase", "ModelInference", "JSONMapper", "SyncModel", "OneWayTestSupport", "OneWayTestLimits",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "SyncStoreTests",
            dependencies: [
                "SyncBase", "SyncModel", "SyncStore", "SyncStoreTesting", "SyncStoreSQLite", "JSONMapper", "StoreSync",
                "OneWayStoreKinds", "OneWayStoreTestSupport", "OneWayTestSupport", "OneWayTestLimits",
            ], swiftSettings: settings),
        .testTarget(
            name: "StoreSyncTests",
            dependencies: [
                "SyncBase", "StoreSync", "SyncStore", "SyncStoreSQL", "SyncStoreSQLite", "SyncStorePostgres",
                "SyncStoreTesting",
                "SyncModel", "JSONMapper", "ModelInference", "OneWaySynchronizer", "OneWayPostgresTestSupport",
                "OneWayStoreKinds", "OneWayStoreTestSupport", "OneWayTestSupport", "OneWayTestLimits",
            ], swiftSettings: settings),
        .testTarget(
            name: "HTTPSourceTests",
            dependencies: [
                "SyncBase", "HTTPTransfer", "HTTPSource", "OneWayLoopbackServer", "StoreSync", "SyncStore",
                "SyncStoreSQLite", "OneWaySyncSQLite", "SyncModel", "JSONMapper",
                "OneWaySynchronizer", "OneWayTestSupport", "OneWayTestLimits",
            ], swiftSettings: settings),
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "OneWaySyncSQLite", "CoreDataModel", "HTTPSource", "HTTPTransfer", "JSONMapper", "ModelInference",
                "OneWayLoopbackServer", "OneWaySynchronizer", "OneWayTestSupport", "StoreSync", "SyncFolder",
                "SyncModel",
                "SyncBase", "SyncProcessorTesting", "SyncStore", "SyncStoreSQL", "SyncStorePostgres",
                "SyncStoreTesting",
                "SyncWorkQueuePostgres",
                "OneWayTestLimits",
            ], swiftSettings: settings),
        .testTarget(
            name: "SimulationTests", dependencies: ["SyncBase", "Simulation", "OneWayTestSupport", "OneWayTestLimits"],
            swiftSettings: settings),
        .testTarget(
            name: "ScenarioTests",
            dependencies: [
                "SyncBase", "OneWaySynchronizer", "SyncModel", "CoreDataModel", "JSONMapper", "ModelInference",
                "SyncStore", "SyncStoreTesting", "StoreSync", "SyncStoreSQLite", "OneWayStoreKinds",
                "OneWayStoreTestSupport", "OneWayTestSupport", "OneWayTestLimits",
            ], resources: [.copy("Fixtures")], swiftSettings: settings),
        .testTarget(
            name: "SyncStoreSQLTests",
            dependencies: [
                "SyncBase", "SyncStoreSQL", "SyncStoreSQLite", "SyncStorePostgres", "SyncStore", "SyncStoreTesting",
                "SyncModel", "OneWayPostgresTestSupport", "OneWayStoreKinds", "OneWayStoreTestSupport",
                "OneWayTestSupport", "OneWayTestLimits",
            ], swiftSettings: settings),
        .testTarget(
            name: "SyncStoreSQLiteTests",
            dependencies: [
                "SyncBase", "SyncStoreSQLite", "SyncStoreSQL", "SyncStore", "SyncStoreTesting", "SyncModel",
                "OneWaySynchronizer",
                "StoreSync", "JSONMapper", "COneWaySQLite", "OneWayStoreLives", "OneWayStoreTestSupport",
                "OneWayTestSupport",
                "TestChild", "OneWayTestLimits",
            ],
            exclude: ["Fixtures"], swiftSettings: settings),
        .executableTarget(
            name: "TestChild",
            dependencies: [
                "SyncBase", "StoreSync", "SyncStoreSQLite", "SyncStorePostgres", "SyncWorkQueuePostgres", "SyncStore",
                "COneWaySQLite", "CoreDataModel", "JSONMapper", "SyncModel",
                "OneWaySynchronizer", "OneWayStoreTestSupport", "SyncFolder",
            ],
            path: "Tests/TestChild", swiftSettings: settings),
        .target(
            name: "OneWayPostgresTestSupport",
            dependencies: [
                "SyncBase", "OneWayPostgresClient", "SyncStorePostgres", "SyncStoreSQL", "SyncStore",
                "OneWayTestSupport",
            ],
            path: "Tests/PostgresTestSupport", swiftSettings: settings),
        .testTarget(
            name: "OneWayPostgresClientTests",
            dependencies: [
                "SyncBase", "OneWayPostgresClient", "OneWayPostgresTestSupport", "OneWayTestSupport",
                "OneWayTestLimits",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "SyncWorkQueuePostgresTests",
            dependencies: [
                "SyncBase", "OneWayPostgresClient", "SyncWorkQueuePostgres", "SyncStorePostgres", "SyncStoreSQL",
                "OneWaySynchronizer", "OneWayPostgresTestSupport", "OneWayTestSupport", "TestChild", "OneWayTestLimits",
            ], swiftSettings: settings),
        .testTarget(
            name: "SyncStorePostgresTests",
            dependencies: [
                "SyncBase", "OneWayPostgresClient", "SyncStorePostgres", "SyncStoreSQL", "SyncStore",
                "SyncStoreTesting", "SyncModel",
                "OneWaySynchronizer",
                "OneWayPostgresTestSupport", "OneWayStoreLives", "OneWayStoreTestSupport", "OneWayTestSupport",
                "TestChild", "OneWayTestLimits",
            ], swiftSettings: settings),

        // Programs that tests run beside themselves
        .executableTarget(
            name: "Simulation",
            dependencies: [
                "SyncBase", "HTTPTransfer", "HTTPSource", "StoreSync", "SyncStoreSQLite", "SyncStore", "SyncModel",
                "JSONMapper", "OneWaySynchronizer", "OneWayStoreTestSupport", "OneWayTestSupport",
            ], path: "Tests/Simulation", swiftSettings: settings),

        // Fuzz targets, each built alone as Tests/Fuzz/README.md shows
        .executableTarget(
            name: "FuzzModelFile", dependencies: ["SyncBase", "CoreDataModel"], path: "Tests/Fuzz/FuzzModelFile",
            swiftSettings: settings),
        .executableTarget(
            name: "FuzzJSONReader", dependencies: ["SyncBase", "JSONMapper"], path: "Tests/Fuzz/FuzzJSONReader",
            swiftSettings: settings),
        .executableTarget(
            name: "FuzzRoundTrip",
            dependencies: ["SyncBase", "JSONMapper", "ModelInference", "StoreSync", "SyncModel", "SyncStore"],
            path: "Tests/Fuzz/FuzzRoundTrip", swiftSettings: settings),
        .executableTarget(
            name: "FuzzDateParser", dependencies: ["SyncBase", "SyncModel"], path: "Tests/Fuzz/FuzzDateParser",
            swiftSettings: settings),

        // Benchmarks
        .target(
            name: "OneWayBenchmarkSupport", dependencies: ["SyncModel"],
            path: "Tests/Benchmarks/BenchmarkSupport",
            swiftSettings: settings),
        .executableTarget(
            name: "EngineBenchmark", dependencies: ["SyncBase", "OneWaySynchronizer", "OneWayBenchmarkSupport"],
            path: "Tests/Benchmarks/EngineBenchmark", swiftSettings: settings),
        .executableTarget(
            name: "MapperBenchmark",
            dependencies: [
                "SyncBase", "JSONMapper", "ModelInference", "SyncModel", "OneWayBenchmarkSupport", "OneWayTestSupport",
            ],
            path: "Tests/Benchmarks/MapperBenchmark", swiftSettings: settings),
        .executableTarget(
            name: "SourceBenchmark",
            dependencies: [
                "SyncBase", "HTTPTransfer", "HTTPSource", "StoreSync", "SyncStoreSQLite", "JSONMapper", "SyncModel",
                "OneWayLoopbackServer",
                "OneWayBenchmarkSupport", "OneWayStoreBenchmarkSupport", "OneWayTestSupport",
            ], path: "Tests/Benchmarks/SourceBenchmark", swiftSettings: settings),
        .executableTarget(
            name: "StoreBenchmark",
            dependencies: [
                "SyncBase", "StoreSync", "SyncStoreSQLite", "SyncStore", "JSONMapper", "SyncModel", "COneWaySQLite",
                "OneWayBenchmarkSupport",
                "OneWayStoreBenchmarkSupport", "OneWayTestSupport",
            ], path: "Tests/Benchmarks/StoreBenchmark", swiftSettings: settings),
        .target(
            name: "OneWayReadBenchmarkSupport", dependencies: ["SyncModel", "SyncStore", "SyncStoreSQLite"],
            path: "Tests/Benchmarks/ReadSupport", swiftSettings: settings),
        .executableTarget(
            name: "ReadBenchmark",
            dependencies: [
                "SyncStore", "SyncStoreSQLite", "SyncModel", "COneWaySQLite", "OneWayBenchmarkSupport",
                "OneWayReadBenchmarkSupport",
            ], path: "Tests/Benchmarks/ReadBenchmark", swiftSettings: settings),
        .target(
            name: "OneWayStoreBenchmarkSupport",
            dependencies: [
                "SyncBase", "StoreSync", "JSONMapper", "SyncModel", "OneWayBenchmarkSupport", "OneWayTestSupport",
            ],
            path: "Tests/Benchmarks/StoreBenchmarkSupport", swiftSettings: settings),
        .executableTarget(
            name: "PostgresBenchmark",
            dependencies: [
                "SyncBase", "StoreSync", "SyncStorePostgres", "JSONMapper", "OneWayBenchmarkSupport",
                "OneWayStoreBenchmarkSupport",
                "OneWayPostgresTestSupport", "OneWayTestSupport",
            ], path: "Tests/Benchmarks/PostgresBenchmark", swiftSettings: settings),
        .executableTarget(
            name: "WorkQueueBenchmark",
            dependencies: [
                "SyncBase", "OneWaySynchronizer", "SyncWorkQueuePostgres", "OneWayBenchmarkSupport",
                "OneWayPostgresTestSupport", "OneWayTestSupport",
            ], path: "Tests/Benchmarks/WorkQueueBenchmark", swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)

// A check that has tested a target does not build it again with other flags.
let tested = Context.environment["TESTED_TARGETS"]?.split(separator: " ").map(String.init) ?? []
package.targets.removeAll { tested.contains($0.name) }
