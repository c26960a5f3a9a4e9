// swift-tools-version: 6.1

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "OneWaySynchronizer",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "OneWaySynchronizer", targets: ["OneWaySynchronizer"]),
        .library(name: "JSONMapper", targets: ["JSONMapper"]),
    ],
    targets: [
        .target(name: "OneWaySynchronizer", swiftSettings: settings),
        .target(
            name: "TestSupport", dependencies: ["OneWaySynchronizer"], path: "Tests/TestSupport",
            swiftSettings: settings),
        .target(name: "JSONMapper", swiftSettings: settings),
        .testTarget(
            name: "JSONMapperTests", dependencies: ["JSONMapper"], resources: [.copy("Fixtures")],
            swiftSettings: settings),
        .target(name: "BenchmarkSupport", path: "Tests/Benchmarks/BenchmarkSupport", swiftSettings: settings),
        .executableTarget(
            name: "MapperBenchmark", dependencies: ["JSONMapper", "BenchmarkSupport"],
            path: "Tests/Benchmarks/MapperBenchmark", swiftSettings: settings),
        .executableTarget(
            name: "FuzzJSONReader", dependencies: ["JSONMapper"], path: "Tests/Fuzz/FuzzJSONReader",
            swiftSettings: settings),
        .executableTarget(
            name: "FuzzDateParser", dependencies: ["JSONMapper"], path: "Tests/Fuzz/FuzzDateParser",
            swiftSettings: settings),
        .testTarget(
            name: "OneWaySynchronizerTests", dependencies: ["OneWaySynchronizer", "TestSupport"],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
