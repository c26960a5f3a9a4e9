/// Assigns distinct names. In SQL, names that differ only in case are equal.
struct SQLNames {
    private let dialect: any SQLDialect
    private var taken: Set<String> = []

    init(_ dialect: any SQLDialect) {
        self.dialect = dialect
    }

    /// Marks a name as taken.
    mutating func reserve(_ name: String) {
        taken.insert(name.lowercased())
    }

    /// Takes the preferred name if it is free, or else a longer one.
    mutating func take(_ wish: String, otherwise longer: String) -> String {
        let wish = dialect.suitable(wish, room: 0)
        if taken.insert(wish.lowercased()).inserted { return wish }
        var name = dialect.suitable(longer, room: 0)
        var number = 2
        while !taken.insert(name.lowercased()).inserted {
            let suffix = "_\(number)"
            name = dialect.suitable(longer, room: suffix.utf8.count) + suffix
            number += 1
        }
        return name
    }

    /// Takes a name for a table that is not reserved for the store.
    mutating func takeTable(_ wish: String, otherwise longer: String) -> String {
        take(dialect.isReserved(table: dialect.suitable(wish, room: 0)) ? longer : wish, otherwise: longer)
    }

    /// Takes a name for an index. Indices and tables share the same names.
    mutating func takeIndex(_ wish: String) -> String {
        take(wish, otherwise: wish + "_index")
    }
}
