/// The keys and values of a JSON object, in the order they were written; every key once.
///
/// Keys are compared by their UTF-8 bytes. Two objects are equal if they hold the same keys and
/// values in any order.
public struct JSONObject: Sendable {
    /// One key and its value.
    public typealias Entry = (key: String, value: JSONValue)

    /// Above this many keys an index is kept; below, looking through them is faster.
    private static let indexedCount = 16

    /// The keys and values in order.
    public private(set) var entries: [Entry] = []
    private var index: [[UInt8]: Int] = [:]

    /// An object without keys.
    public init() {}

    /// How many keys there are.
    public var count: Int { entries.count }

    /// The value of a key. Setting one that is there replaces its value in place; a new one is
    /// added at the end; nil removes it.
    public subscript(key: String) -> JSONValue? {
        get { position(of: key).map { entries[$0].value } }
        set {
            switch (position(of: key), newValue) {
            case (let position?, let value?): entries[position].value = value
            case (let position?, nil):
                entries.remove(at: position)
                rebuildIndex()
            case (nil, let value?):
                entries.append((key, value))
                if entries.count > Self.indexedCount {
                    if index.isEmpty { rebuildIndex() } else { index[Array(key.utf8)] = entries.count - 1 }
                }
            case (nil, nil): break
            }
        }
    }

    private func position(of key: String) -> Int? {
        guard entries.count <= Self.indexedCount else { return index[Array(key.utf8)] }
        return entries.firstIndex { $0.key.utf8.elementsEqual(key.utf8) }
    }

    private mutating func rebuildIndex() {
        index = [:]
        guard entries.count > Self.indexedCount else { return }
        for (position, entry) in entries.enumerated() { index[Array(entry.key.utf8)] = position }
    }
}

extension JSONObject: Equatable {
    /// Whether both hold the same keys and values, in any order.
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.count == right.count && left.entries.allSatisfy { right[$0.key] == $0.value }
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// An object of these keys and values, in this order; of two equal keys the last value stays.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        for (key, value) in elements { self[key] = value }
    }
}
