/// An XML element of a model file.
struct ModelElement {
    let name: String
    let attributes: [String: String]
    let file: String
    let line: Int

    /// Returns the value of a required attribute.
    ///
    /// - Throws: `ModelFile.Failure.missingAttribute` if the element lacks it.
    func required(_ attribute: String) throws(ModelFile.Failure) -> String {
        guard let value = attributes[attribute] else {
            throw .missingAttribute(file: file, line: line, element: name, attribute: attribute)
        }
        return value
    }

    /// Returns warnings for attributes that the reader does not read, sorted by attribute name.
    func unknown(besides known: ModelElements.Known) -> [ModelFile.Warning] {
        attributes.keys.sorted().compactMap { attribute in
            if known.read.contains(attribute) || known.harmless.contains(attribute) { return nil }
            let reason: ModelFile.Warning.Reason =
                known.unsupported.contains(attribute)
                ? .unsupported(what: attribute) : .unknownAttribute(element: name, attribute: attribute)
            return ModelFile.Warning(file: file, line: line, reason: reason)
        }
    }
}

/// The elements and attributes of model files that the reader recognizes.
enum ModelElements {
    /// The recognized attributes of one kind of element.
    struct Known {
        /// Attributes that the reader uses.
        var read: Set<String> = []
        /// Attributes that concern only the editor, generated classes or the internals of Core
        /// Data.
        var harmless: Set<String> = []
        /// Attributes that change the data in a way that `DataModel` cannot express.
        var unsupported: Set<String> = []
    }

    static let model = Known(
        harmless: [
            "type", "documentVersion", "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion",
            "sourceLanguage", "userDefinedModelVersionIdentifier", "iOSVersion", "macOSVersion", "tvOSVersion",
            "watchOSVersion", "visionOSVersion", "usedWithCloudKit", "usedWithSwiftData", "name",
        ])

    static let entity = Known(
        read: ["name", "parentEntity", "isAbstract", "elementID"],
        harmless: [
            "representedClassName", "codeGenerationType", "syncable", "versionHashModifier", "customClassModule",
            "coreSpotlightDisplayNameExpression", "indexed",
        ])

    static let attribute = Known(
        read: [
            "name", "attributeType", "optional", "defaultValueString", "defaultDateTimeInterval", "transient",
            "valueTransformerName", "elementID", "indexed",
        ],
        harmless: [
            "usesScalarValueType", "syncable", "customClassName", "allowsExternalBinaryDataStorage",
            "allowsCloudEncryption", "preserveAfterDeletion", "preservesValueInHistoryOnDeletion",
            "spotlightIndexingEnabled", "storedInTruthFile", "versionHashModifier", "elementType", "compositeName",
        ],
        unsupported: [
            "derived", "derivationExpression", "minValueString", "maxValueString", "minDateTimeInterval",
            "maxDateTimeInterval", "regularExpressionString",
        ])

    static let relationship = Known(
        read: [
            "name", "optional", "toMany", "minCount", "maxCount", "ordered", "deletionRule", "destinationEntity",
            "inverseName", "inverseEntity", "transient", "elementID",
        ],
        harmless: ["syncable", "indexed", "spotlightIndexingEnabled", "storedInTruthFile", "versionHashModifier"])

    static let entry = Known(read: ["key", "value"])

    static let fetchIndex = Known(harmless: ["name"])

    static let fetchIndexElement = Known(read: ["property", "type", "order", "expression", "expressionTypeString"])

    /// Elements of Core Data that have no counterpart in `DataModel`.
    static let unsupported: Set<String> = [
        "fetchedProperty", "fetchRequest", "configuration", "composite", "compositeAttribute", "validationPredicate",
    ]
}
