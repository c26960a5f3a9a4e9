/// The differences between a payload and the model, the store or the payload itself.
///
/// Every result of a sync has a report. It counts by entity and key path, and holds at most
/// ``maximumEntryCount`` entries; ``omittedCount`` counts the differences beyond that. Values are
/// not included, because they may be personal data; only `debugDescription` has the first value of
/// each entry about values that are not allowed.
public struct DriftReport: Hashable, Sendable {
    /// The kind of a difference.
    public enum Kind: String, Hashable, Sendable, CaseIterable, Codable {
        /// No property of the entity claims a key, or another key of the object has precedence.
        case unknownKey
        /// The attribute cannot hold a value.
        case unfitValue
        /// A value is not one of the attribute's allowed ones, such as a case that an enum lacks,
        /// or the Swift type of the property cannot hold it.
        case notAllowed
        /// The attribute's floating-point type rounds a number: a whole one, or one of more than 17
        /// digits.
        case rounded
        /// An attribute holds a value in another form, which an export writes. In an inferred
        /// model, this is any other form, such as text as a number; in a given model, a Boolean
        /// from text or a number, or text from a number or Boolean.
        case converted
        /// The value of a relationship has an unexpected shape, such as text instead of an object.
        /// The relationship stays unchanged.
        case changedShape
        /// The object of an identifier is not in the store. The identifier is stored, and linked by
        /// the sync that delivers the object.
        case unknownIdentifier
        /// The object of an identifier is not in the store, and the store's model cannot hold the
        /// identifier. A store with the mapper's model can.
        case lostIdentifier
        /// An object lacks a mandatory relationship at the end of the sync.
        case missingRelationship
        /// The type of an identifier differs from the type of the identity, or an element of an
        /// array of objects or identifiers is none. It is ignored, and no link is removed.
        case unfitIdentifier
        /// An object and an identifier for one relationship name different objects. The object
        /// wins.
        case contradiction
        /// Two objects of the payload have the same identity but different values or relationships.
        /// An object of the list wins over a nested one; otherwise, the later object wins.
        case conflict
        /// Two pages of a source, or two readings of a page, have different values of one object.
        /// The object may have changed at the source in the meantime. The later page wins.
        case changedBetweenPages
        /// Two objects in the list of the payload, or in the list of a relationship, have the same
        /// identity. It is stored once.
        case duplicate
        /// An object of the payload, or in an attribute's JSON, has a key twice, or two keys of one
        /// property. The later value wins.
        case repeatedKey
    }

    /// The occurrences of one kind of difference at one key path.
    public struct Entry: Hashable, Sendable, Codable {
        /// The kind of the difference.
        public let kind: Kind
        /// The entity of the objects.
        public let entity: String
        /// The keys that lead from an object to the difference, separated by dots. Empty for the
        /// object itself.
        public let keyPath: String
        /// The number of occurrences.
        public internal(set) var count: Int
        /// The index of the first affected element in the list of the payload.
        public internal(set) var firstIndex: Int
        /// The kind of JSON value at the first occurrence, such as `string`; nil if unknown.
        public internal(set) var found: String?
        /// The value at the first occurrence, which is for debugging and is not encoded.
        var value: String?

        private enum CodingKeys: CodingKey {
            case kind, entity, keyPath, count, firstIndex, found
        }
    }

    private struct Place: Hashable {
        let kind: Kind
        let entity: String
        let keyPath: String

        init(_ entry: Entry) {
            (kind, entity, keyPath) = (entry.kind, entry.entity, entry.keyPath)
        }

        init(kind: Kind, entity: String, keyPath: String) {
            (self.kind, self.entity, self.keyPath) = (kind, entity, keyPath)
        }
    }

    /// The maximum number of entries in a report.
    public static let maximumEntryCount = 500

    /// The differences, in the order of their first occurrences.
    public private(set) var entries: [Entry] = []
    /// The number of occurrences that no entry counts.
    public private(set) var omittedCount = 0
    private var indices: [Place: Int] = [:]

    /// Creates an empty report.
    public init() {}

    /// Whether there are no differences.
    public var isEmpty: Bool {
        entries.isEmpty
    }

    /// Returns the number of occurrences of a kind of difference, in all entries.
    public func count(of kind: Kind) -> Int {
        entries.reduce(0) { $0 + ($1.kind == kind ? $1.count : 0) }
    }

    /// Adds occurrences of a difference. A count of 0 adds nothing.
    ///
    /// - Parameter index: The index of the first affected element.
    package mutating func add(
        _ kind: Kind, entity: String, keyPath: String, count: Int = 1, index: Int, found: String? = nil,
        value: String? = nil
    ) {
        guard count > 0 else { return }
        let place = Place(kind: kind, entity: entity, keyPath: keyPath)
        if let known = indices[place] {
            entries[known].count += count
            guard index < entries[known].firstIndex else { return }
            (entries[known].firstIndex, entries[known].found, entries[known].value) = (index, found, value)
        } else if entries.count < Self.maximumEntryCount {
            indices[place] = entries.count
            entries.append(
                Entry(
                    kind: kind, entity: entity, keyPath: keyPath, count: count, firstIndex: index, found: found,
                    value: value))
        } else {
            omittedCount += count
        }
    }

    /// Adds the occurrences of another report of the same payload, or page.
    ///
    /// - Parameter move: Converts an element index of the other report into one of this report.
    package mutating func add(_ other: DriftReport, _ move: (Int) -> Int = { $0 }) {
        for entry in other.entries { add(entry, at: move(entry.firstIndex)) }
        omittedCount += other.omittedCount
    }

    /// Adds the occurrences of a report of a later payload, or page, whose element indices begin
    /// again.
    package mutating func append(_ later: DriftReport) {
        for entry in later.entries {
            add(entry, at: indices[Place(entry)].map { entries[$0].firstIndex } ?? entry.firstIndex)
        }
        omittedCount += later.omittedCount
    }

    /// Removes the occurrences of another report that was added before.
    ///
    /// The first index of a remaining entry does not change.
    package mutating func remove(_ other: DriftReport) {
        for entry in other.entries {
            if let known = indices[Place(entry)] {
                entries[known].count -= entry.count
            } else {
                omittedCount -= entry.count
            }
        }
        omittedCount -= other.omittedCount
        entries.removeAll { $0.count <= 0 }
        indices = [:]
        for (index, entry) in entries.enumerated() {
            indices[Place(entry)] = index
        }
    }

    private mutating func add(_ entry: Entry, at index: Int) {
        add(
            entry.kind, entity: entry.entity, keyPath: entry.keyPath, count: entry.count, index: index,
            found: entry.found, value: entry.value)
    }
}

extension DriftReport: Codable {
    private enum CodingKeys: CodingKey {
        case entries, omittedCount
    }

    /// Decodes a report. Entries beyond ``maximumEntryCount`` are omitted and counted.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        for entry in try container.decode([Entry].self, forKey: .entries) { add(entry, at: entry.firstIndex) }
        omittedCount += try container.decode(Int.self, forKey: .omittedCount)
    }

    /// Encodes the entries and the number of occurrences that they do not count.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(entries, forKey: .entries)
        try container.encode(omittedCount, forKey: .omittedCount)
    }
}

extension DriftReport: CustomStringConvertible, CustomDebugStringConvertible {
    /// The first ten differences as text, separated by semicolons; `no differences` if there are
    /// none.
    public var description: String { text(\.description) }

    /// The same text with the values that are not allowed.
    public var debugDescription: String { text(\.debugDescription) }

    private func text(_ line: (Entry) -> String) -> String {
        guard !isEmpty else { return "no differences" }
        let surplus = entries.dropFirst(10).reduce(omittedCount) { $0 + $1.count }
        let rest = surplus > 0 ? ["and \(surplus) more"] : []
        return (entries.prefix(10).map(line) + rest).joined(separator: "; ")
    }
}

extension DriftReport.Entry: CustomStringConvertible, CustomDebugStringConvertible {
    /// The line with the first value, if the report has it.
    public var debugDescription: String { description + (value.map { " \($0)" } ?? "") }

    /// The entry as one line, such as `User.address.zip: value did not fit, 12 times, first in
    /// element 3, string`.
    public var description: String {
        let place = keyPath.isEmpty ? entity : "\(entity).\(keyPath)"
        let what =
            switch kind {
            case .unknownKey: "unknown key"
            case .unfitValue: "value did not fit"
            case .notAllowed: "value is not one that the property allows"
            case .rounded: "number was rounded"
            case .converted: "value was converted"
            case .changedShape: "relationship has another shape"
            case .unknownIdentifier: "identifier without an object, remembered"
            case .lostIdentifier: "identifier without an object, not remembered"
            case .missingRelationship: "mandatory relationship is empty"
            case .unfitIdentifier: "identifier of another type"
            case .contradiction: "object and identifier differ"
            case .conflict: "different values for one identity"
            case .changedBetweenPages: "object changed while the pages were read"
            case .duplicate: "identity repeated in the list"
            case .repeatedKey: "key repeated in one object, the last counts"
            }
        let kind = found.map { ", \($0)" } ?? ""
        return "\(place): \(what), \(count == 1 ? "once" : "\(count) times"), first in element \(firstIndex)\(kind)"
    }
}
