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

    /// The contents by slot.
    package private(set) var contents: [Int: Content] = [:]

    /// Chooses the columns.
    ///
    /// - Parameters:
    ///   - layout: The entity of the rows. Its identity is never left empty.
    ///   - mandatory: The columns that do not accept null, and those whose changes foreign keys
    ///     pass on to references (`ON UPDATE CASCADE`).
    package init(_ indexes: [Index], of layout: EntityLayout, in schema: SQLSchema, mandatory: Set<String>) {
        let fold = schema.dialect.folded
        func slots(of columns: Set<String>) -> [Int] {
            let columns = Set(columns.map(fold))
            return layout.attributes.indices.filter { slot in
                !layout.identitySlots.contains(slot) && columns.contains(fold(schema.columns[layout.index][slot]))
            }
        }
        let mandatory = Set(slots(of: mandatory))
        for index in indexes {
            for slot in slots(of: index.keys) {
                if index.separatesNulls, !mandatory.contains(slot) {
                    contents[slot] = .null
                } else if contents[slot] == nil, layout.attributes[slot].type.hasPlaceholder {
                    contents[slot] = .placeholder
                }
            }
            for slot in slots(of: index.conditions) where !mandatory.contains(slot) { contents[slot] = .null }
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
        contents.contains { slot, content in
            content == .placeholder
                && (refusal.attributes.isEmpty || refusal.attributes.contains(layout.attributes[slot].name))
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
