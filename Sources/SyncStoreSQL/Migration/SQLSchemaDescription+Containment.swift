extension SQLSchemaDescription {
    /// Whether a store with another schema can use the tables unchanged.
    ///
    /// True if the tables have everything in the other schema and nothing that its writes would
    /// violate. The unique indices and the actions of foreign keys must be equal, and a column of
    /// entity names is allowed only if the other schema has it too.
    package func contains(_ other: SQLSchemaDescription) -> Bool {
        guard dates == other.dates, rowColumn == other.rowColumn, entityColumn == other.entityColumn else {
            return false
        }
        return other.entities.allSatisfy(contains) && other.families.allSatisfy { families[$0] == $1 }
            && other.tables.allSatisfy(contains)
    }

    private func contains(_ other: Entity) -> Bool {
        guard let entity = entity(other.name), entity.parent == other.parent,
            Self.isFollowed(other.formerName, entity.formerName)
        else { return false }
        return other.attributes.allSatisfy { wanted in
            entity.attributes.contains {
                $0.name == wanted.name && $0.type == wanted.type && $0.column == wanted.column
                    && (wanted.fillsNull != true || $0.fillsNull == true)
                    && Self.isFollowed(wanted.formerName, $0.formerName)
            }
        }
            && other.relationships.allSatisfy { wanted in
                entity.relationships.contains {
                    $0.name == wanted.name && $0.destination == wanted.destination && $0.storage == wanted.storage
                        && $0.isOneToOne == wanted.isOneToOne
                        && Self.isFollowed(wanted.formerName, $0.formerName)
                }
            }
    }

    /// Whether the database records the renaming that a schema requires, if it requires one.
    private static func isFollowed(_ wanted: String?, _ stored: String?) -> Bool {
        wanted == nil || wanted == stored
    }

    private func contains(_ other: SQLSchema.Table) -> Bool {
        guard let table = tables.first(where: { $0.name == other.name }) else { return false }
        let columns = Set(table.columns)
        return columns.isSuperset(of: other.columns)
            && columns.contains(entityColumn) == other.columns.contains(entityColumn)
            && Set(table.indices).isSuperset(of: other.indices)
            && table.indices.filter(\.isUnique) == other.indices.filter(\.isUnique)
            && Set(table.foreignKeys ?? []).isSuperset(of: other.foreignKeys ?? [])
            && hasReferences(of: other, table)
    }

    /// Whether a table has the foreign keys that are part of another definition. Those of a table
    /// that the store did not create belong to other tools.
    private func hasReferences(of other: SQLSchema.Table, _ table: SQLSchema.Table) -> Bool {
        guard existing?.contains(table.name) != true else { return true }
        let references = table.references
        return other.references.allSatisfy { references[$0.key] == $0.value }
    }
}

extension SQLSchema.Table {
    /// The foreign keys that are part of the definition, by column.
    fileprivate var references: [String: String] {
        (declarations ?? [:]).compactMapValues { declaration in
            declaration.firstRange(of: "REFERENCES ").map { String(declaration[$0.lowerBound...]) }
        }
    }
}
