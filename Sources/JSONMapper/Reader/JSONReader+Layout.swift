extension JSONReader {
    /// The location of the elements in the input of a reader.
    public struct Layout: Sendable, Equatable {
        enum Kind: Equatable { case array, arrayOrSingle, document, lines }

        let kind: Kind
        /// The keys that lead to the array, as UTF-8.
        let path: [[UInt8]]
        /// The key path as text, with dots between the keys.
        let pathText: String
        /// The keys that lead from an element to its object, as UTF-8; empty if the elements are
        /// the objects.
        private(set) var objectPath: [[UInt8]] = []
        /// What the members of an object in place of the array become; nil for an array.
        private(set) var members: JSONKeyPath.Members?
        /// The values to capture from the rest of the document.
        var probe = JSONProbe([])
        /// The values to capture from the rest of the document by the names of their keys.
        var nameProbe = JSONNameProbe([])

        /// The elements of the array at a key path.
        ///
        /// The rest of the document is validated too. If there is no value at the path, or the
        /// value is null, reading fails with ``JSONError/Reason/keyPathNotFound``; an error message
        /// in place of the data is therefore never mistaken for an empty list. A second occurrence
        /// of a key of the path is a duplicate-key error whatever the options, because the elements
        /// of the first one may already have been returned.
        ///
        /// - Parameters:
        ///   - keyPath: The keys that lead to the array. Empty, the default, if the document is the
        ///     array.
        ///   - acceptsSingleObject: Whether an object in place of the array counts as an array of
        ///     one element; false by default.
        public static func array(at keyPath: [String], acceptsSingleObject: Bool = false) -> JSONReader.Layout {
            JSONReader.Layout(
                kind: acceptsSingleObject ? .arrayOrSingle : .array, path: keyPath.map { Array($0.utf8) },
                pathText: JSONKeyPath.text(of: keyPath))
        }

        /// The elements of the array at a key path with dots between its keys, such as
        /// `data.items`.
        ///
        /// If each element contains its object under a key, `[]` follows the key of the array:
        /// `users.edges[].node` reads the objects of `{"users": {"edges": [{"node": {…}}]}}`. An
        /// element without the key is an error, and null in its place counts as an element that is
        /// null.
        ///
        /// If an object has the objects under keys of their own, a name in braces ends the key
        /// path: `users{id}` reads `{"users": {"a": {"name": "x"}}}` as the list
        /// `[{"id": "a", "name": "x"}]`, and `{code:name}` reads `{"DE": "Germany"}` as
        /// `[{"code": "DE", "name": "Germany"}]`. Without a second name, values other than objects
        /// stay as they are. An object that has a member of the first name keeps its value if it
        /// equals the key; if not, the member becomes `own_id`. The keys of an array in place of
        /// the object are the indices of its elements, and elements that are null are skipped. A
        /// document that is null counts as empty. An object that reports an error looks like an
        /// object with members, so the source of such a document should be checked.
        ///
        /// - Parameters:
        ///   - keyPath: The keys that lead to the array, separated by dots. Empty, the default, if
        ///     the document is the array.
        ///   - acceptsSingleObject: Whether an object in place of the array counts as an array of
        ///     one element; false by default.
        public static func array(at keyPath: String = "", acceptsSingleObject: Bool = false) -> JSONReader.Layout {
            let place = JSONKeyPath.list(at: keyPath)
            var layout = array(at: place.list, acceptsSingleObject: acceptsSingleObject)
            layout.objectPath = place.object.map { Array($0.utf8) }
            layout.members = place.members
            return layout
        }

        /// Returns the same layout, which also captures values around the array.
        ///
        /// ``JSONReader/captured`` returns the values.
        ///
        /// - Parameter keyPaths: Keys from the root of the document, separated by dots. Values
        ///   inside the elements are not captured.
        public func capturing(_ keyPaths: [String]) -> JSONReader.Layout {
            var layout = self
            layout.probe = JSONProbe(keyPaths)
            return layout
        }

        /// Returns the same layout, which also captures values around the array whose keys have the
        /// same names as those of some key paths.
        ///
        /// ``JSONReader/namedValues`` returns the values. Names are compared without case,
        /// underscores and hyphens.
        ///
        /// - Parameter keyPaths: Keys from the root of the document, separated by dots. Values
        ///   inside the elements are not captured.
        package func capturing(named keyPaths: [String]) -> JSONReader.Layout {
            var layout = self
            layout.nameProbe = JSONNameProbe(keyPaths)
            return layout
        }

        /// The whole document as the only element.
        public static let document = JSONReader.Layout(kind: .document, path: [], pathText: "")

        /// Newline-delimited JSON: one value per line. Blank lines are ignored, and a value may
        /// span lines.
        public static let lines = JSONReader.Layout(kind: .lines, path: [], pathText: "")

        /// Newline-delimited JSON whose values contain their objects at the second part of a key
        /// path such as `[].object`.
        ///
        /// There is no value outside the lines, so a key path to an array finds nothing.
        package static func lines(at keyPath: String) -> JSONReader.Layout {
            let place = JSONKeyPath.list(at: keyPath)
            guard place.list.isEmpty, place.members == nil else { return array(at: keyPath) }
            var layout = lines
            layout.objectPath = place.object.map { Array($0.utf8) }
            return layout
        }

        /// The values to capture from the object at each level of the path, one entry per key; nil
        /// for none.
        var probes: [JSONProbe.Node?] {
            var node: JSONProbe.Node? = probe.root
            return path.map { key in
                defer { node = node?.children.first { $0.key == key } }
                return node
            }
        }

        /// The values to capture by name from the object at each level of the path, one entry per
        /// key; nil for none.
        var nameProbes: [JSONNameProbe.Node?] {
            var node: JSONNameProbe.Node? = nameProbe.root
            return path.map { key in
                defer { node = node?.child(String(decoding: key, as: UTF8.self)) }
                return node
            }
        }
    }
}
