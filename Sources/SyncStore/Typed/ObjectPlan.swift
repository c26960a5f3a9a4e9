import SyncModel

/// The relationships included with objects, as a tree of names.
struct IncludeTree: Sendable {
    private(set) var children: [(name: String, tree: IncludeTree)] = []

    subscript(name: String) -> IncludeTree? {
        children.first { $0.name == name }?.tree
    }

    mutating func insert(_ path: some Collection<String>) {
        guard let name = path.first else { return }
        if let index = children.firstIndex(where: { $0.name == name }) {
            children[index].tree.insert(path.dropFirst())
        } else {
            var tree = IncludeTree()
            tree.insert(path.dropFirst())
            children.append((name, tree))
        }
    }
}

/// How objects of a type are read from a store with a given model.
struct ObjectPlan<Object: SyncObject>: Sendable {
    /// A property and the place of its value.
    struct Property: Sendable {
        let name: String
        let type: any Any.Type
        let place: ObjectCells.Place

        /// The type of a property with related objects.
        var relatedType: any ObjectParts.RelatedValue.Type {
            get throws {
                guard let related = type as? any ObjectParts.RelatedValue.Type else {
                    throw ObjectReadingError.unknownInclude(type: "\(type)", property: name)
                }
                return related
            }
        }
    }

    let properties: [Property]
    let columns: [StoreSelection.Column]
    let layout: EntityLayout
    let includes: IncludeTree

    /// The name of the type, for messages.
    var typeName: String { "\(Object.self)" }

    /// Creates a plan.
    ///
    /// - Throws: `ObjectReadingError`, `SyncDeclarationError`, `ModelError.unknownEntity`.
    init(_ model: DataModel, including includes: IncludeTree) throws {
        let shape = try ObjectShape<Object>.shared()
        layout = try model.layout(of: Object.entityName)
        self.includes = includes
        for (name, _) in includes.children {
            guard case .related = shape.property(name)?.content else {
                throw ObjectReadingError.unknownInclude(type: "\(Object.self)", property: name)
            }
        }
        var columns: [StoreSelection.Column] = [.object]
        var properties: [Property] = []
        for property in shape.properties {
            let place: ObjectCells.Place
            switch property.content {
            case .attribute:
                if layout.column(of: property.name) != nil {
                    place = ObjectCells.Place(property.isSingleValue ? .cell : .json, column: columns.count)
                    columns.append(.value(PropertyPath(components: [property.name])))
                } else if property.isOptional {
                    place = ObjectCells.Place(.missing)
                } else {
                    throw Record.CodingError.unknownProperty(entity: layout.name, property: property.name)
                }
            case .related(_, let isToMany):
                guard includes[property.name] != nil else {
                    guard property.isOptionallyIncluded else {
                        throw ObjectReadingError.notIncluded(type: "\(Object.self)", property: property.name)
                    }
                    place = ObjectCells.Place(.notIncluded)
                    break
                }
                guard layout.relationship(property.name)?.isToMany == isToMany else {
                    throw Record.CodingError.unknownProperty(entity: layout.name, property: property.name)
                }
                if isToMany {
                    place = ObjectCells.Place(.toMany)
                } else {
                    place = ObjectCells.Place(.toOne, column: columns.count)
                    columns.append(.target(PropertyPath(components: [property.name])))
                }
            }
            properties.append(Property(name: property.name, type: property.type, place: place))
        }
        self.columns = columns
        self.properties = properties
    }
}
