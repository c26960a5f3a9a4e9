/// A part of a model file that the model does not contain.
public struct ModelWarning: Hashable, Sendable {
    /// The kind of the ignored part.
    public enum Reason: Hashable, Sendable {
        /// An element that the reader does not recognize; its contents are ignored.
        case unknownElement(String)
        /// An attribute of an element that the reader does not recognize.
        case unknownAttribute(element: String, attribute: String)
        /// An invalid value of an attribute, which is treated as missing.
        case unknownValue(element: String, attribute: String, value: String)
        /// An element or attribute of Core Data that `DataModel` cannot express; `what` is its name
        /// or a description.
        case unsupported(what: String)
        /// An omitted attribute of the model, without a type or with a type that `DataModel` lacks.
        case unsupportedType(attribute: String, type: String)
        /// A key that occurs twice in one user info; the last value is used.
        case duplicateUserInfo(key: String)
    }

    /// The name of the file that was passed to the reader.
    public let file: String
    /// The line on which the start tag of the element ends, counted from 1.
    public let line: Int
    /// The kind of the ignored part, with its names.
    public let reason: Reason
}

extension ModelWarning: CustomStringConvertible {
    /// The warning as one line of text for people.
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
