public import Foundation
import SyncBase
public import SyncModel

extension DataModel {
    /// Returns the model as a Core Data model file: the `contents` of an `.xcdatamodel` folder.
    ///
    /// Reading the result with `ModelFile` returns an equal model without warnings. The output is
    /// deterministic.
    ///
    /// A JSON attribute is written as a string attribute with the annotation `sync.type` = `json`.
    ///
    /// - Throws: `ModelFile.Failure.unwritable` for contents that the format cannot express: a
    ///   control character in a name, default or annotation, a binary default, a decimal default
    ///   that is not a number, an annotation `sync.type`, or an index that is unique or has a
    ///   condition.
    public func coreDataXML() throws(ModelFile.Failure) -> Data {
        var writer = ModelXMLWriter()
        for layout in layouts {
            try writer.write(layout.entity, identity: identity(of: layout))
        }
        return writer.finished()
    }

    /// The names of the attributes that identify the objects of an entity, inherited ones first.
    private func identity(of layout: EntityLayout) -> [String] {
        guard !layout.entity.identity.isEmpty else { return [] }
        var names = layout.entity.identity
        var ancestor = layout.parent
        while let index = ancestor {
            names = layouts[index].entity.identity + names
            ancestor = layouts[index].parent
        }
        return names
    }
}

/// A writer of a model's XML.
private struct ModelXMLWriter {
    private var text = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" minimumToolsVersion="Automatic" \
        sourceLanguage="Swift" userDefinedModelVersionIdentifier="">

        """
    private var entity = ""
    private var property: String?

    func finished() -> Data {
        Data((text + "</model>\n").utf8)
    }

    mutating func write(_ entity: SyncEntity, identity: [String]) throws(ModelFile.Failure) {
        self.entity = entity.name
        property = nil
        try open(
            "entity", depth: 1,
            [
                ("name", entity.name), ("parentEntity", entity.parent), ("isAbstract", entity.isAbstract ? "YES" : nil),
                ("elementID", entity.formerName), ("syncable", "YES"),
            ], isEmpty: false)
        for attribute in entity.attributes {
            property = attribute.name
            try write(attribute)
        }
        for relationship in entity.relationships {
            property = relationship.name
            try write(relationship)
        }
        property = nil
        for index in entity.indexes { try write(index) }
        if !identity.isEmpty {
            try open("uniquenessConstraints", depth: 2, [], isEmpty: false)
            try open("uniquenessConstraint", depth: 3, [], isEmpty: false)
            for name in identity {
                try open("constraint", depth: 4, [("value", name)], isEmpty: true)
            }
            close("uniquenessConstraint", depth: 3)
            close("uniquenessConstraints", depth: 2)
        }
        try write(entity.userInfo, depth: 2)
        close("entity", depth: 1)
    }

    private mutating func write(_ attribute: SyncAttribute) throws(ModelFile.Failure) {
        var attributes: [(String, String?)] = [
            ("name", attribute.name), ("optional", attribute.isOptional ? "YES" : nil),
            ("attributeType", attribute.type.coreDataName),
        ]
        switch attribute.defaultValue {
        case .null: break
        case .bool(let flag): attributes.append(("defaultValueString", flag ? "YES" : "NO"))
        case .int(let number): attributes.append(("defaultValueString", number.description))
        case .double(let number): attributes.append(("defaultValueString", number.description))
        case .decimal(let number):
            guard number.isFinite else { throw unwritable("its default is not a number") }
            attributes.append(("defaultValueString", number.description))
        case .string(let text), .uri(let text): attributes.append(("defaultValueString", text))
        case .uuid(let uuid): attributes.append(("defaultValueString", uuid.uuidString))
        case .date(let moment): attributes.append(("defaultDateTimeInterval", CoreDataDate.text(of: moment)))
        case .json(let json): attributes.append(("defaultValueString", json.text))
        case .binary: throw unwritable("bytes cannot be a default")
        }
        var userInfo = attribute.userInfo
        if userInfo[AttributeType.typeAnnotation] != nil {
            throw unwritable("the annotation \(AttributeType.typeAnnotation) is its type's")
        }
        if attribute.type == .json { userInfo[AttributeType.typeAnnotation] = AttributeType.json.rawValue }
        attributes.append(("valueTransformerName", attribute.transformerName))
        attributes.append(("elementID", attribute.formerName))
        attributes.append(("usesScalarValueType", "NO"))
        try write("attribute", attributes, userInfo: userInfo)
    }

    private mutating func write(_ relationship: SyncRelationship) throws(ModelFile.Failure) {
        try write(
            "relationship",
            [
                ("name", relationship.name), ("optional", relationship.isOptional ? "YES" : nil),
                relationship.isToMany ? ("toMany", "YES") : ("maxCount", "1"),
                ("deletionRule", relationship.deleteRule.coreDataName),
                ("ordered", relationship.isOrdered ? "YES" : nil), ("destinationEntity", relationship.destination),
                ("inverseName", relationship.inverse),
                ("inverseEntity", relationship.inverse.map { _ in relationship.destination }),
                ("elementID", relationship.formerName),
            ], userInfo: relationship.userInfo)
    }

    private mutating func write(_ index: SyncEntity.Index) throws(ModelFile.Failure) {
        guard !index.isUnique, index.condition == nil else {
            throw unwritable("an index that is unique or partial has no counterpart")
        }
        let name = index.attributes.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined(separator: "And")
        try open("fetchIndex", depth: 2, [("name", "by\(name)Index")], isEmpty: false)
        for attribute in index.attributes {
            try open(
                "fetchIndexElement", depth: 3,
                [("property", attribute), ("type", "Binary"), ("order", "ascending")], isEmpty: true)
        }
        close("fetchIndex", depth: 2)
    }

    private mutating func write(
        _ name: String, _ attributes: [(String, String?)], userInfo: [String: String]
    ) throws(ModelFile.Failure) {
        try open(name, depth: 2, attributes, isEmpty: userInfo.isEmpty)
        guard !userInfo.isEmpty else { return }
        try write(userInfo, depth: 3)
        close(name, depth: 2)
    }

    private mutating func write(_ userInfo: [String: String], depth: Int) throws(ModelFile.Failure) {
        guard !userInfo.isEmpty else { return }
        try open("userInfo", depth: depth, [], isEmpty: false)
        for (key, value) in userInfo.sortedByKey {
            try open("entry", depth: depth + 1, [("key", key), ("value", value)], isEmpty: true)
        }
        close("userInfo", depth: depth)
    }

    private mutating func open(
        _ name: String, depth: Int, _ attributes: [(String, String?)], isEmpty: Bool
    ) throws(ModelFile.Failure) {
        text += String(repeating: "    ", count: depth) + "<" + name
        for case (let key, let value?) in attributes {
            text += " \(key)=\"\(try escaped(value))\""
        }
        text += isEmpty ? "/>\n" : ">\n"
    }

    private mutating func close(_ name: String, depth: Int) {
        text += String(repeating: "    ", count: depth) + "</\(name)>\n"
    }

    private func escaped(_ value: String) throws(ModelFile.Failure) -> String {
        var escaped = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\t", "\n", "\r": escaped += "&#\(scalar.value);"
            case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": throw unwritable("XML has no U+\(hex(scalar))")
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    private func hex(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    private func unwritable(_ reason: String) -> ModelFile.Failure {
        .unwritable(entity: entity, property: property, reason: reason)
    }
}
