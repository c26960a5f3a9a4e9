public import Foundation
public import JSONMapper
public import SyncModel

extension DataModel {
    /// Infers a model from a JSON sample, as a start without a model file.
    ///
    ///     let json = #"[{"id": 1, "first_name": "Ada", "notes": [{"id": 7}]}]"#
    ///     let model = try DataModel.inferred(from: json, entity: "User")
    ///     // User: id int64, firstName string, notes to-many Note
    ///     // Note: id int64, user to-one User
    ///
    /// The result depends only on the sample, not on the machine. These rules apply:
    ///
    /// - **Entities.** The elements belong to the named entity. A nested object belongs to an
    ///   entity named after its key, and the objects of an array to one named after the singular of
    ///   its key. Objects with the same entity name belong to the same entity, at any level. An
    ///   object with more than 256 different keys is treated as a dictionary, and stored as a
    ///   whole.
    /// - **Singulars.** `people`, `children`, `series` and `species` are known. `-ies` becomes
    ///   `-y`. `-xes`, `-ches`, `-shes` and `-sses` lose `es`. Any other final `s` is removed,
    ///   except in `-ss`, `-us` and `-is`.
    /// - **Attributes** have the camelCase names of their keys. If the naming convention does not
    ///   lead back to the key, the attribute is annotated with `sync.remoteKey`. All attributes are
    ///   optional except a primary key that has a value in every object.
    /// - **Types** cover all values of the sample. Integers are `int64`; with fractions, `double`;
    ///   beyond `Int64`, `decimal`; and numbers that no decimal can hold, `string`. Texts are
    ///   `uuid` if all are UUIDs, `date` if all are ISO 8601 dates, and otherwise `string`, also if
    ///   mixed with numbers. A value that is always null is `string`. Arrays of values other than
    ///   objects, and mixtures that no other type can hold, are `binary`, which stores any JSON as
    ///   a whole.
    /// - **The primary key** is `id`. Without it, the primary key is `remote_id`, `<entity>_id`,
    ///   `uuid` or `guid`, if it has a value in every object, and its values in the elements are
    ///   unique. An entity without a primary key has no identity.
    /// - **Relationships** result from nesting. Each has an inverse named after the entity that
    ///   contains it, unless the sample has a relationship of that name. If two parents contain the
    ///   same child, a to-many relationship is many-to-many. Objects without an identity belong to
    ///   the object that contains them, and are deleted with it.
    ///
    /// - Parameters:
    ///   - json: The sample as UTF-8: an array of objects, or one object.
    ///   - entity: The name of the elements' entity.
    ///   - layout: The location of the elements; the document itself by default.
    ///   - options: The accepted syntax, and size limits.
    /// - Throws: `JSONError` if the sample is not JSON or does not match the layout;
    ///   `ModelInferenceError` if a model cannot be inferred from it.
    public static func inferred(
        from json: [UInt8], entity: String, layout: JSONLayout = .array(acceptsSingleObject: true),
        options: JSONOptions = JSONOptions()
    ) throws -> DataModel {
        try inferred(from: JSONReader(bytes: json, layout: layout, options: options), entity: entity)
    }

    /// Infers a model from a JSON sample in a string.
    ///
    /// - Throws: The errors of ``inferred(from:entity:layout:options:)``.
    public static func inferred(
        from json: String, entity: String, layout: JSONLayout = .array(acceptsSingleObject: true)
    ) throws -> DataModel {
        try inferred(from: Array(json.utf8), entity: entity, layout: layout)
    }

    /// Infers a model from the elements of a JSON reader, for large files and streams.
    ///
    /// The reader is read to its end. Memory use grows with the number of distinct keys and
    /// identifiers, not with the size of the sample.
    ///
    /// - Parameters:
    ///   - reader: A reader with a source.
    ///   - entity: The name of the elements' entity.
    /// - Throws: The errors of ``inferred(from:entity:layout:options:)``, and those of the reader's
    ///   source.
    public static func inferred(from reader: JSONReader, entity: String) throws -> DataModel {
        var sample = ModelSample(root: entity)
        while let element = try reader.next({ cursor in try JSONValue(&cursor) }) {
            guard case .object(let object) = element else {
                throw ModelInferenceError.notAnObject(index: reader.elementCount - 1)
            }
            sample.add(object)
        }
        return try ModelDraft(sample).model()
    }
}

/// A failure to infer a model from a sample.
public enum ModelInferenceError: Error, Hashable, Sendable {
    /// The sample has no elements.
    case emptySample
    /// An element is not an object; the index counts from 0.
    case notAnObject(index: Int)
    /// No element has a key.
    case noKeys(entity: String)
    /// The elements have more different keys than are allowed for objects; they are probably
    /// dictionaries.
    case tooManyKeys(entity: String, maximum: Int)
}

extension ModelInferenceError: CustomStringConvertible {
    /// The error as a sentence for people.
    public var description: String {
        switch self {
        case .emptySample: "the sample has no element"
        case .notAnObject(let index): "element \(index) of the sample is no object"
        case .noKeys(let entity): "no \(entity) of the sample has a key"
        case .tooManyKeys(let entity, let maximum):
            "the sample's \(entity) has more than \(maximum) different keys, as dictionaries have, not objects of one kind"
        }
    }
}

extension ModelInferenceError: LocalizedError {
    /// The same text as `description`.
    public var errorDescription: String? {
        description
    }
}
