// swift-tools-version: 6.1

import PackageDescription

// A package of its own, so that who uses OneWaySynchronizer depends on no other package.

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "Comparison",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "OneWaySynchronizer", path: "../../.."),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        .executableTarget(
            name: "StoreComparison",
            dependencies: [
                .product(name: "SyncModel", package: "OneWaySynchronizer"),
                .product(name: "JSONMapper", package: "OneWaySynchronizer"),
                .product(name: "SyncStore", package: "OneWaySynchronizer"),
                .product(name: "StoreSync", package: "OneWaySynchronizer"),
                .product(name: "SyncStoreSQLite", package: "OneWaySynchronizer"),
                .product(name: "_BenchmarkSupport", package: "OneWaySynchronizer"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ], path: "StoreComparison", swiftSettings: settings),
        .testTarget(
            name: "StoreComparisonTests",
            dependencies: [
                .product(name: "SyncModel", package: "OneWaySynchronizer"),
                .product(name: "JSONMapper", package: "OneWaySynchronizer"),
                .product(name: "SyncStore", package: "OneWaySynchronizer"),
                .product(name: "StoreSync", package: "OneWaySynchronizer"),
                .product(name: "SyncStoreSQLite", package: "OneWaySynchronizer"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ], path: "StoreComparisonTests", swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
