import JSONMapper

/// The naming rules that derive entities and properties of an inferred model from keys.
enum EntityNaming {
    /// Returns the entity name for objects under a key: `BillingAddress` for `billing_address`.
    static func entity(ofKey key: String) -> String {
        capitalized(property(ofKey: key))
    }

    /// Returns the entity name for objects in an array under a key: `OrderItem` for `order_items`.
    static func entity(ofArrayKey key: String) -> String {
        Plural.singular(entity(ofKey: key))
    }

    /// Returns the property name for a key.
    ///
    /// The name follows the naming convention. If that is not possible, it consists of the key's
    /// letters and digits, or is `value` if there are none.
    static func property(ofKey key: String) -> String {
        if !key.isEmpty, key.allSatisfy({ $0.isUppercase }) { return key.lowercased() }
        let legible = String(key.map { $0.isLetter || $0.isNumber ? $0 : "_" })
        return limited(JSONKey.camelCase(legible) ?? "value")
    }

    /// Returns the beginning of a name, short enough for the columns of every database.
    static func limited(_ name: String) -> String {
        name.utf8.count <= 48 ? name : String(name.prefix(24))
    }

    /// Returns whether XML, the format of model files, can represent all characters of a key.
    static func isWritable(_ key: String) -> Bool {
        key.unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 0x09, 0x0A, 0x0D, 0x20...0xFFFD, 0x10000...: true
            default: false
            }
        }
    }

    /// Returns whether a name is reserved for entities that record the progress of syncs.
    static func isReserved(_ name: String) -> Bool {
        ["syncpendinglink", "syncbookmark", "syncpass", "syncmodel"].contains(name.lowercased())
    }

    /// Returns whether a property is found under a key without an annotation.
    static func isConventional(_ key: String, for name: String) -> Bool {
        guard key != name else { return true }
        return JSONKey.snakeCase(name) == key && JSONKey.camelCase(key) == name
    }

    /// Returns the name of a to-one relationship to an entity: `user` for `User`.
    static func toOne(_ entity: String) -> String {
        entity.prefix(1).lowercased() + entity.dropFirst()
    }

    /// Returns the name of a to-many relationship to an entity: `users` for `User`, `companies` for
    /// `Company`.
    static func toMany(_ entity: String) -> String {
        let name = toOne(entity)
        if name.hasSuffix("y"), let before = name.dropLast().last, !"aeiou".contains(before) {
            return name.dropLast() + "ies"
        }
        return name + (["s", "x", "ch", "sh"].contains(where: name.hasSuffix) ? "es" : "s")
    }

    /// Returns the name, with the first unused number from 2 on if the name is used.
    static func unused(_ name: String, isUsed: (String) -> Bool) -> String {
        guard isUsed(name) else { return name }
        var number = 2
        while isUsed("\(name)\(number)") { number += 1 }
        return "\(name)\(number)"
    }

    static func capitalized(_ name: String) -> String {
        name.prefix(1).uppercased() + name.dropFirst()
    }
}
