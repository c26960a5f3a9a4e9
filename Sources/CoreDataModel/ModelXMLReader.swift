import Foundation
import SyncModel

#if canImport(FoundationXML)
import FoundationXML
#endif

/// A parser delegate that builds a model's declarations from its XML.
///
/// The parser calls it for each element. `Place` represents the position of an element, and
/// `ModelElements` the elements and attributes that are allowed there.
final class ModelXMLReader: NSObject, XMLParserDelegate {
    /// The position of an open element, which determines the allowed child elements.
    private enum Place {
        case model, entity, attribute, relationship, userInfo, uniquenessConstraints, uniquenessConstraint
        case compoundIndexes, index
        /// An element whose contents are ignored, or were reported as a whole.
        case skipped
    }

    private let file: String
    private var document: ModelDocument
    private var places: [Place] = []
    private var entity: SyncEntity?
    private var attribute: SyncAttribute?
    private var relationship: SyncRelationship?
    private var userInfo: [String: String] = [:]
    private var failure: ModelFile.Failure?
    /// Whether the root element was closed.
    private var isComplete = false

    private init(file: String) {
        self.file = file
        document = ModelDocument(file: file)
    }

    static func read(_ data: Data, file: String) throws(ModelFile.Failure) -> ModelDocument {
        guard data.count <= ModelFile.maximumByteCount else { throw .tooLarge(file: file) }
        let checked = try XMLGuard.checked(data, file: file)
        let reader = ModelXMLReader(file: file)
        let parser = XMLParser(data: checked)
        parser.shouldResolveExternalEntities = false
        parser.delegate = reader
        // The parser's result does not reveal a document that ends too early or has no element.
        _ = parser.parse()
        if let failure = reader.failure { throw failure }
        guard reader.isComplete else {
            throw .malformed(file: file, line: 1, column: 1, reason: "there is no element")
        }
        return reader.document
    }

    // MARK: XMLParserDelegate

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        guard failure == nil else { return }
        guard places.count < ModelFile.maximumDepth else {
            return fail(parser, .tooDeep(file: file, line: parser.lineNumber))
        }
        let element = ModelElement(name: name, attributes: attributes, file: file, line: parser.lineNumber)
        do throws(ModelFile.Failure) {
            places.append(try open(element))
        } catch {
            fail(parser, error)
        }
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        guard failure == nil, let place = places.popLast() else { return }
        close(place, line: parser.lineNumber)
        isComplete = places.isEmpty
    }

    func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
        guard failure == nil else { return }
        let code = (parseError as NSError).code
        fail(
            parser,
            .malformed(
                file: file, line: max(parser.lineNumber, 1), column: max(parser.columnNumber, 1),
                reason: "not well-formed XML (\(code))"))
    }

    private func fail(_ parser: XMLParser, _ error: ModelFile.Failure) {
        failure = error
        parser.abortParsing()
    }

    // MARK: Elements

    /// Reads the start of an element, and returns its position for its children.
    private func open(_ element: ModelElement) throws(ModelFile.Failure) -> Place {
        switch (places.last, element.name) {
        case (nil, "model"):
            report(element.unknown(besides: ModelElements.model))
            return .model
        case (nil, _):
            throw .unexpectedRoot(file: file, line: element.line, element: element.name)
        case (.model, "entity"):
            try openEntity(element)
            return .entity
        case (.entity, "attribute"):
            return try openAttribute(element)
        case (.entity, "relationship"):
            return try openRelationship(element)
        case (.entity, "userInfo"), (.attribute, "userInfo"), (.relationship, "userInfo"):
            userInfo = [:]
            return .userInfo
        case (.userInfo, "entry"):
            report(element.unknown(besides: ModelElements.entry))
            guard let key = element.attributes["key"] else {
                warn(element.line, .missingAttribute(element: element.name, attribute: "key"))
                return .skipped
            }
            if userInfo.updateValue(element.attributes["value"] ?? "", forKey: key) != nil {
                warn(element.line, .duplicateUserInfo(key: key))
            }
            return .skipped
        case (.entity, "uniquenessConstraints"):
            return .uniquenessConstraints
        case (.uniquenessConstraints, "uniquenessConstraint"):
            document.addConstraint(line: element.line, to: entity)
            return .uniquenessConstraint
        case (.uniquenessConstraint, "constraint"):
            guard let name = element.attributes["value"] else {
                warn(element.line, .missingAttribute(element: element.name, attribute: "value"))
                return .skipped
            }
            document.addConstrained(name, of: entity)
            return .skipped
        case (.entity, "fetchIndex"):
            report(element.unknown(besides: ModelElements.fetchIndex))
            document.addIndex(line: element.line, to: entity)
            return .index
        case (.entity, "compoundIndexes"):
            return .compoundIndexes
        case (.compoundIndexes, "compoundIndex"):
            document.addIndex(line: element.line, to: entity)
            return .index
        case (.index, "fetchIndexElement"):
            readIndexElement(element)
            return .skipped
        case (.index, "index"):
            document.addIndexed(element.attributes["value"] ?? "", of: entity)
            return .skipped
        case (.skipped, _):
            return .skipped
        case (.model, "elements"):
            return .skipped
        case (_, let name) where ModelElements.unsupported.contains(name):
            warn(element.line, .unsupported(what: name))
            return .skipped
        default:
            warn(element.line, .unknownElement(element.name))
            return .skipped
        }
    }

    private func close(_ place: Place, line: Int) {
        switch place {
        case .entity:
            if let entity { document.entities.append(entity) }
            entity = nil
        case .attribute:
            if let attribute {
                entity?.attributes.append(attribute)
            }
            attribute = nil
        case .relationship:
            if let relationship {
                entity?.relationships.append(relationship)
            }
            relationship = nil
        case .userInfo:
            if let read = attribute {
                attribute = annotated(read, line: line)
            } else if relationship != nil {
                relationship?.userInfo = userInfo
            } else {
                entity?.userInfo = userInfo
            }
        case .model, .uniquenessConstraints, .uniquenessConstraint, .compoundIndexes, .index, .skipped:
            break
        }
    }

    private func openEntity(_ element: ModelElement) throws(ModelFile.Failure) {
        report(element.unknown(besides: ModelElements.entity))
        let name = try element.required("name")
        document.note(element.line, of: name)
        var entity = SyncEntity(
            name, parent: element.attributes["parentEntity"].flatMap { $0.isEmpty ? nil : $0 },
            abstract: flag(element, "isAbstract"), attributes: [],
            relationships: [])
        entity.formerName = element.attributes["elementID"]
        self.entity = entity
    }

    private func openAttribute(_ element: ModelElement) throws(ModelFile.Failure) -> Place {
        report(element.unknown(besides: ModelElements.attribute))
        let name = try element.required("name")
        let typeName = element.attributes["attributeType"] ?? ""
        guard let type = AttributeType(coreDataName: typeName) else {
            warn(element.line, .unsupportedType(attribute: name, type: typeName))
            return .skipped
        }
        noteLine(element.line, of: name)
        if typeName == AttributeType.compositeCoreDataName { warn(element.line, .compositeAttribute(name)) }
        let isTransient = flag(element, "transient")
        if isTransient {
            warn(element.line, .unsupported(what: "transient"))
        }
        if flag(element, "indexed") {
            document.addIndex(line: element.line, to: entity)
            document.addIndexed(name, of: entity)
        }
        var defaultValue = AttributeValue.null
        for key in ["defaultValueString", "defaultDateTimeInterval"] {
            guard let text = element.attributes[key] else { continue }
            if let value = type.coreDataDefault(text, key: key) {
                defaultValue = value
            } else {
                warn(element.line, .unknownValue(element: element.name, attribute: key, value: text))
            }
        }
        attribute = SyncAttribute(
            name, type, optional: flag(element, "optional"), default: defaultValue,
            transformer: element.attributes["valueTransformerName"], formerName: element.attributes["elementID"])
        return .attribute
    }

    /// Reads a property of a fetch index.
    private func readIndexElement(_ element: ModelElement) {
        report(element.unknown(besides: ModelElements.fetchIndexElement))
        if element.attributes["type"] == "RTree" {
            document.addIndexObstacle("an R-tree", of: entity)
        } else if let name = element.attributes["property"] {
            document.addIndexed(name, isDescending: element.attributes["order"] == "descending", of: entity)
        } else {
            document.addIndexObstacle("an expression", of: entity)
        }
    }

    /// Returns an attribute with its user info; an annotation of the type is moved from there to
    /// the type.
    private func annotated(_ attribute: SyncAttribute, line: Int) -> SyncAttribute {
        var attribute = attribute
        let type = userInfo.removeValue(forKey: AttributeType.typeAnnotation)
        attribute.userInfo = userInfo
        guard let type else { return attribute }
        let isSuitable = [.string, .binary, .transformable].contains(attribute.type)
        guard type == AttributeType.json.rawValue, isSuitable else {
            warn(line, .unknownValue(element: "entry", attribute: AttributeType.typeAnnotation, value: type))
            return attribute
        }
        attribute.type = .json
        if case .string(let text) = attribute.defaultValue {
            attribute.defaultValue = CanonicalJSON(text)?.value ?? .null
            if attribute.defaultValue.isNull {
                warn(line, .unknownValue(element: "attribute", attribute: "defaultValueString", value: text))
            }
        }
        return attribute
    }

    private func openRelationship(_ element: ModelElement) throws(ModelFile.Failure) -> Place {
        report(element.unknown(besides: ModelElements.relationship))
        let name = try element.required("name")
        noteLine(element.line, of: name)
        if flag(element, "transient") {
            warn(element.line, .unsupported(what: "transient"))
        }
        guard let destination = element.attributes["destinationEntity"], !destination.isEmpty else {
            warn(element.line, .unknownDestination(relationship: name, destination: nil))
            return .skipped
        }
        let inverse = element.attributes["inverseName"].flatMap { $0.isEmpty ? nil : $0 }
        let deleteRule = rule(element)
        let isOptional = flag(element, "optional")
        let formerName = element.attributes["elementID"]
        let isToMany = flag(element, "toMany")
        for (key, usual) in [("minCount", ["0", "1"]), ("maxCount", isToMany ? ["0"] : ["0", "1"])] {
            if let count = element.attributes[key], !usual.contains(count) {
                warn(element.line, .unsupported(what: key))
            }
        }
        var relationship =
            isToMany
            ? SyncRelationship(
                name, toMany: destination, inverse: inverse, deleteRule: deleteRule, optional: isOptional,
                formerName: formerName)
            : SyncRelationship(
                name, toOne: destination, inverse: inverse, deleteRule: deleteRule, optional: isOptional,
                formerName: formerName)
        relationship.isOrdered = isToMany && flag(element, "ordered")
        self.relationship = relationship
        if !isToMany, flag(element, "ordered") {
            warn(element.line, .unknownValue(element: element.name, attribute: "ordered", value: "YES"))
        }
        return .relationship
    }

    private func rule(_ element: ModelElement) -> SyncRelationship.DeleteRule {
        guard let text = element.attributes["deletionRule"] else { return .nullify }
        if let rule = SyncRelationship.DeleteRule(coreDataName: text) { return rule }
        warn(element.line, .unknownValue(element: element.name, attribute: "deletionRule", value: text))
        return .nullify
    }

    /// Returns whether an attribute is YES; false if it is NO or missing.
    private func flag(_ element: ModelElement, _ key: String) -> Bool {
        guard let text = element.attributes[key] else { return false }
        if let isSet = AttributeType.flags[text.lowercased()] { return isSet }
        warn(element.line, .unknownValue(element: element.name, attribute: key, value: text))
        return false
    }

    private func noteLine(_ line: Int, of property: String) {
        if let entity { document.note(line, of: property, in: entity) }
    }

    private func report(_ warnings: [ModelFile.Warning]) {
        document.warnings += warnings
    }

    private func warn(_ line: Int, _ reason: ModelFile.Warning.Reason) {
        document.warnings.append(ModelFile.Warning(file: file, line: line, reason: reason))
    }
}
