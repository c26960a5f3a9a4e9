/// An element of a model file as the parser gives it.
struct ModelElement {
    let name: String
    let attributes: [String: String]
    let file: String
    let line: Int

    /// The value of an attribute without which the element means nothing.
    func required(_ attribute: String) throws(ModelFileError) -> String {
        guard let value = attributes[attribute] else {
            throw .missingAttribute(file: file, line: line, element: name, attribute: attribute)
        }
        return value
    }

    /// Warnings for the attributes that are not among the known ones, in the order of their names.
    func unknown(besides known: ModelElements.Known) -> [ModelWarning] {
        attributes.keys.sorted().compactMap { attribute in
            if known.read.contains(attribute) || known.harmless.contains(attribute) { return nil }
            let reason: ModelWarning.Reason =
                known.unsupported.contains(attribute)
                ? .unsupported(what: attribute) : .unknownAttribute(element: name, attribute: attribute)
            return ModelWarning(file: file, line: line, reason: reason)
        }
    }
}

/// What stands in model files.
enum ModelElements {
    /// The attributes of one kind of element.
    struct Known {
        /// Those that the reader makes something of.
        var read: Set<String> = []
        /// Those that concern the editor, generated classes or Core Data's own workings.
        var harmless: Set<String> = []
        /// Those that change what the data is, in a way that a `DataModel` cannot express.
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
            "coreSpotlightDisplayNameExpression",
        ])

    static let attribute = Known(
        read: [
            "name", "attributeType", "optional", "defaultValueString", "defaultDateTimeInterval", "transient",
            "valueTransformerName", "elementID",
        ],
        harmless: [
            "usesScalarValueType", "syncable", "indexed", "customClassName", "allowsExternalBinaryDataStorage",
            "allowsCloudEncryption", "preserveAfterDeletion", "preservesValueInHistoryOnDeletion",
            "spotlightIndexingEnabled", "storedInTruthFile", "versionHashModifier",
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

    /// Elements that Core Data knows, and that a `DataModel` has no counterpart for.
    static let unsupported: Set<String> = [
        "fetchedProperty", "fetchRequest", "fetchIndex", "configuration", "compoundIndexes", "composite",
        "validationPredicate",
    ]
}
