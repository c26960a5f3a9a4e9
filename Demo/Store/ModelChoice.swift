import CoreDataModel
import Foundation
import JSONMapper
import ModelInference
import SyncModel

/// The model that JSON is mapped by, and where it is from.
struct ModelChoice {
    /// Where a model is from.
    enum Origin: String {
        case given
        /// Beside the database.
        case kept
        case inferred
    }

    let model: DataModel
    let origin: Origin

    /// The model of a file.
    ///
    /// - Parameter warn: Takes what the file says and the model does not.
    static func given(_ file: URL, warn: (String) -> Void) throws(ModelFileError) -> ModelChoice {
        let file = try ModelFile(contentsOf: file)
        for warning in file.warnings { warn("\(warning)") }
        return ModelChoice(model: file.model, origin: .given)
    }

    /// A model made of JSON.
    static func inferred(from reader: JSONReader, entity: String) throws -> ModelChoice {
        ModelChoice(model: try DataModel.inferred(from: reader, entity: entity), origin: .inferred)
    }
}
