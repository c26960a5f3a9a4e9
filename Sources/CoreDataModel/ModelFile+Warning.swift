extension ModelFile {
    /// A part of a model file that the model does not contain, or contains in another form.
    public struct Warning: Hashable, Sendable {
        /// The kind of the part.
        public enum Reason: Hashable, Sendable {
            /// An element that the reader does not recognize; its contents are ignored.
            case unknownElement(String)
            /// An attribute of an element that the reader does not recognize.
            case unknownAttribute(element: String, attribute: String)
            /// An invalid value of an attribute, which is treated as missing.
            case unknownValue(element: String, attribute: String, value: String)
            /// An element or attribute of Core Data that `DataModel` cannot express; `what` is its
            /// name or a description.
            case unsupported(what: String)
            /// An omitted attribute of the model, without a type or with a type that `DataModel`
            /// lacks.
            case unsupportedType(attribute: String, type: String)
            /// An attribute of several values, which the model keeps as JSON in one attribute.
            case compositeAttribute(String)
            /// A property that the entity inherits; the declaration of the ancestor is used.
            case inheritedProperty(String)
            /// An omitted relationship. `destination` does not exist; it is nil if none is named.
            case unknownDestination(relationship: String, destination: String?)
            /// An inverse that does not exist or does not point back. The model omits it.
            case unusableInverse(relationship: String, inverse: String)
            /// A key that occurs twice in one user info; the last value is used.
            case duplicateUserInfo(key: String)
            /// An ignored element without a required attribute.
            case missingAttribute(element: String, attribute: String)
            /// The version that was read. Its folder has several versions and does not name the
            /// current one.
            case assumedVersion(String)
        }

        /// The name of the file that was passed to the reader.
        public let file: String
        /// The line on which the start tag of the element ends, counted from 1.
        public let line: Int
        /// The kind of the part, with its names.
        public let reason: Reason
    }
}

extension ModelFile.Warning: CustomStringConvertible {
    /// The warning as one readable line.
    public var description: String {
        let text =
            switch reason {
            case .unknownElement(let name): "unknown element <\(name)> is ignored"
            case .unknownAttribute(let element, let attribute):
                "unknown attribute \(attribute) of <\(element)> is ignored"
            case .unknownValue(let element, let attribute, let value):
                "invalid \(attribute)=\(value.debugDescription) of <\(element)> is ignored"
            case .unsupported(let what): "\(what) has no counterpart and is ignored"
            case .unsupportedType(let attribute, let type):
                type.isEmpty
                    ? "attribute \(attribute) is left out because it has no type"
                    : "attribute \(attribute) is left out because of its type \(type)"
            case .compositeAttribute(let attribute): "composite attribute \(attribute) is kept as JSON"
            case .inheritedProperty(let property):
                "\(property) is declared by an ancestor, whose declaration is used"
            case .unknownDestination(let relationship, nil):
                "relationship \(relationship) is left out because it has no destination"
            case .unknownDestination(let relationship, let destination?):
                "relationship \(relationship) is left out because its destination \(destination) does not exist"
            case .unusableInverse(let relationship, let inverse):
                "inverse \(inverse) of relationship \(relationship) is ignored because it does not point back"
            case .duplicateUserInfo(let key): "key \(key.debugDescription) occurs twice; the last value is used"
            case .missingAttribute(let element, let attribute):
                "<\(element)> without attribute \(attribute) is ignored"
            case .assumedVersion(let version):
                "the folder has several versions and no .xccurrentversion; \(version) is used"
            }
        return "\(file):\(line): \(text)"
    }
}
