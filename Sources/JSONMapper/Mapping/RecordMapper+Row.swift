public import SyncModel

extension RecordMapper {
    /// An object that a source supplies without JSON, such as a line of a CSV file.
    ///
    ///     try row.set("name", to: "Ada")
    ///     try row.relate("company", to: 5)
    ///
    /// Properties have the names of the model. A property that is not set counts as a key that JSON
    /// lacks.
    public struct Row {
        /// The entity of the object.
        public let layout: EntityLayout
        private(set) var values: [(column: Int, value: AttributeValue)] = []
        private(set) var targets: [(relationship: Int, identities: [AttributeValue])] = []

        init(of layout: EntityLayout) {
            self.layout = layout
        }

        /// About the number of bytes of the properties in memory.
        var byteCount: Int {
            values.reduce(0) { $0 + Self.byteCount(of: $1.value) }
                + targets.reduce(0) { $1.identities.reduce($0) { $0 + Self.byteCount(of: $1) } }
        }

        private static func byteCount(of value: AttributeValue) -> Int {
            switch value {
            case .string(let text): 16 + text.utf8.count
            case .binary(let bytes): 16 + bytes.count
            case .json(let json): 16 + json.text.utf8.count
            default: 16
            }
        }

        /// Sets an attribute. Nil clears it.
        ///
        /// The value is converted to the type of the attribute if the conversion loses nothing. For
        /// any other value, the contract of the mapping decides, as for JSON.
        ///
        /// - Throws: `Record.CodingError.unknownProperty`.
        public mutating func set(
            _ attribute: String, to value: (any AttributeValue.Convertible)?
        ) throws(Record.CodingError) {
            guard let column = layout.column(of: attribute) else {
                throw .unknownProperty(entity: layout.name, property: attribute)
            }
            values.append((column, value?.value ?? .null))
        }

        /// Sets a to-one relationship by the identity of the related object. Nil clears it.
        ///
        /// - Throws: `Record.CodingError.unknownProperty`; `Record.CodingError.wrongType` if it is
        ///   to-many.
        public mutating func relate(
            _ relationship: String, to identity: (any AttributeValue.Convertible)?
        ) throws(Record.CodingError) {
            try relate(relationship, isToMany: false, to: identity.map { [$0.value] } ?? [])
        }

        /// Sets a to-many relationship by the identities of the related objects.
        ///
        /// - Throws: `Record.CodingError.unknownProperty`; `Record.CodingError.wrongType` if it is
        ///   to-one.
        public mutating func relate(
            _ relationship: String, to identities: [some AttributeValue.Convertible]
        ) throws(Record.CodingError) {
            try relate(relationship, isToMany: true, to: identities.map(\.value))
        }

        private mutating func relate(
            _ name: String, isToMany: Bool, to identities: [AttributeValue]
        ) throws(Record.CodingError) {
            guard let relationship = layout.relationship(name) else {
                throw .unknownProperty(entity: layout.name, property: name)
            }
            guard relationship.isToMany == isToMany else {
                throw .wrongType(
                    entity: layout.name, property: name, type: relationship.declaration.destination)
            }
            targets.removeAll { $0.relationship == relationship.index }
            targets.append((relationship.index, identities))
        }
    }
}
