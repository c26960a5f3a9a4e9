import JSONMapper
import SyncModel

/// The type of an attribute for the values under a key.
struct InferredType {
    let type: AttributeType
    /// The annotations with which an export writes the values as they were.
    var userInfo: [String: String] = [:]
    /// Why the values are kept as JSON; nil if they have another type.
    var reason: InferredModel.Finding.JSONReason?

    static func json(_ reason: InferredModel.Finding.JSONReason) -> InferredType {
        InferredType(type: .json, reason: reason)
    }
}

extension ShapeProperty {
    /// The narrowest type that holds all values, as they were written.
    var inferredType: InferredType {
        if kinds.isEmpty {
            return InferredType(type: .string, userInfo: [JSONDialect.untypedAnnotation: "YES"])
        }
        if kinds.contains(.unexamined) { return .json(.limit) }
        if kinds == .boolean { return InferredType(type: .bool) }
        if kinds.isSubset(of: .strings) { return textType }
        if kinds.isSubset(of: .numbers) { return numberType }
        if kinds.isSubset(of: [.emptyArray]) || kinds.isSubset(of: [.emptyObject]) { return .json(.empty) }
        if kinds.isSubset(of: .arrays) { return .json(.array) }
        return .json(kinds.isMixed ? .mixed : .map)
    }

    private var textType: InferredType {
        switch kinds {
        case .lowercaseUUID:
            return InferredType(type: .uuid, userInfo: [SyncAttribute.letterCaseAnnotation: "lower"])
        case .uppercaseUUID: return InferredType(type: .uuid)
        default:
            guard let style = dateStyle else { return InferredType(type: .string) }
            return style.isDefault
                ? InferredType(type: .date)
                : InferredType(type: .date, userInfo: [JSONDialect.dateFormatAnnotation: style.pattern])
        }
    }

    private var numberType: InferredType {
        if let format = epochFormat {
            return InferredType(type: .date, userInfo: [JSONDialect.dateFormatAnnotation: format])
        }
        if kinds == .integer { return InferredType(type: .int64) }
        if kinds.contains(.endlessNumber) { return .json(.number) }
        guard !hasLongIntegers, kinds.isDisjoint(with: [.largeInteger, .longNumber]) else {
            return kinds.contains(.extremeNumber) ? .json(.number) : InferredType(type: .decimal)
        }
        let writesIntegers = kinds.contains(.integer) && !kinds.contains(.wholeFraction)
        return InferredType(
            type: .double, userInfo: writesIntegers ? [JSONDialect.wholeNumbersAnnotation: "YES"] : [:])
    }

    /// Whether a 64-bit integer is beyond 2⁵³, up to which doubles represent every integer.
    var hasLongIntegers: Bool {
        kinds.contains(.integer) && max(minimum.magnitude, maximum.magnitude) > 1 << 53
    }

    // MARK: Unix timestamps

    private static let timeWords: Set<String> = [
        "at", "time", "timestamp", "ts", "date", "datetime", "dt", "created", "updated", "modified", "published",
        "expires", "expiry", "utc", "sunrise", "sunset", "since", "until", "deadline", "birthday", "millis", "epoch",
    ]
    private static let looseTimeWords: Set<String> = ["start", "end", "begin", "finish", "ms", "on", "seen"]

    /// The format of the numbers as Unix timestamps; nil unless the name and the range indicate
    /// times between 1990 and 2100.
    private var epochFormat: String? {
        guard kinds == .integer || kinds == .wholeFraction else { return nil }
        let words = (JSONKey.snakeCase(name) ?? name).lowercased().split(separator: "_").map(String.init)
        let isTime = words.contains { Self.timeWords.contains($0) }
        if minimum >= 631_152_000, maximum <= 4_102_444_800, isTime {
            return kinds == .integer ? "epochSeconds" : "epochSeconds.0"
        }
        if kinds == .integer, minimum >= 631_152_000_000, maximum <= 4_102_444_800_000,
            isTime || words.contains(where: { Self.looseTimeWords.contains($0) })
        {
            return "epochMilliseconds"
        }
        return nil
    }
}
