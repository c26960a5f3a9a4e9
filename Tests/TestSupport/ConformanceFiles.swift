package import Foundation

/// Files that tests read but the package does not contain.
///
/// They are in the folder that the environment variable `CONFORMANCE_DIR` names or, without it, in
/// `shared/conformance` beside the package.
package enum ConformanceFiles {
    /// The reason for skipping tests that require the files.
    package static let isMissing = "the conformance files are neither in CONFORMANCE_DIR nor beside the package"

    private static let root: URL = {
        if let named = ProcessInfo.processInfo.environment["CONFORMANCE_DIR"] { return URL(filePath: named) }
        var package = URL(filePath: #filePath)
        for _ in 0..<3 { package.deleteLastPathComponent() }
        return package.deletingLastPathComponent().appending(path: "shared/conformance")
    }()

    /// The folder with models, payloads and scenarios; nil if it does not exist.
    package static let folder: URL? = existing(root)

    /// The folder with the JSON test suite, beside ``folder``; nil if it does not exist.
    package static let jsonTestSuite: URL? = existing(
        root.deletingLastPathComponent().appending(path: "json-test-suite"))

    private static func existing(_ folder: URL) -> URL? {
        FileManager.default.fileExists(atPath: folder.path) ? folder : nil
    }
}
