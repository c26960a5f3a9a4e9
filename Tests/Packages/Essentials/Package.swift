// swift-tools-version: 6.1

import PackageDescription

// A program that uses the core alone, with the trait that leaves out most of Foundation.

let package = Package(
    name: "Essentials",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "OneWaySynchronizer", path: "../../..", traits: ["Essentials"])],
    targets: [
        .executableTarget(
            name: "Essentials", dependencies: [.product(name: "OneWaySynchronizer", package: "OneWaySynchronizer")])
    ],
    swiftLanguageModes: [.v6]
)
