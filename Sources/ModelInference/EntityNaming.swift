import JSONMapper

/// How an inferred model's entities and properties are named after keys.
enum EntityNaming {
    /// The entity of the objects under a key: `billing_address` gives `BillingAddress`.
    static func entity(ofKey key: String) -> String {
        capitalized(property(ofKey: key))
    }

    /// The entity of the objects in an array under a key: `order_items` gives `OrderItem`.
    static func entity(ofArrayKey key: String) -> String {
        Plural.singular(entity(ofKey: key))
    }

    /// The property of a key, by convention where that gives a name, else of the letters and digits
    /// in it; `value` where there are none.
    static func property(ofKey key: String) -> String {
        if !key.isEmpty, key.allSatisfy({ $0.isUppercase }) { return key.lowercased() }
        let legible = String(key.map { $0.isLetter || $0.isNumber ? $0 : "_" })
        return JSONKey.camelCase(legible) ?? "value"
    }

    /// Whether a property of a name is found under a key without an annotation.
    static func isConventional(_ key: String, for name: String) -> Bool {
        guard key != name else { return true }
        return JSONKey.snakeCase(name) == key && JSONKey.camelCase(key) == name
    }

    /// A relationship back to one object of an entity: `user` for `User`.
    static func toOne(_ entity: String) -> String {
        entity.prefix(1).lowercased() + entity.dropFirst()
    }

    /// A relationship back to many objects of an entity: `users` for `User`, `companies` for
    /// `Company`.
    static func toMany(_ entity: String) -> String {
        let name = toOne(entity)
        if name.hasSuffix("y"), let before = name.dropLast().last, !"aeiou".contains(before) {
            return name.dropLast() + "ies"
        }
        return name + (["s", "x", "ch", "sh"].contains(where: name.hasSuffix) ? "es" : "s")
    }

    /// The name, with the first number from 2 on that makes it unused.
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
