/// A declaration of a model file that the model does not contain.
public struct ModelWarning: Hashable, Sendable {
    /// The kind of warning.
    public enum Reason: Hashable, Sendable {
        /// An element that this reader does not know; what it contains was passed over.
        case unknownElement(String)
        /// An attribute of an element that this reader does not know.
        case unknownAttribute(element: String, attribute: String)
        /// A value that the attribute of an element cannot have; it was taken as not said.
        case unknownValue(element: String, attribute: String, value: String)
        /// Something that Core Data knows and a `DataModel` cannot express; `what` is the element
        /// or attribute.
        case unsupported(what: String)
        /// An attribute of the model without a type, or of a type that a `DataModel` does not have;
        /// it was left out.
        case unsupportedType(attribute: String, type: String)
        /// A key that stands twice in one user info; the later value was taken.
        case duplicateUserInfo(key: String)
    }

    /// The name of the file, as it was given to the reader.
    public let file: String
    /// The line on which the element's start tag ends, counted from 1.
    public let line: Int
    /// The kind of warning.
    public let reason: Reason
}

extension ModelWarning: CustomStringConvertible {
    /// The warning as a readable line.
    public var description: String {
        let text =
            switch reason {
            case .unknownElement(let name): "unknown element <\(name)>, passed over"
            case .unknownAttribute(let element, let attribute): "unknown attribute \(attribute) of <\(element)>"
            case .unknownValue(let element, let attribute, let value):
                "<\(element)> cannot have \(attribute)=\(value.debugDescription)"
            case .unsupported(let what): "\(what) has no counterpart here, passed over"
            case .unsupportedType(let attribute, let type):
                "attribute \(attribute) left out: type \(type.debugDescription)"
            case .duplicateUserInfo(let key): "user info has \(key.debugDescription) twice"
            }
        return "\(file):\(line): \(text)"
    }
}
