public import JSONMapper
public import SyncModel

extension DataModel {
    /// Infers a model from a JSON sample, as a starting point if there is no model file.
    ///
    ///     let json = #"[{"id": 1, "first_name": "Ada", "notes": [{"id": 7}]}]"#
    ///     let model = try DataModel.inferred(from: json, entity: "User")
    ///     // User: id int64, firstName string, notes to-many Note
    ///     // Note: id int64, users to-many User
    ///
    /// An export of the sample's objects by the model has the same values as the sample. The result
    /// depends only on the sample and the options. These rules apply:
    ///
    /// - **Entities.** The elements belong to the named entity. Nested objects belong to an entity
    ///   named after their key, and the objects of an array to one named after the singular of the
    ///   key. Places of the sample whose objects have the same keys, and are equal if they have the
    ///   same identity, share an entity. Objects nested in objects of their own kind, such as
    ///   replies to replies, share an entity.
    /// - **Maps.** An object is kept as JSON if its keys are data: numbers, versions, paths or
    ///   codes, or many names of which each object has few, with values of one shape.
    /// - **Attributes** have the camelCase names of their keys. If the naming convention does not
    ///   lead back to the key, the attribute is annotated with it.
    /// - **Types** cover all values of the sample. Integers are `int64`; with fractions, `double`;
    ///   with more digits, `decimal`. Texts are `uuid` or `date` if all are written in the same
    ///   style, which exports use again, and otherwise `string`. Integers between 1990 and 2100
    ///   under a key such as `created_at` are dates. Arrays of values other than objects, and
    ///   values that no other type can hold, are `json`.
    /// - **Keys.** The elements are identified by a key such as `id`, `uuid`, `code` or `slug`
    ///   whose values are unique and never null, or by two keys such as `country_code` and `year`
    ///   that are unique together. Without such keys they are matched by their whole content.
    /// - **Nested objects** are identified by such a key if equal keys belong to equal objects, and
    ///   can then belong to several objects. If the sample contains each only once, they belong to
    ///   the objects that contain them, and are deleted with the last one; otherwise, they stay.
    ///   With different contents, the key identifies an object within the object that contains it.
    ///   Objects without a key belong to the object that contains them, and are deleted with it.
    ///   For a store that also syncs a list of such objects, set
    ///   `SyncRelationship.ownsTargets` to false.
    /// - **Identifiers.** If some objects have a nested object, such as `company`, and others only
    ///   its identifier, `company_id`, both keys are one relationship. An export writes the object.
    /// - **Inverses** are added to all relationships. They are neither read nor exported.
    ///
    /// - Parameters:
    ///   - json: The sample as UTF-8: an array of objects, or one object.
    ///   - entity: The name of the elements' entity.
    ///   - layout: The location of the elements; the document itself by default.
    ///   - options: The accepted syntax, and size limits.
    /// - Throws: `JSONError` if the sample is not JSON or does not match the layout;
    ///   `InferredModel.Failure` if a model cannot be inferred from it.
    public static func inferred(
        from json: [UInt8], entity: String, layout: JSONReader.Layout = .array(acceptsSingleObject: true),
        options: JSONReader.Options = JSONReader.Options()
    ) throws -> DataModel {
        try inferred(from: JSONReader(bytes: json, layout: layout, options: options), entity: entity)
    }

    /// Infers a model from a JSON sample in a string.
    ///
    /// - Throws: The errors of ``inferred(from:entity:layout:options:)``.
    public static func inferred(
        from json: String, entity: String, layout: JSONReader.Layout = .array(acceptsSingleObject: true)
    ) throws -> DataModel {
        try inferred(from: Array(json.utf8), entity: entity, layout: layout)
    }

    /// Infers a model from the elements of a JSON reader, for large files and streams.
    ///
    /// The reader is read to its end. Memory use depends on the number of distinct keys and on the
    /// largest element, not on the size of the sample.
    ///
    /// - Parameters:
    ///   - reader: A reader with a source.
    ///   - entity: The name of the elements' entity.
    /// - Throws: The errors of ``inferred(from:entity:layout:options:)``, and those of the reader's
    ///   source.
    public static func inferred(from reader: JSONReader, entity: String) throws -> DataModel {
        try InferredModel(from: reader, entity: entity).model
    }
}

extension InferredModel {
    /// Infers a model from the elements of a JSON reader.
    ///
    /// `DataModel.inferred(from:entity:layout:options:)` documents the rules. The reader is read to
    /// its end, or until the sample is large enough. Memory use depends on the number of distinct
    /// keys and on the largest element, not on the size of the sample.
    ///
    /// - Parameters:
    ///   - reader: A reader with a source.
    ///   - entity: The name of the elements' entity.
    ///   - options: The key of the elements, and limits.
    /// - Throws: `JSONError` if the sample is not JSON or does not match the reader's layout;
    ///   `InferredModel.Failure` if a model cannot be inferred from it; errors of the reader's
    ///   source.
    public init(
        from reader: JSONReader, entity: String, options: InferredModel.Options = InferredModel.Options()
    ) throws {
        let sampler = try Self.sampler(of: reader, entity: entity, key: options.key, limit: options.sampleCount)
        let draft = try ModelDraft(sampler.shapes, options: options)
        self.init(
            model: try draft.model(), entity: entity, key: draft.key, elementCount: sampler.shapes.elementCount,
            isPartial: sampler.isPartial, findings: draft.findings)
    }

    /// Examines the elements of a reader.
    static func sampler(
        of reader: JSONReader, entity: String, key: [String], limit: Int?
    ) throws -> ExaminedSample {
        var shapes = ShapeSampler(entity: entity, key: key)
        while let isObject = try reader.next(isWhole: true, { cursor in try shapes.examine(&cursor) }) {
            guard isObject else { throw InferredModel.Failure.notAnObject(index: reader.elementCount - 1) }
            if let limit, shapes.elementCount >= limit {
                let isPartial = try reader.next { cursor in try cursor.skipValue() } != nil
                return ExaminedSample(shapes: shapes, isPartial: isPartial)
            }
        }
        return ExaminedSample(shapes: shapes, isPartial: false)
    }
}

/// The shapes of a sample that has been read.
struct ExaminedSample: ~Copyable {
    let shapes: ShapeSampler
    /// Whether there are more elements than were read.
    let isPartial: Bool
}

extension ShapeSampler {
    /// Examines the next value of a reader, which has arrived completely.
    ///
    /// - Returns: Whether the value is an object; if not, the reader skips it.
    fileprivate mutating func examine(_ cursor: inout JSONCursor) throws(JSONFault) -> Bool {
        guard try cursor.kind() == .object else { return false }
        try add(&cursor)
        return true
    }
}
