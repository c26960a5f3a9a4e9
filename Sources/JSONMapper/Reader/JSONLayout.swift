/// Where in its input a reader finds the elements it hands out.
public struct JSONLayout: Sendable, Equatable {
    enum Kind: Equatable { case array, arrayOrSingle, document, lines }

    let kind: Kind
    /// The keys that lead to the array, each as UTF-8.
    let path: [[UInt8]]
    /// The same, as a caller would write it.
    let pathText: String
    /// What is wanted of the rest of the document.
    var probe = JSONProbe([])

    /// The elements of the array at a key path.
    ///
    /// The rest of the document is checked as well. If the path is not there, or leads to null, reading fails with
    /// ``JSONFault/Reason/keyPathNotFound``, so that an error message in place of the data is never taken for an empty list. A key
    /// of the path that occurs a second time is a duplicate key under every policy: its first value has been handed out already.
    ///
    /// - Parameters:
    ///   - keyPath: the keys that lead to the array; empty, the default, if it is the document itself.
    ///   - acceptsSingleObject: whether an object in the array's place counts as an array of it; false by default.
    public static func array(at keyPath: [String], acceptsSingleObject: Bool = false) -> JSONLayout {
        JSONLayout(
            kind: acceptsSingleObject ? .arrayOrSingle : .array, path: keyPath.map { Array($0.utf8) },
            pathText: JSONKeyPath.text(of: keyPath))
    }

    /// The elements of the array at a key path written with dots, such as `data.items`; empty for the document itself. A
    /// backslash escapes a dot within a key, as in `@odata\.value`.
    public static func array(at keyPath: String = "", acceptsSingleObject: Bool = false) -> JSONLayout {
        array(at: JSONKeyPath.keys(of: keyPath), acceptsSingleObject: acceptsSingleObject)
    }

    /// The same layout, with values that are kept while the objects around the array are read; see ``JSONReader/captured``.
    ///
    /// - Parameter keyPaths: keys from the document's root, dots between them; what is inside of the elements is not found.
    public func capturing(_ keyPaths: [String]) -> JSONLayout {
        var layout = self
        layout.probe = JSONProbe(keyPaths)
        return layout
    }

    /// The whole document is the one element.
    public static let document = JSONLayout(kind: .document, path: [], pathText: "")

    /// Newline-delimited JSON: a value per line; blank lines count for nothing. A value may go on over several lines.
    public static let lines = JSONLayout(kind: .lines, path: [], pathText: "")

    /// What is wanted of the object at each level of the path; as many as there are keys.
    var probes: [JSONProbe.Node?] {
        var node: JSONProbe.Node? = probe.root
        return path.map { key in
            defer { node = node?.children.first { $0.key == key } }
            return node
        }
    }
}
