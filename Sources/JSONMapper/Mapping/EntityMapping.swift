import SyncBase
package import SyncModel

/// The compiled mapping from JSON objects to records of one entity.
///
/// It maps the bytes of each key to a column and a converter for the value. ``RecordMapper``
/// creates one per entity and uses it for every object.
package final class EntityMapping: Sendable {
    /// The keys that the mapping was compiled from.
    package let keys: EntityKeys
    /// The actions for values that do not fit.
    package let contract: ValueContract

    /// The conversion to an attribute's type.
    enum Converter: UInt8 {
        case int, double, float, decimal, string, bool, date, binary, uuid, uri, json
        /// A transformer converts the value first.
        case transformed
        /// Only some values are allowed.
        case restricted
        /// The value is validated and discarded.
        case none
    }

    /// An attribute that is read from JSON.
    struct Field {
        var column: Int
        var type: AttributeType
        var converter: Converter
        /// The conversion without the transformer.
        var plain: Converter
        /// The numbers that an integer attribute can hold; all of 64 bits for other types.
        var range: ClosedRange<Int64>
        /// The index of the style of dates in `dateStyles`; -1 for any date.
        var dateStyle = -1
        /// Whether a value that is stored as one of another kind is reported.
        var reportsConversions = false
    }

    let trie: KeyTrie
    /// The fields, in the order that the trie's entries refer to.
    let fields: [Field]
    /// The transformers by column; nil for attributes without one.
    let transformers: [RecordMapper.Transformers.AttributeTransformer?]
    /// The rules for values by column; nil for attributes that may have any value of their type.
    let restrictions: [SyncAttribute.Restriction?]
    /// What an attribute has by column if it is cleared: null, or the default of one that is
    /// mandatory and no part of the identity.
    let clearedValues: [AttributeValue]
    let entityMapper: RecordMapper.Transformers.EntityMapper?
    let objectTransformer: RecordMapper.Transformers.ObjectTransformer?
    /// The columns of mandatory attributes without a default that JSON can set.
    package let mandatoryColumns: [Int]
    /// The columns of the attributes to clear if absent: those that are read and are not part of
    /// the identity.
    let clearableColumns: [Int]
    /// The field of the primary key; nil if the identity is not exactly one attribute.
    let identityField: Field?
    /// The styles of dates that fields refer to.
    let dateStyles: [DateStyle]
    /// The column of the attribute for values that no other property can express; nil if there is
    /// none.
    let otherKeysColumn: Int?
    /// Whether to report values that an export would write in another form. True for an inferred
    /// entity, whose types nobody chose.
    let reportsConversions: Bool
    /// Whether keys without a property are expected, and not counted as drift.
    let expectsOtherKeys: Bool
    /// The column of the attribute that identifies objects by their whole content; nil if there is
    /// none.
    let contentHashColumn: Int?
    /// The column of the attribute for the key of each relationship, by index; nil for none.
    let relationshipKeyColumns: [Int?]
    /// Whether objects are identified by attributes with a key in JSON, not by their content.
    package let identifiesByKey: Bool
    /// Whether an export omits an attribute without a value, by column.
    let omitsNull: [Bool]
    /// The form that an export writes for a relationship without objects, by index.
    let emptyStyles: [EmptyStyle]
    /// The fields by a hash of their names that ignores ASCII case and separators.
    ///
    /// Used to match keys in unusual spellings. Empty in a dialect that does not infer keys from
    /// names.
    private let looseNames: [UInt64: [Int]]

    /// The layout of the entity.
    package var layout: EntityLayout { keys.layout }

    init(_ keys: EntityKeys, transformers all: RecordMapper.Transformers, contract: ValueContract) throws(MappingError)
    {
        self.keys = keys
        self.contract = contract
        let layout = keys.layout
        var transformers: [RecordMapper.Transformers.AttributeTransformer?] = []
        for attribute in keys.attributes {
            let name = attribute.transformerName
            let found = name.flatMap { all.attributeTransformers[$0] }
            if let name, found == nil, !RecordMapper.Transformers.isBuiltIn(name) {
                throw .unknownTransformer(entity: layout.name, attribute: attribute.attribute.name, name: name)
            }
            transformers.append(found)
        }
        self.transformers = transformers
        let restrictions = layout.attributes.map(\.restriction)
        self.restrictions = restrictions
        // A default identifies no object.
        let keyColumns = Set(keys.identityColumns + layout.keyColumns)
        clearedValues = layout.attributes.enumerated().map { column, attribute in
            attribute.isOptional || keyColumns.contains(column) ? .null : attribute.defaultValue
        }
        entityMapper = keys.entityMapperName.flatMap { all.entityMappers[$0] }
        if let name = keys.entityMapperName, entityMapper == nil {
            throw .unknownTransformer(entity: layout.name, attribute: nil, name: name)
        }
        objectTransformer = keys.objectTransformerName.flatMap { all.objectTransformers[$0] }
        if let name = keys.objectTransformerName, objectTransformer == nil {
            throw .unknownTransformer(entity: layout.name, attribute: nil, name: name)
        }
        var dateStyles: [DateStyle] = []
        let byColumn = keys.attributes.map { attribute in
            var field = Self.field(
                attribute, isTransformed: transformers[attribute.column] != nil, dialect: keys.dialect)
            if let restriction = restrictions[attribute.column], field.converter != .none,
                field.converter != .transformed, field.converter != .int || !restriction.isRange
            {
                field.converter = .restricted
            }
            if let style = attribute.dateStyle, keys.dialect.infersFromNames {
                field.dateStyle = dateStyles.count
                dateStyles.append(style)
            }
            // The types of a given model are meant, but truth and text change in an export. An
            // identity is compared in its own form.
            field.reportsConversions =
                layout.entity.isInferred
                || [.bool, .string].contains(field.plain) && !keys.identityColumns.contains(attribute.column)
            return field
        }
        self.dateStyles = dateStyles
        reportsConversions = layout.entity.isInferred
        otherKeysColumn = keys.otherKeysColumn
        expectsOtherKeys = keys.expectsOtherKeys
        contentHashColumn = keys.column(marked: JSONDialect.contentHashAnnotation, .int64)
        relationshipKeyColumns = keys.relationships.map { $0.keyAttribute?.column }
        identifiesByKey = layout.hasIdentity && contentHashColumn == nil
        omitsNull = keys.attributes.map { $0.emptyStyle == .omit }
        emptyStyles = keys.relationships.map { $0.emptyStyle(keys.dialect) }
        clearableColumns = keys.attributes.filter { attribute in
            !attribute.spellings.isEmpty && !keys.identityColumns.contains(attribute.column)
                && byColumn[attribute.column].converter != .none
        }.map(\.column)
        mandatoryColumns = layout.attributes.indices.filter { column in
            let attribute = layout.attributes[column]
            guard !attribute.isOptional, attribute.defaultValue.isNull else { return false }
            // The app sets what no key leads to.
            return !keys.dialect.infersFromNames
                || !keys.attributes[column].spellings.isEmpty
                    && byColumn[column].converter != .none
        }
        identityField = keys.identityColumns.count == 1 ? byColumn[keys.identityColumns[0]] : nil
        trie = KeyTrie(Self.sources(keys))
        let fields = trie.fieldOrder.map { byColumn[$0] }
        self.fields = fields
        // An entity with an attribute for other keys is exported with its exact keys.
        looseNames =
            !keys.dialect.infersFromNames || otherKeysColumn != nil
            ? [:]
            : Dictionary(grouping: fields.indices) { Self.looseHash(layout.attributes[fields[$0].column].name.utf8) }
    }

    /// The key paths of the identity, each with its keys separated by dots; empty if objects are
    /// not identified by keys.
    package var identityKeyPaths: [String] {
        guard identifiesByKey else { return [] }
        return layout.keyColumns.compactMap {
            keys.attributes[$0].path()?.joined(separator: ".")
        }
    }

    /// The field of the attribute whose name is the camelCase form of a key without an entry; nil
    /// if there is none.
    func looseField(_ key: JSONSlice) -> Int? {
        guard !looseNames.isEmpty else { return nil }
        guard let candidates = looseNames[key.withUTF8 { Self.looseHash($0) }] else { return nil }
        let text = key.string
        let name = JSONKey.camelCase(text)
        if let found = candidates.first(where: { layout.attributes[fields[$0].column].name == name }) { return found }
        // Acronyms match in either case: `projectId` for `projectID`.
        guard let snake = JSONKey.snakeCase(text) else { return nil }
        return candidates.first { JSONKey.snakeCase(layout.attributes[fields[$0].column].name) == snake }
    }

    /// A hash that is equal for names that differ only in separators and in the case of ASCII
    /// letters.
    private static func looseHash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var hash = Fingerprint()
        for byte in bytes where byte != ASCII.minus && byte != ASCII.space && byte != 0x5F {
            hash.combine(byte: byte &- 0x41 < 26 ? byte | 0x20 : byte)
        }
        return hash.value
    }

    // MARK: Compiling

    private static func field(_ keys: AttributeKeys, isTransformed: Bool, dialect: JSONDialect) -> Field {
        let type = keys.attribute.type
        let plain: Converter =
            switch type {
            case .int16, .int32, .int64: .int
            case .double: .double
            case .float: .float
            case .decimal: .decimal
            case .string: .string
            case .bool: .bool
            case .date: .date
            case .uuid: .uuid
            case .uri: .uri
            case .json: .json
            case .binary: .binary
            // With conventions, a transformable attribute without a transformer is not read. With
            // an annotation or a built-in transformer, it was requested and is stored as its JSON
            // text.
            case .transformable: dialect.infersFromNames && keys.transformerName == nil ? .none : .binary
            }
        return Field(
            column: keys.column, type: type, converter: isTransformed ? .transformed : plain, plain: plain,
            range: keys.attribute.integerRange)
    }

    /// The key paths to compile, with their targets.
    ///
    /// If several attributes claim a path, the strongest claim wins, and among equal claims the
    /// first one. A path that is annotated for several attributes fills all of them.
    private static func sources(_ keys: EntityKeys) -> [KeyTrie.Source] {
        // Keys are compared byte by byte: texts of equal characters can be different keys.
        var strongest: [[[UInt8]]: (strength: Int, columns: [Int])] = [:]
        var order: [(path: [String], bytes: [[UInt8]])] = []
        for attribute in keys.attributes {
            for path in attribute.spellings {
                let strength = strength(of: path, for: attribute)
                let bytes = path.map { Array($0.utf8) }
                guard let claim = strongest[bytes] else {
                    strongest[bytes] = (strength, [attribute.column])
                    order.append((path, bytes))
                    continue
                }
                if strength < claim.strength {
                    strongest[bytes] = (strength, [attribute.column])
                } else if strength == claim.strength, strength == 0 {
                    strongest[bytes] = (strength, claim.columns + [attribute.column])
                }
            }
        }
        var sources = order.flatMap { path, bytes in
            (strongest[bytes]?.columns ?? []).map { KeyTrie.Source(path: path, field: $0, relationship: nil) }
        }
        for relationship in keys.relationships {
            let index = relationship.relationship.index
            sources += relationship.spellings.map { KeyTrie.Source(path: $0, field: nil, relationship: (index, false)) }
        }
        for relationship in keys.relationships {
            for path in relationship.identifierSpellings
            where !sources.contains(where: { $0.relationship != nil && $0.path == path }) {
                let index = relationship.relationship.index
                sources.append(KeyTrie.Source(path: path, field: nil, relationship: (index, true)))
            }
        }
        return sources
    }

    /// The rank of a claim; the lowest rank wins.
    ///
    /// It is 0 for an annotation, 1 for the name, 2 for the name in snake case, 3 for a reserved
    /// word and 4 for `id`.
    private static func strength(of path: [String], for keys: AttributeKeys) -> Int {
        if let custom = keys.customPath, path == custom || path == [custom.joined(separator: ".")] { return 0 }
        let name = keys.attribute.name
        if path == [name] { return 1 }
        if path.first.flatMap(JSONKey.camelCase) == name { return 2 }
        return path == [EntityKeys.remotePrimaryKey] ? 4 : 3
    }
}
