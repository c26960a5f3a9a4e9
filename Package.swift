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
        .library(name: "OneWaySynchronizer", targets: ["OneWaySynchronizer"])
    ],
    targets: [
        .target(name: "OneWaySynchronizer", swiftSettings: settings),
        .target(
            name: "TestSupport", dependencies: ["OneWaySynchronizer"], path: "Tests/TestSupport",
            swiftSettings: settings),
        .testTarget(
            name: "OneWaySynchronizerTests", dependencies: ["OneWaySynchronizer", "TestSupport"],
            swiftSettings: settings),
        .target(name: "BenchmarkSupport", path: "Tests/Benchmarks/BenchmarkSupport", swiftSettings: settings),
        .executableTarget(
            name: "EngineBenchmark", dependencies: ["OneWaySynchronizer", "BenchmarkSupport"],
            path: "Tests/Benchmarks/EngineBenchmark", swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
