/// Where a payload differs from what the model, the store or the payload itself says.
///
/// Every result of a sync has a report. It counts by entity and key path, and holds at most
/// ``maximumEntryCount`` entries; ``omittedCount`` counts what did not fit. Values are left out,
/// because they may be personal data.
public struct DriftReport: Hashable, Sendable {
    /// What differs.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A key that no property of the entity claims.
        case unknownKey
        /// A value that the attribute cannot hold.
        case unfitValue
        /// A whole number that the attribute's floating-point type rounds.
        case rounded
        /// A relationship's value of another shape than the model's, such as text for an object.
        /// The relationship stays as it is.
        case changedShape
        /// An identifier whose object is not in the store. It is remembered, and linked by the sync
        /// that brings the object.
        case unknownIdentifier
        /// An identifier of another type than the identity. It is ignored and unlinks nothing.
        case unfitIdentifier
        /// An object and an identifier for one relationship that name different objects. The object
        /// counts.
        case contradiction
        /// Two objects of the payload with one identity and different values. An object of the list
        /// wins over a nested one, otherwise the later one wins.
        case conflict
        /// Two objects of the payload's list with one identity.
        case duplicate
    }

    /// The occurrences of one difference at one place.
    public struct Entry: Hashable, Sendable {
        /// What differs.
        public let kind: Kind
        /// The entity of the objects.
        public let entity: String
        /// The keys within an object that lead to the difference, separated by dots; empty for the
        /// object itself.
        public let keyPath: String
        /// How often it occurred.
        public internal(set) var count: Int
        /// The index in the payload's list of the first element that has it.
        public let firstIndex: Int
        /// The kind of JSON value of the first occurrence, such as `string`; nil if it is not
        /// known.
        public let found: String?
    }

    private struct Place: Hashable {
        let kind: Kind
        let entity: String
        let keyPath: String
    }

    /// The most entries that a report holds.
    public static let maximumEntryCount = 500

    /// The differences in the order of their first occurrences.
    public private(set) var entries: [Entry] = []
    /// The number of occurrences beyond the entries.
    public private(set) var omittedCount = 0
    private var indices: [Place: Int] = [:]

    /// Creates an empty report.
    public init() {}

    /// Whether nothing differs.
    public var isEmpty: Bool {
        entries.isEmpty
    }

    /// Returns how often a difference occurred at all places.
    public func count(of kind: Kind) -> Int {
        entries.reduce(0) { $0 + ($1.kind == kind ? $1.count : 0) }
    }

    /// Adds occurrences.
    package mutating func add(
        _ kind: Kind, entity: String, keyPath: String, count: Int = 1, index: Int, found: String? = nil
    ) {
        guard count > 0 else { return }
        let place = Place(kind: kind, entity: entity, keyPath: keyPath)
        if let known = indices[place] {
            entries[known].count += count
        } else if entries.count < Self.maximumEntryCount {
            indices[place] = entries.count
            entries.append(
                Entry(
                    kind: kind, entity: entity, keyPath: keyPath, count: count, firstIndex: index, found: found))
        } else {
            omittedCount += count
        }
    }

    /// Adds the occurrences of another report.
    ///
    /// - Parameter move: Returns the payload index of an index in the other report.
    package mutating func add(_ other: DriftReport, _ move: (Int) -> Int = { $0 }) {
        for entry in other.entries {
            add(
                entry.kind, entity: entry.entity, keyPath: entry.keyPath, count: entry.count,
                index: move(entry.firstIndex), found: entry.found)
        }
        omittedCount += other.omittedCount
    }
}

extension DriftReport.Entry: CustomStringConvertible {
    /// The entry as a readable line.
    public var description: String {
        let place = keyPath.isEmpty ? entity : "\(entity).\(keyPath)"
        let what =
            switch kind {
            case .unknownKey: "unknown key"
            case .unfitValue: "value did not fit"
            case .rounded: "number was rounded"
            case .changedShape: "relationship has another shape"
            case .unknownIdentifier: "identifier without an object, remembered"
            case .unfitIdentifier: "identifier of another type"
            case .contradiction: "object and identifier differ"
            case .conflict: "different values for one identity"
            case .duplicate: "identity repeated in the list"
            }
        let kind = found.map { ", \($0)" } ?? ""
        return "\(place): \(what), \(count) times, first in element \(firstIndex)\(kind)"
    }
}
