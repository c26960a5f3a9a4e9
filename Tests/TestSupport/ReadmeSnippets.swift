import Foundation

/// A check that the README shows only compiled code.
///
/// The snippets are the parts of a source file between the lines `// README` and
/// `// end of README`, without their common indentation.
package enum ReadmeSnippets {
    /// Returns the snippets of a file that the README does not contain verbatim; empty if it
    /// contains all.
    package static func missing(from file: String) throws -> [String] {
        let file = URL(filePath: file)
        var root = file.deletingLastPathComponent()
        while !FileManager.default.fileExists(atPath: root.appending(path: "Package.swift").path), root.path != "/" {
            root.deleteLastPathComponent()
        }
        let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        return try snippets(of: String(contentsOf: file, encoding: .utf8)).filter { !readme.contains("\n\($0)\n") }
    }

    private static func snippets(of source: String) -> [String] {
        var snippets: [String] = []
        var open: [Substring]?
        for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
            switch line.trimmingCharacters(in: .whitespaces) {
            case "// README": open = []
            case "// end of README":
                if let lines = open { snippets.append(unindented(lines)) }
                open = nil
            default: open?.append(line)
            }
        }
        return snippets
    }

    private static func unindented(_ lines: [Substring]) -> String {
        let written = lines.filter { !$0.allSatisfy(\.isWhitespace) }
        let indentation = written.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        return lines.map { String($0.dropFirst(indentation)) }.joined(separator: "\n")
    }
}
