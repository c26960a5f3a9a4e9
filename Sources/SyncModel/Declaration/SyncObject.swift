/// A Swift type whose values are the objects of an entity.
///
///     struct User: SyncObject {
///         var id: Int
///         var name: String
///         var birthday: Date?
///         var company: Company?
///         var notes: [Note]
///
///         static let declaration = SyncDeclaration<User>(
///             .toMany(\.notes, inverse: \.author, deleteRule: .cascade), .index(\.name))
///     }
///     let store = try MemoryStore(User.self)  // with Company and Note
///
/// Everything that the declaration does not state follows from the type, so a type without further
/// statements needs no declaration. An attribute `id` is the identity. The coding keys are the
/// names of attributes and relationships. A property whose type is a `SyncObject`, an optional one
/// or an array of them is a relationship; any other property is an attribute. A property that is
/// decoded with `decodeIfPresent` is optional.
///
/// | property | attribute |
/// |---|---|
/// | `Int`, `Int64`, `UInt32` … | the integer type that contains the values |
/// | `String`, `Bool`, `Double`, `Float`, `Decimal` | the type of the same kind |
/// | `Date`, `UUID`, `URL` | the type of the same kind |
/// | `Data` | binary: the JSON text of the value; a conversion decodes Base64 |
/// | an enum with a raw value | the type of the raw value |
/// | any other `Codable` type, such as `[String]` | the value as JSON |
///
/// If an enum with raw values is `CaseIterable`, its cases are the attribute's
/// ``SyncAttribute/allowedValues``: a sync never stores a value that the enum lacks, and reports
/// it. The same applies to enums inside of a JSON value, such as `[Tag]`. An enum whose
/// `init(from:)` accepts other values allows them. The cases of other enums are not known, so a
/// stored value can make a read fail.
///
/// A sync also never stores a value that the type of a property cannot hold, such as 300 for a
/// `UInt8`, a text that is no `URL`, or numbers for `[String]`. Inside of a JSON value, a `Date` is
/// an ISO 8601 text or a Unix timestamp.
///
/// The type is examined once, by decoding it from invented values. Its `init(from:)` must therefore
/// accept any value of a property's type. It must not change the value of a property that a key
/// path names.
public protocol SyncObject: Codable, ObjectParts.RelatedValue where Object == Self {
    /// The statements about the type's entity, in addition to its properties; none by default.
    static var declaration: SyncDeclaration<Self> { get }
}

extension SyncObject {
    /// No statements.
    public static var declaration: SyncDeclaration<Self> { SyncDeclaration() }

    /// False: one object.
    public static var isToMany: Bool { false }

    /// The first of some objects; nil if there is none.
    public init?(related objects: [Self]) {
        guard let first = objects.first else { return nil }
        self = first
    }

    /// The object itself.
    public var relatedObjects: [Self]? { [self] }
}

extension ObjectParts {
    /// The type of a property that holds related objects: an object, an optional one, or an array.
    public protocol RelatedValue<Object>: ObjectParts.IncludedValue {
        /// Whether the property holds any number of objects instead of at most one.
        static var isToMany: Bool { get }
        /// Creates a value from objects; nil if there are none and it cannot be empty.
        init?(related objects: [Object])
        /// The related objects; nil if they were not included.
        var relatedObjects: [Object]? { get }
    }
}

extension Optional: ObjectParts.RelatedValue, ObjectParts.IncludedValue where Wrapped: SyncObject {
    /// The wrapped type.
    public typealias Object = Wrapped
    /// False: at most one object.
    public static var isToMany: Bool { false }

    /// Creates the first of some objects, or nil as a value if there are none.
    public init?(related objects: [Wrapped]) { self = objects.first }

    /// The object, if there is one; otherwise an empty array.
    public var relatedObjects: [Wrapped]? { map { [$0] } ?? [] }
}

extension Array: ObjectParts.RelatedValue, ObjectParts.IncludedValue where Element: SyncObject {
    /// The type of the elements.
    public typealias Object = Element
    /// True: any number of objects.
    public static var isToMany: Bool { true }

    /// Creates an array of the objects.
    public init?(related objects: [Element]) { self = objects }

    /// The objects.
    public var relatedObjects: [Element]? { self }
}
