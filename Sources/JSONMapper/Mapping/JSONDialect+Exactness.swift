import SyncModel

/// The annotations with which a model inferred from a sample exports exactly what was read.
///
/// They apply in a dialect that infers keys from names.
extension JSONDialect {
    /// The key of a property, taken literally: dots do not separate the keys of a path, and the key
    /// may be empty.
    package static let literalKeyAnnotation = "sync.literalKey"
    /// The mark `YES` of a property that does not occur in JSON: it is neither read nor exported.
    package static let unmappedAnnotation = "sync.unmapped"
    /// The mark `none` of an entity whose objects have no identity, whatever the names of its
    /// attributes.
    package static let identityAnnotation = SyncEntity.identityAnnotation
    /// The spelling of an attribute's dates: a pattern of `DateStyle`.
    ///
    /// A date with another spelling does not fit the attribute.
    package static let dateFormatAnnotation = "sync.dateFormat"
    /// The mark `YES` of a double attribute whose whole numbers are exported without a fraction.
    package static let wholeNumbersAnnotation = "sync.wholeNumbers"
    /// The mark `YES` of an attribute whose values were always null in the sample.
    package static let untypedAnnotation = "sync.untyped"
    /// The form that an export writes for a property without a value: `null`, `omit` or, for a
    /// to-many relationship, `list`.
    ///
    /// The defaults are `null` for an attribute, the dialect's form for a to-one relationship, and
    /// `list` for a to-many one.
    package static let emptyAnnotation = "sync.empty"
    /// The mark `YES` or `expected` of a JSON attribute for values that no other property can
    /// express.
    ///
    /// The attribute holds keys without a property, values that do not fit their attribute, and
    /// null and empty values for which an export would write another form. With `expected`, keys
    /// without a property are not counted as drift.
    package static let otherKeysAnnotation = "sync.otherKeys"
    /// The mark `YES` of an integer attribute that identifies objects by their whole content.
    package static let contentHashAnnotation = "sync.contentHash"
    /// The name of the to-one relationship of which a string attribute holds the key that it was
    /// read from.
    ///
    /// An object then is exported under that key: whole under `company`, and by its identifier
    /// under `company_id`.
    package static let keyOfAnnotation = "sync.keyOf"
}

/// The form that an export writes for a property without a value.
enum EmptyStyle: String {
    case null, omit, list
}
