package import Foundation

/// A set of rows, as bits: a million rows that follow one another take some 130 KB.
public struct RowSet: Sendable {
    /// How many rows are in it.
    public private(set) var count = 0
    /// 4,096 rows each, by their number divided by that.
    private var pages: [Int64: [UInt64]] = [:]

    /// What the number of a row is shifted by to get that of its page.
    package static let pageShift: Int64 = 12
    private static let wordCount = 1 << (12 - 6)

    /// Makes an empty set.
    public init() {}

    /// Makes a set of some rows.
    public init(_ rows: some Sequence<Int64>) {
        for row in rows {
            insert(row)
        }
    }

    /// Whether there is no row in it.
    public var isEmpty: Bool {
        count == 0
    }

    /// Whether a row is in it.
    public func contains(_ row: Int64) -> Bool {
        guard let page = pages[row >> Self.pageShift] else { return false }
        let (word, bit) = Self.place(of: row)
        return page[word] & bit != 0
    }

    /// Adds a row.
    ///
    /// - Returns: Whether it was not in the set before.
    @discardableResult
    public mutating func insert(_ row: Int64) -> Bool {
        let (word, bit) = Self.place(of: row)
        let isNew = Self.set(bit, in: &pages[row >> Self.pageShift, default: Self.emptyPage][word])
        if isNew { count += 1 }
        return isNew
    }

    /// Sets a bit; its page is looked up once.
    ///
    /// - Returns: Whether it was not set before.
    private static func set(_ bit: UInt64, in word: inout UInt64) -> Bool {
        defer { word |= bit }
        return word & bit == 0
    }

    /// Takes a row out.
    ///
    /// - Returns: Whether it was in the set.
    @discardableResult
    public mutating func remove(_ row: Int64) -> Bool {
        guard contains(row) else { return false }
        let (word, bit) = Self.place(of: row)
        pages[row >> Self.pageShift]?[word] &= ~bit
        count -= 1
        return true
    }

    private static let emptyPage = [UInt64](repeating: 0, count: wordCount)

    private static func place(of row: Int64) -> (word: Int, bit: UInt64) {
        let index = Int(row & ((1 << pageShift) - 1))
        return (index >> 6, 1 << UInt64(index & 63))
    }

    /// The rows in ascending order.
    public var rows: [Int64] {
        var rows: [Int64] = []
        rows.reserveCapacity(count)
        for (page, words) in pages.sorted(by: { $0.key < $1.key }) {
            for (index, word) in words.enumerated() where word != 0 {
                for bit in 0..<64 where word & (1 << UInt64(bit)) != 0 {
                    rows.append(page << Self.pageShift + Int64(index << 6 + bit))
                }
            }
        }
        return rows
    }

    /// The pages that have rows, and the bits of each: that of its first row is the lowest one of the first byte.
    package var bitPages: [(number: Int64, bits: Data)] {
        pages.sorted { $0.key < $1.key }.map { number, words in
            (number, words.map(\.littleEndian).withUnsafeBytes { Data($0) })
        }
    }
}
