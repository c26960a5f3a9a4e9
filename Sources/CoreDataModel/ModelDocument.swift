import SyncModel

/// The declarations of a model file, with their lines.
struct ModelDocument {
    /// A uniqueness constraint of an entity.
    struct Constraint {
        let line: Int
        var names: [String] = []
    }

    /// An index of an entity.
    struct Index {
        let line: Int
        var names: [String] = []
        /// Whether some properties are in descending order, and some in ascending order.
        var hasMixedOrders = false
        /// The feature of the index that a model cannot express; nil for none.
        var obstacle: String?
        fileprivate var isDescending: Bool?
    }

    let file: String
    var entities: [SyncEntity] = []
    var warnings: [ModelFile.Warning] = []
    /// The uniqueness constraints of the entities, in order, by the entity's name.
    private(set) var constraints: [String: [Constraint]] = [:]
    /// The indexes of the entities, in order, by the entity's name.
    private(set) var indexes: [String: [Index]] = [:]
    /// The lines of the entities, and of the kept properties, by name.
    private var entityLines: [String: Int] = [:]
    private var propertyLines: [String: [String: Int]] = [:]

    init(file: String) {
        self.file = file
    }

    // MARK: Declarations

    mutating func note(_ line: Int, of entity: String) {
        entityLines[entity] = line
    }

    mutating func note(_ line: Int, of property: String, in entity: SyncEntity) {
        propertyLines[entity.name, default: [:]][property] = line
    }

    /// Adds an empty constraint to an entity.
    mutating func addConstraint(line: Int, to entity: SyncEntity?) {
        guard let entity else { return }
        constraints[entity.name, default: []].append(Constraint(line: line))
    }

    /// Adds a name to the last constraint of an entity.
    mutating func addConstrained(_ name: String, of entity: SyncEntity?) {
        guard let entity, let last = constraints[entity.name]?.indices.last else { return }
        constraints[entity.name]?[last].names.append(name)
    }

    /// Adds an empty index to an entity.
    mutating func addIndex(line: Int, to entity: SyncEntity?) {
        guard let entity else { return }
        indexes[entity.name, default: []].append(Index(line: line))
    }

    /// Adds a property to the last index of an entity.
    mutating func addIndexed(_ name: String, isDescending: Bool = false, of entity: SyncEntity?) {
        changeLastIndex(of: entity) { index in
            index.names.append(name)
            if index.isDescending == !isDescending { index.hasMixedOrders = true }
            index.isDescending = isDescending
        }
    }

    /// Marks the last index of an entity as one that a model cannot express.
    mutating func addIndexObstacle(_ obstacle: String, of entity: SyncEntity?) {
        changeLastIndex(of: entity) { $0.obstacle = obstacle }
    }

    private mutating func changeLastIndex(of entity: SyncEntity?, _ body: (inout Index) -> Void) {
        guard let entity, let last = indexes[entity.name]?.indices.last else { return }
        // In place: a copy of the list for each property would be quadratic.
        body(&indexes[entity.name, default: []][last])
    }

    // MARK: Lines

    /// Returns the line of the entity or property in an error.
    func line(of error: ModelError) -> Int {
        let (entity, property): (String, String?) =
            switch error {
            case .emptyName(let entity, let property): (entity, property)
            case .duplicateEntity(let entity), .unknownParent(let entity, _), .inheritanceCycle(let entity, _),
                .tooManyAncestors(let entity, _), .tooManyProperties(let entity, _),
                .unknownIdentity(let entity, _), .unsuitableIndex(let entity, _), .unsuitableIdentity(let entity, _, _),
                .unknownEntity(let entity):
                (entity, nil)
            case .duplicateProperty(let entity, let property), .inheritedProperty(let entity, let property, _),
                .unknownDestination(let entity, let property, _), .unknownInverse(let entity, let property, _, _),
                .inverseDoesNotPointBack(let entity, let property, _, _), .orderedToOne(let entity, let property),
                .defaultOfWrongType(let entity, let property, _), .defaultNotAllowed(let entity, let property),
                .unsuitableAllowedValues(let entity, let property, _), .unsuitableScope(let entity, let property):
                (entity, property)
            }
        return line(of: property, in: entity)
    }

    /// Returns the line of a property, or of its entity; 1 if neither is known.
    func line(of property: String?, in entity: String) -> Int {
        property.flatMap { propertyLines[entity]?[$0] } ?? entityLines[entity] ?? 1
    }
}
