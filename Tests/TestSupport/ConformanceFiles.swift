package import Foundation

/// Files that tests read and that are no part of the package: those of the folder that
/// `CONFORMANCE_DIR` names, else of `shared/conformance` beside the package.
package enum ConformanceFiles {
    /// Why tests that need them are skipped.
    package static let isMissing = "the conformance files are neither in CONFORMANCE_DIR nor beside the package"

    private static let root: URL = {
        if let named = ProcessInfo.processInfo.environment["CONFORMANCE_DIR"] { return URL(filePath: named) }
        var package = URL(filePath: #filePath)
        for _ in 0..<3 { package.deleteLastPathComponent() }
        return package.deletingLastPathComponent().appending(path: "shared/conformance")
    }()

    /// Models, payloads and scenarios; nil where there are none on this machine.
    package static let folder: URL? = existing(root)

    /// The JSON test suite, beside that folder; nil where there is none.
    package static let jsonTestSuite: URL? = existing(
        root.deletingLastPathComponent().appending(path: "json-test-suite"))

    private static func existing(_ folder: URL) -> URL? {
        FileManager.default.fileExists(atPath: folder.path) ? folder : nil
    }
}
