package import Foundation
import SyncBase
public import SyncModel

/// A set of object numbers, stored as bits: a million consecutive numbers take about 130 KB.
public struct ObjectSet: Sendable {
    /// The number of objects in the set.
    public private(set) var count = 0
    /// The bits of the pages, one page after another. A page has 4,096 numbers.
    private var words: [UInt64] = []
    /// The index in `words` of each page. The number of a page is an object number divided by
    /// 4,096.
    private var pages: [Int64: Int] = [:]
    /// The page of the last insertion, because numbers mostly arrive in order.
    private var latest: (number: Int64, page: Int)?

    /// The number of bits by which an object number is shifted to get the number of its page.
    package static let pageShift: Int64 = 12
    private static let wordCount = 1 << (12 - 6)

    /// Creates an empty set.
    public init() {}

    /// Creates a set of objects.
    public init(_ objects: some Sequence<ObjectID>) {
        for object in objects {
            insert(object)
        }
    }

    /// Whether the set is empty.
    public var isEmpty: Bool {
        count == 0
    }

    /// Whether an object is in the set.
    public func contains(_ object: ObjectID) -> Bool {
        guard let page = page(of: object) else { return false }
        let (word, bit) = Self.position(of: object, on: page)
        return words[word] & bit != 0
    }

    /// Adds an object.
    ///
    /// - Returns: Whether the object was new to the set.
    @discardableResult
    public mutating func insert(_ object: ObjectID) -> Bool {
        let page = page(of: object) ?? addPage(of: object)
        latest = (object >> Self.pageShift, page)
        let (word, bit) = Self.position(of: object, on: page)
        guard words[word] & bit == 0 else { return false }
        words[word] |= bit
        count += 1
        return true
    }

    /// Removes an object.
    ///
    /// - Returns: Whether the object was in the set.
    @discardableResult
    public mutating func remove(_ object: ObjectID) -> Bool {
        guard let page = page(of: object) else { return false }
        let (word, bit) = Self.position(of: object, on: page)
        guard words[word] & bit != 0 else { return false }
        words[word] &= ~bit
        count -= 1
        return true
    }

    private func page(of object: ObjectID) -> Int? {
        let number = object >> Self.pageShift
        if let latest, latest.number == number { return latest.page }
        return pages[number]
    }

    private mutating func addPage(of object: ObjectID) -> Int {
        let page = pages.count
        pages[object >> Self.pageShift] = page
        words.append(contentsOf: repeatElement(0, count: Self.wordCount))
        return page
    }

    private static func position(of object: ObjectID, on page: Int) -> (word: Int, bit: UInt64) {
        let index = Int(object & ((1 << pageShift) - 1))
        return (page * wordCount + (index >> 6), 1 << UInt64(index & 63))
    }

    /// The object numbers in ascending order.
    public var objects: [ObjectID] {
        var objects: [ObjectID] = []
        objects.reserveCapacity(count)
        for (number, page) in pages.sortedByKey {
            for (index, word) in words(of: page).enumerated() where word != 0 {
                for bit in 0..<64 where word & (1 << UInt64(bit)) != 0 {
                    objects.append(number << Self.pageShift + Int64(index << 6 + bit))
                }
            }
        }
        return objects
    }

    /// The pages with their bits. The first number of a page is the lowest bit of the first byte.
    package var bitPages: [(number: Int64, bits: Data)] {
        pages.sortedByKey.map { number, page in
            (number, words(of: page).map(\.littleEndian).withUnsafeBytes { Data($0) })
        }
    }

    private func words(of page: Int) -> ArraySlice<UInt64> {
        words[page * Self.wordCount..<(page + 1) * Self.wordCount]
    }
}
