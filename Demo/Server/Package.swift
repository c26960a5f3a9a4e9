// swift-tools-version: 6.1

import PackageDescription

// A package of its own, so that who uses OneWaySynchronizer depends on no other package.

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "Server",
    platforms: [.macOS(.v15)],
    traits: [.trait(name: "Postgres", description: "Keeps the data in PostgreSQL; needs libpq.")],
    dependencies: [
        .package(
            name: "OneWaySynchronizer", path: "../..",
            traits: [.trait(name: "Postgres", condition: .when(traits: ["Postgres"]))]),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.9.0"),
    ],
    targets: [
        .executableTarget(
            name: "Server",
            dependencies: [
                "Upstream",
                .product(name: "OneWaySyncSQLite", package: "OneWaySynchronizer"),
                .product(name: "OneWaySyncPostgres", package: "OneWaySynchronizer"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
            ],
            resources: [
                .copy("Resources/status.html"), .copy("Resources/status.css"), .copy("Resources/status.js"),
            ], swiftSettings: settings),
        // The API that the server mirrors, for trying it out.
        .target(
            name: "Upstream",
            dependencies: [
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings),
        // A link to the sources in the other package's tests, whose targets cannot be used here.
        .target(name: "ServerTestLimits", path: "Tests/TestLimits", swiftSettings: settings),
        .testTarget(
            name: "ServerTests",
            dependencies: [
                "Server", "Upstream", "ServerTestLimits", .product(name: "Metrics", package: "swift-metrics"),
            ], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
