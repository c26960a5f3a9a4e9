// swift-tools-version: 6.1

import PackageDescription

// A package of its own, so that who uses OneWaySynchronizer depends on no other package.

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// What is compared.
let measured: [Target.Dependency] = [
    .product(name: "OneWaySyncSQLite", package: "OneWaySynchronizer"),
    .product(name: "GRDB", package: "GRDB.swift"),
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
            dependencies: measured + ["ComparisonSupport"],
            path: "StoreComparison", swiftSettings: settings),
        .executableTarget(
            name: "ReadComparison",
            dependencies: [
                .product(name: "OneWaySyncSQLite", package: "OneWaySynchronizer"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                "ComparisonSupport", "ReadComparisonSupport",
            ],
            path: "ReadComparison", swiftSettings: settings),
        .target(
            name: "ReadComparisonSupport",
            dependencies: [
                .product(name: "OneWaySyncSQLite", package: "OneWaySynchronizer")
            ],
            path: "ReadSupport", swiftSettings: settings),
        // The sources of the root package's benchmarks, by a symbolic link: that package offers no
        // product of them.
        .target(
            name: "ComparisonSupport", dependencies: [.product(name: "JSONMapper", package: "OneWaySynchronizer")],
            path: "BenchmarkSupport", swiftSettings: settings),
        .testTarget(
            name: "StoreComparisonTests",
            dependencies: measured, path: "StoreComparisonTests", swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
