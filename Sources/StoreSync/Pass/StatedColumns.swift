import SyncModel

/// The attributes that a payload has stated so far, for each object of a family of entities.
///
/// An object takes four bytes: the number of a set of columns. Most objects of a payload have the
/// same keys, so there are few sets.
struct StatedColumns {
    /// A set of columns, as bits.
    private struct Columns: Hashable {
        /// The columns below 64. Most entities have no others, and then need no memory of their
        /// own.
        private var first: UInt64 = 0
        private var others: [UInt64] = []

        func contains(_ column: Int) -> Bool {
            if column < 64 { return first & (1 << UInt64(column)) != 0 }
            let word = column >> 6 - 1
            return word < others.count && others[word] & (1 << UInt64(column & 63)) != 0
        }

        mutating func insert(_ column: Int) {
            if column < 64 {
                first |= 1 << UInt64(column)
            } else {
                let word = column >> 6 - 1
                while others.count <= word { others.append(0) }
                others[word] |= 1 << UInt64(column & 63)
            }
        }

        /// The columns below a number.
        func below(_ count: Int) -> Columns {
            var columns = Columns()
            for column in 0..<count where contains(column) { columns.insert(column) }
            return columns
        }

        func union(_ other: Columns) -> Columns {
            var union = others.count < other.others.count ? other : self
            let shorter = others.count < other.others.count ? self : other
            union.first |= shorter.first
            for (word, bits) in shorter.others.enumerated() { union.others[word] |= bits }
            return union
        }
    }

    /// The sets by number; number 0 is the empty set.
    private var sets = [Columns()]
    private var numbers = [Columns(): UInt32(0)]
    /// The number of the set of each object, one page after another. A page has 4,096 objects.
    private var cells: [UInt32] = []
    /// The index in `cells` of each page.
    private var pages: [ObjectID: Int] = [:]
    /// The page of the last statement, because objects mostly arrive in order.
    private var latest: (number: ObjectID, page: Int)?

    private static let pageSize = 4096

    /// Whether the payload has stated an object.
    func contains(_ object: ObjectID) -> Bool {
        number(of: object) != 0
    }

    /// Whether the payload has stated an attribute of an object.
    func contains(_ column: Int, of object: ObjectID) -> Bool {
        sets[Int(number(of: object))].contains(column)
    }

    /// Adds the cells that are present in rows.
    ///
    /// - Parameter objects: The object of each row; nil for a row that is left out.
    mutating func insert(_ reader: RecordBatch.Reader, objects: some Sequence<ObjectID?>) {
        var known: (columns: Columns, number: UInt32) = (Columns(), 0)
        for (row, object) in objects.enumerated() {
            guard let object else { continue }
            var columns = Columns()
            for column in 0..<reader.columnCount where reader.kind(row: row, column: column) != .absent {
                columns.insert(column)
            }
            // Rows mostly have the cells of the row before.
            if columns != known.columns { known = (columns, number(of: columns)) }
            let cell = cell(of: object)
            let former = cells[cell]
            if former == 0 {
                cells[cell] = known.number
            } else if former != known.number {
                cells[cell] = number(of: sets[Int(former)].union(columns))
            }
        }
    }

    /// Removes the attributes of an object from a column on.
    mutating func keep(_ object: ObjectID, columnsBelow count: Int) {
        let columns = sets[Int(number(of: object))]
        if columns != Columns() { cells[cell(of: object)] = number(of: columns.below(count)) }
    }

    private mutating func number(of columns: Columns) -> UInt32 {
        if let known = numbers[columns] { return known }
        let number = UInt32(truncatingIfNeeded: sets.count)
        sets.append(columns)
        numbers[columns] = number
        return number
    }

    private func number(of object: ObjectID) -> UInt32 {
        guard let page = pages[object >> 12] else { return 0 }
        return cells[page + Int(object & 4095)]
    }

    private mutating func cell(of object: ObjectID) -> Int {
        let (number, position) = (object >> 12, Int(object & 4095))
        if let latest, latest.number == number { return latest.page + position }
        let page = pages[number] ?? cells.count
        if page == cells.count {
            pages[number] = page
            cells.append(contentsOf: repeatElement(0, count: Self.pageSize))
        }
        latest = (number, page)
        return page + position
    }
}
