public import SyncModel

extension StoreError {
    /// An object that an index or a constraint of the store refused.
    ///
    /// The description has no values other than identities. `debugDescription` also has the error
    /// of the database, with its statement.
    public struct Refusal: Hashable, Sendable {
        /// The kind of rule that refused the object.
        public enum Reason: Hashable, Sendable {
            /// A unique index: another object has the values. The payload is the identity of that
            /// object; nil if it is unknown.
            case taken(by: Record.Key?)
            /// A check, a trigger or another rule for values.
            case check
            /// A column that does not hold a value exactly, such as a text that is too long, or a
            /// number with more digits.
            case unfit
            /// A column that does not accept null.
            case null
            /// A foreign key. The payload is the table that refers to rows which do not exist.
            case missingReference(from: String)
            /// A foreign key that keeps the object from being deleted, or its attributes from being
            /// changed. The payload is the table that refers to them.
            case referred(by: String)
        }

        /// The entity of the object.
        public var entity: String
        /// The identity of the object; nil if the store did not determine it.
        public var key: Record.Key?
        /// The attributes that the rule is about; empty if the store does not know them.
        public var attributes: [String]
        /// The kind of rule.
        public var reason: Reason
        /// The name of the constraint or index; nil if the database does not tell it.
        public var constraint: String?
        /// The index of the record in the merged batch or, in a sync, of the element in the
        /// payload, starting at 0; nil if it is unknown.
        public var index: Int?
        /// The object, if the store has it; nil for an object that was not inserted.
        public var object: ObjectID?
        /// The error of the database with its statement; empty if there was none.
        public var databaseError: String

        /// Creates a refusal.
        public init(
            entity: String, key: Record.Key? = nil, attributes: [String] = [], reason: Reason,
            constraint: String? = nil,
            index: Int? = nil, object: ObjectID? = nil, databaseError: String = ""
        ) {
            self.entity = entity
            self.key = key
            self.attributes = attributes
            self.reason = reason
            self.constraint = constraint
            self.index = index
            self.object = object
            self.databaseError = databaseError
        }
    }
}

extension StoreError.Refusal: CustomStringConvertible, CustomDebugStringConvertible {
    /// A readable sentence whose only values are identities.
    public var description: String {
        let place = index.map { ", element \($0)" } ?? ""
        let rule = constraint.map { " (\($0))" } ?? ""
        return "\(Self.name(entity, key))\(place): \(sentence)\(rule)"
    }

    /// The sentence with the error of the database, which may contain values.
    public var debugDescription: String {
        databaseError.isEmpty ? description : "\(description); \(databaseError)"
    }

    private var sentence: String {
        let names = attributes.joined(separator: ", ")
        switch reason {
        case .taken(let other):
            let holder = other.map { Self.name(entity, $0) } ?? "another \(entity)"
            return "\(holder) already has these values\(names.isEmpty ? "" : " of \(names)")"
        case .check: return "a constraint or trigger of the table refuses \(names.isEmpty ? "the values" : names)"
        case .unfit: return "\(names.isEmpty ? "a value" : names) does not fit its column exactly"
        case .null: return "\(names.isEmpty ? "a column" : names) has no value, and its column does not accept null"
        case .missingReference(let table): return "\(table) refers to a row that does not exist"
        case .referred(let table):
            let change = names.isEmpty ? "it cannot be deleted" : "\(names) cannot be changed"
            return "\(change), because \(table) refers to \(attributes.count > 1 ? "them" : "it")"
        }
    }

    private static func name(_ entity: String, _ key: Record.Key?) -> String {
        switch key {
        case .identity(let values): "\(entity) \(values.map(\.description).joined(separator: ", "))"
        case .object(let number): "\(entity) in row \(number)"
        case nil: entity
        }
    }
}
