package import Foundation

/// A set of rows, as bits: a million rows that follow one another take some 130 KB.
public struct RowSet: Sendable {
    /// How many rows are in it.
    public private(set) var count = 0
    /// The bits of pages of 4,096 rows, one page after the other.
    private var words: [UInt64] = []
    /// Which of the pages in `words` a page is, by its number: that of its rows divided by 4,096.
    private var pages: [Int64: Int] = [:]
    /// The page that was added to last: rows come in their order more often than not.
    private var latest: (number: Int64, page: Int)?

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
        guard let page = page(of: row) else { return false }
        let (word, bit) = Self.place(of: row, on: page)
        return words[word] & bit != 0
    }

    /// Adds a row.
    ///
    /// - Returns: Whether it was not in the set before.
    @discardableResult
    public mutating func insert(_ row: Int64) -> Bool {
        let page = page(of: row) ?? addPage(of: row)
        latest = (row >> Self.pageShift, page)
        let (word, bit) = Self.place(of: row, on: page)
        guard words[word] & bit == 0 else { return false }
        words[word] |= bit
        count += 1
        return true
    }

    /// Takes a row out.
    ///
    /// - Returns: Whether it was in the set.
    @discardableResult
    public mutating func remove(_ row: Int64) -> Bool {
        guard let page = page(of: row) else { return false }
        let (word, bit) = Self.place(of: row, on: page)
        guard words[word] & bit != 0 else { return false }
        words[word] &= ~bit
        count -= 1
        return true
    }

    private func page(of row: Int64) -> Int? {
        let number = row >> Self.pageShift
        if let latest, latest.number == number { return latest.page }
        return pages[number]
    }

    private mutating func addPage(of row: Int64) -> Int {
        let page = pages.count
        pages[row >> Self.pageShift] = page
        words.append(contentsOf: repeatElement(0, count: Self.wordCount))
        return page
    }

    private static func place(of row: Int64, on page: Int) -> (word: Int, bit: UInt64) {
        let index = Int(row & ((1 << pageShift) - 1))
        return (page * wordCount + (index >> 6), 1 << UInt64(index & 63))
    }

    /// The rows in ascending order.
    public var rows: [Int64] {
        var rows: [Int64] = []
        rows.reserveCapacity(count)
        for (number, page) in pages.sorted(by: { $0.key < $1.key }) {
            for (index, word) in words(of: page).enumerated() where word != 0 {
                for bit in 0..<64 where word & (1 << UInt64(bit)) != 0 {
                    rows.append(number << Self.pageShift + Int64(index << 6 + bit))
                }
            }
        }
        return rows
    }

    /// The pages that have rows, and the bits of each: that of its first row is the lowest one of the first byte.
    package var bitPages: [(number: Int64, bits: Data)] {
        pages.sorted { $0.key < $1.key }.map { number, page in
            (number, words(of: page).map(\.littleEndian).withUnsafeBytes { Data($0) })
        }
    }

    private func words(of page: Int) -> ArraySlice<UInt64> {
        words[page * Self.wordCount..<(page + 1) * Self.wordCount]
    }
}
