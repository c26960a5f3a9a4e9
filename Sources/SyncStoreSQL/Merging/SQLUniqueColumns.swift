package import SyncModel
package import SyncStore

/// The columns that a row leaves empty while another row has its values in a unique index.
package struct SQLUniqueColumns: Sendable {
    /// A unique index of a table.
    package struct Index: Sendable {
        /// The columns of its entries.
        package var keys: Set<String>
        /// Further columns of its condition.
        package var conditions: Set<String>
        /// Whether two rows with null in a column differ.
        package var separatesNulls: Bool

        package init(keys: Set<String>, conditions: Set<String> = [], separatesNulls: Bool = true) {
            self.keys = keys
            self.conditions = conditions
            self.separatesNulls = separatesNulls
        }
    }

    /// What a waiting row has in a column.
    package enum Content: Hashable, Sendable {
        case null
        /// A value that no other row has, because the column does not accept null, or because
        /// references to the row would become null with it.
        case placeholder
    }

    /// The contents by column.
    package private(set) var contents: [Int: Content] = [:]

    /// Chooses the columns.
    ///
    /// - Parameters:
    ///   - layout: The entity of the rows. Its identity is never left empty.
    ///   - mandatory: The columns that do not accept null, and those whose changes foreign keys
    ///     pass on to references (`ON UPDATE CASCADE`).
    package init(_ indexes: [Index], of layout: EntityLayout, in schema: SQLSchema, mandatory: Set<String>) {
        let fold = schema.dialect.folded
        func columns(of names: Set<String>) -> [Int] {
            let names = Set(names.map(fold))
            return layout.attributes.indices.filter { column in
                !layout.identityColumns.contains(column) && names.contains(fold(schema.columns[layout.index][column]))
            }
        }
        let mandatory = Set(columns(of: mandatory))
        for index in indexes {
            for column in columns(of: index.keys) {
                if index.separatesNulls, !mandatory.contains(column) {
                    contents[column] = .null
                } else if contents[column] == nil, layout.attributes[column].type.hasPlaceholder {
                    contents[column] = .placeholder
                }
            }
            for column in columns(of: index.conditions) where !mandatory.contains(column) { contents[column] = .null }
        }
    }

    /// Fails if one of the refused objects may have a placeholder.
    ///
    /// - Parameter columns: Returns the columns of an entity.
    /// - Throws: `StoreError.refused`; errors of `columns`.
    package static func check(
        _ refused: [StoreError.Refusal], in model: DataModel, columns: (EntityLayout) throws -> SQLUniqueColumns
    ) throws {
        for refusal in refused {
            let layout = try model.layout(of: refusal.entity)
            guard try !columns(layout).mayBePlaceholder(in: refusal, of: layout) else {
                throw StoreError.refused(refusal)
            }
        }
    }

    /// Whether a refused row of an entity may have a placeholder. Any may have one if the refusal
    /// names no attributes, such as that of a generated column.
    private func mayBePlaceholder(in refusal: StoreError.Refusal, of layout: EntityLayout) -> Bool {
        contents.contains { column, content in
            content == .placeholder
                && (refusal.attributes.isEmpty || refusal.attributes.contains(layout.attributes[column].name))
        }
    }
}

extension AttributeType {
    /// Whether the type has enough values to give each row one of its own.
    fileprivate var hasPlaceholder: Bool {
        switch self {
        case .bool, .json, .transformable: false
        default: true
        }
    }
}
