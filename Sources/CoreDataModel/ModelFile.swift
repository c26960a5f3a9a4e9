public import Foundation
public import SyncModel

/// A Core Data model file, read.
///
///     let file = try ModelFile(contentsOf: URL(filePath: "Contacts.xcdatamodeld"))
///     file.model["User"]?.attributes      // the attributes of the entity User
///     file.warnings                       // what was in the file and is not in the model
///
/// What the file says of entities, inheritance, attributes, relationships, user info and the first
/// uniqueness constraint of an entity (its identity) is in the model. What it says of the editor,
/// of generated classes and of Core Data's own workings is passed over. Everything else is reported
/// in `warnings`.
public struct ModelFile: Sendable {
    /// The model.
    public let model: DataModel
    /// What the file says and the model does not, in the file's order.
    public let warnings: [ModelWarning]

    /// The greatest size of a model file that is read: 16 MiB.
    public static let maximumByteCount = 16 << 20
    /// The greatest depth of nested elements that is read.
    public static let maximumDepth = 64

    /// Reads a model from the file system.
    ///
    /// - Parameter url: An `.xcdatamodeld` folder, of which the current version is read (or the
    ///   only one, where it names none), an `.xcdatamodel` folder, or a file with the XML that such
    ///   a folder has in `contents`.
    /// - Throws: `ModelFileError`, with the file and, where there is one, the line.
    public init(contentsOf url: URL) throws(ModelFileError) {
        let contents = try ModelFolder.contents(of: url)
        try self.init(xml: try ModelFolder.data(of: contents), named: contents.path)
    }

    /// Reads a model from XML.
    ///
    /// A document type is refused, and with it every entity; so are processing instructions, and
    /// any encoding but UTF-8.
    ///
    /// - Parameters:
    ///   - xml: What an `.xcdatamodel` folder has in `contents`.
    ///   - name: What errors and warnings call the file; `contents` by default.
    /// - Throws: `ModelFileError`, with the line where there is one.
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
