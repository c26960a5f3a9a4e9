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
        .library(name: "SyncModel", targets: ["SyncModel"]),
        .library(name: "CoreDataModel", targets: ["CoreDataModel"]),
    ],
    targets: [
        .target(name: "OneWaySynchronizer", swiftSettings: settings),
        .target(name: "SyncModel", swiftSettings: settings),
        .target(name: "CoreDataModel", dependencies: ["SyncModel"], swiftSettings: settings),
        .target(name: "TestSupport", dependencies: ["OneWaySynchronizer"], path: "Tests/TestSupport", swiftSettings: settings),
        .testTarget(
            name: "OneWaySynchronizerTests", dependencies: ["OneWaySynchronizer", "TestSupport"], swiftSettings: settings),
        .executableTarget(
            name: "FuzzModelFile", dependencies: ["CoreDataModel"], path: "Tests/Fuzz/FuzzModelFile",
            swiftSettings: settings),
        .testTarget(name: "SyncModelTests", dependencies: ["SyncModel"], swiftSettings: settings),
        .testTarget(
            name: "CoreDataModelTests", dependencies: ["CoreDataModel", "SyncModel"],
            resources: [.copy("Fixtures")], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
