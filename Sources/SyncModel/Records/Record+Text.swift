import Foundation

extension Record: CustomStringConvertible {
    /// The entity, the values and the keys of loaded related objects, such as
    /// `User id=7 name="Ada" company=3`.
    ///
    /// Values of more than 80 characters and lists of more than 8 keys are cut.
    public var description: String { text(of: nil) }

    /// Returns the record as text.
    ///
    /// - Parameter object: The number of the object; nil if the text is to have none.
    package func text(of object: ObjectID?) -> String {
        var parts = [entityName]
        if let object { parts.append("object \(object)") }
        parts += zip(layout.attributes, values).map { "\($0.name)=\(Self.cut($1.description))" }
        for (relationship, targets) in zip(layout.relationships, targets) {
            if let targets { parts.append("\(relationship.name)=\(targets.text)") }
        }
        return parts.joined(separator: " ")
    }

    private static func cut(_ text: String) -> String {
        let limit = 80
        return text.dropFirst(limit).isEmpty ? text : text.prefix(limit) + "…"
    }
}

extension Record.Targets {
    /// The keys as text, such as `7` or `[1, 2]`.
    fileprivate var text: String {
        switch self {
        case .one(let key): return key?.description ?? "null"
        case .many(let keys):
            let limit = 8
            let texts = keys.prefix(limit).map(\.description) + (keys.count > limit ? ["… \(keys.count) in all"] : [])
            return "[\(texts.joined(separator: ", "))]"
        }
    }
}

extension Record.Key: CustomStringConvertible {
    /// The key as text, such as `7`, `(7, "en")` or `object 3`.
    ///
    /// Different keys of an entity have different texts.
    public var description: String {
        switch self {
        case .identity(let values):
            let text = values.map(\.keyText).joined(separator: ", ")
            return values.count == 1 ? text : "(\(text))"
        case .object(let object): return "object \(object)"
        }
    }
}

extension AttributeValue {
    /// The content as text, without the loss of fractions and bytes in ``description``.
    fileprivate var keyText: String {
        switch self {
        case .date(let moment):
            DateText.hasText(moment.microseconds)
                ? DateText.text(moment.microseconds, fraction: .shortest) : moment.microseconds.description
        case .binary(let data): data.base64EncodedString()
        default: description
        }
    }
}
