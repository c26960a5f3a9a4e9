public import Foundation
public import SyncModel

/// The model and the warnings from reading a Core Data model file.
///
///     let file = try ModelFile(contentsOf: URL(filePath: "Contacts.xcdatamodeld"))
///     file.model["User"]?.attributes      // the attributes of the entity User
///     file.warnings                       // contents of the file that the model lacks
///
/// The model contains entities, inheritance, attributes, relationships, user info, and the first
/// uniqueness constraint of each entity as its identity. Settings of the editor, of generated
/// classes and of Core Data's internals are ignored. All other contents are reported in `warnings`.
public struct ModelFile: Sendable {
    /// The model.
    public let model: DataModel
    /// The contents of the file that the model lacks, in file order.
    public let warnings: [ModelWarning]

    /// The maximum size of a model file: 16 MiB.
    public static let maximumByteCount = 16 << 20
    /// The maximum depth of nested elements.
    public static let maximumDepth = 64

    /// Creates a model file by reading it from the file system.
    ///
    /// - Parameter url: An `.xcdatamodeld` folder, an `.xcdatamodel` folder, or the XML file that
    ///   such a folder contains as `contents`. An `.xcdatamodeld` folder is read at its current
    ///   version, or at its only version if it does not name one.
    /// - Throws: `ModelFileError` with the file and, if known, the line.
    public init(contentsOf url: URL) throws(ModelFileError) {
        let contents = try ModelFolder.contents(of: url)
        try self.init(xml: try ModelFolder.data(of: contents), named: contents.path)
    }

    /// Creates a model file by reading its XML.
    ///
    /// A document type, an entity declaration, a processing instruction, or an encoding other than
    /// UTF-8 is an error.
    ///
    /// - Parameters:
    ///   - xml: The `contents` file of an `.xcdatamodel` folder.
    ///   - name: The name of the file in errors and warnings; `contents` by default.
    /// - Throws: `ModelFileError` with the line, if known.
    public init(xml: Data, named name: String = "contents") throws(ModelFileError) {
        let document = try ModelXMLReader.read(xml, file: name)
        warnings = document.warnings
        do {
            model = try DataModel(document.entities)
        } catch {
            throw .invalid(file: name, line: document.line(of: error), error: error)
        }
    }
}
