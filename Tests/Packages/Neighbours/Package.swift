// swift-tools-version: 6.1

import PackageDescription

// A package that depends on every product, and has targets with names that apps and other packages
// are likely to have.

let names = ["CSQLite", "CPostgres", "TestSupport", "PostgresTestSupport", "BenchmarkSupport", "LoopbackServer"]

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "Neighbours",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "OneWaySynchronizer", path: "../../..")],
    targets: names.map { .target(name: $0) } + [
        // What benchmarks in packages of their own share with those of the root package must need
        // no more than its products.
        .target(
            name: "ComparisonSupport",
            dependencies: [.product(name: "JSONMapper", package: "OneWaySynchronizer")],
            swiftSettings: settings),
        .target(
            name: "ReadComparisonSupport",
            dependencies: [.product(name: "OneWaySyncSQLite", package: "OneWaySynchronizer")],
            swiftSettings: settings),
        .executableTarget(
            name: "Neighbours",
            dependencies: names.map { .target(name: $0) } + [
                "ComparisonSupport", "ReadComparisonSupport",
                .product(name: "OneWaySynchronizer", package: "OneWaySynchronizer"),
                .product(name: "OneWaySync", package: "OneWaySynchronizer"),
                .product(name: "OneWaySyncSQLite", package: "OneWaySynchronizer"),
                .product(name: "OneWaySyncPostgres", package: "OneWaySynchronizer"),
                .product(name: "OneWaySyncTesting", package: "OneWaySynchronizer"),
                .product(name: "CoreDataModel", package: "OneWaySynchronizer"),
                .product(name: "JSONMapper", package: "OneWaySynchronizer"),
                .product(name: "ModelInference", package: "OneWaySynchronizer"),
                .product(name: "HTTPTransfer", package: "OneWaySynchronizer"),
                .product(name: "SyncFolder", package: "OneWaySynchronizer"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
