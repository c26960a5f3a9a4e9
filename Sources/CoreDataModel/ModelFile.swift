public import Foundation
public import SyncModel

/// The model and the warnings from reading a Core Data model file.
///
///     let file = try ModelFile(contentsOf: URL(filePath: "Contacts.xcdatamodeld"))
///     file.model["User"]?.attributes      // the attributes of the entity User
///     file.warnings                       // contents of the file that the model lacks
///
/// The model contains entities, inheritance, attributes, relationships, user info, and the first
/// usable uniqueness constraint of each entity as its identity. Fetch indexes, indexed attributes
/// and compound indexes are declared as `SyncEntity.indexes`. Settings of the editor, generated
/// classes and Core Data's internals are ignored. All other contents are reported in `warnings`.
///
/// Declarations that Core Data accepts and a `DataModel` does not are repaired, and reported as
/// well: a relationship without a destination is omitted, an inverse that does not point back is
/// removed, and a constraint that is unsuitable as an identity is ignored.
public struct ModelFile: Sendable {
    /// The model.
    public let model: DataModel
    /// The contents of the file that the model lacks or has in another form, in file order.
    public let warnings: [ModelFile.Warning]

    /// The maximum size of a model file: 16 MiB.
    public static let maximumByteCount = 16 << 20
    /// The maximum depth of nested elements.
    public static let maximumDepth = 64
    /// The maximum number of attributes of an XML element. The time of the XML parser is quadratic
    /// in this number.
    public static let maximumElementAttributeCount = 1_000

    /// Creates a model file by reading it from the file system.
    ///
    /// - Parameter url: An `.xcdatamodeld` folder, an `.xcdatamodel` folder, or the XML file that
    ///   such a folder contains as `contents`. An `.xcdatamodeld` folder is read at its current
    ///   version. If it does not name one, the latest version by number is read, with a warning.
    /// - Throws: `ModelFile.Failure` with the file and, if known, the line.
    public init(contentsOf url: URL) throws(ModelFile.Failure) {
        let (contents, assumedVersion) = try ModelFolder.contents(of: url)
        let file = try ModelFile(xml: try ModelFolder.data(of: contents), named: contents.path)
        model = file.model
        let assumption = assumedVersion.map { version in
            ModelFile.Warning(file: contents.path, line: 1, reason: .assumedVersion(version))
        }
        warnings = (assumption.map { [$0] } ?? []) + file.warnings
    }

    /// Creates a model file by reading its XML.
    ///
    /// A document type, an entity declaration, a processing instruction, or an encoding other than
    /// UTF-8 is an error.
    ///
    /// - Parameters:
    ///   - xml: The `contents` file of an `.xcdatamodel` folder.
    ///   - name: The name of the file in errors and warnings; `contents` by default.
    /// - Throws: `ModelFile.Failure` with the line, if known.
    public init(xml: Data, named name: String = "contents") throws(ModelFile.Failure) {
        try ModelFolder.checkFormat(xml, file: name)
        var document = try ModelXMLReader.read(xml, file: name)
        do {
            try DataModel.checkFamilies(of: document.entities)
            document.repair()
            warnings = document.warnings
            model = try DataModel(document.entities)
        } catch {
            throw .invalid(file: name, line: document.line(of: error), error: error)
        }
    }
}
