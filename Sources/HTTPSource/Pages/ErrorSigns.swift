import JSONMapper
import StoreSync

/// Signs of an error or of an incomplete list in a response with a successful status, by the usual
/// names in the usual places: members at the root of the document and beside the list.
///
/// They are a doubt, not an error, because other servers may use the names for something else.
struct ErrorSigns: Sendable {
    /// What a member of a usual name may say.
    private enum Meaning: Sendable {
        /// A value that is not empty reports an error.
        case report
        /// False reports an error.
        case success
        /// A text for a failure reports an error, and so does a status of an error (RFC 9110,
        /// section 15) beside an empty list.
        case status
        /// True reports an incomplete list.
        case incomplete
    }

    /// The meanings of the usual names, which are compared as `JSONNameProbe` does.
    private static let meanings: [(name: String, meaning: Meaning)] = [
        ("error", .report), ("errors", .report), ("error_messages", .report), ("success", .success), ("ok", .success),
        ("status", .status), ("status_code", .status), ("code", .status), ("partial", .incomplete),
        ("timed_out", .incomplete), ("incomplete_results", .incomplete), ("incomplete", .incomplete),
    ]
    /// The texts that report an error, in lowercase.
    private static let failures: Set<String> = ["error", "fail", "failure", "failed"]

    /// The key paths of members, and what they may say.
    private let members: [(keyPath: String, meaning: Meaning)]
    /// The key paths of values whose meaning the API states.
    private let stated: Set<String>
    /// How sentences write a setting.
    private let adviceText: @Sendable (HTTPAPI.Advice) -> String

    /// Creates the signs for a list; nil if the source has a check of its own, or if nothing is
    /// beside the list.
    ///
    /// - Parameter keyPath: The key path of the list.
    init?(_ source: HTTPJSONSource, beside keyPath: String) {
        let places = UnreadPages.places(beside: keyPath)
        guard source.api.check == nil, !source.api.format.isOpenEnded, !places.isEmpty else { return nil }
        members = places.flatMap { place in Self.meanings.map { (keyPath: place + $0.name, meaning: $0.meaning) } }
        stated = Set(Self.steeringKeyPaths(of: source.api))
        adviceText = source.api.adviceText
    }

    /// The key paths of values whose meaning the API states.
    private static func steeringKeyPaths(of api: HTTPAPI) -> [String] {
        var keyPaths = api.pages.captures
        keyPaths += [api.totalKeyPath, api.totalRelationKeyPath, api.delta?.cursor.pageKeyPath].compactMap(\.self)
        if case .list(let keyPath) = api.delta?.tombstones { keyPaths.append(keyPath) }
        return keyPaths
    }

    /// The key paths of values outside the objects that can be such a sign, by the names of their
    /// keys.
    var names: [String] { members.map(\.keyPath) }

    /// What a page may be, and the sign of it, without text of the response; nil if it has no sign.
    func sign(in facts: PageFacts) -> String? {
        let isEmpty = facts.elementCount == 0 && facts.tombstones.isEmpty
        for (keyPath, meaning) in members {
            for named in facts.values(named: keyPath) where !stated.contains(named.keyPath) {
                guard let sign = Self.sign(named, meaning, isEmpty: isEmpty) else { continue }
                return "\(sign) (\(adviceText(.check)) states what an error is)"
            }
        }
        return nil
    }

    private static func sign(_ named: PageFacts.Named, _ meaning: Meaning, isEmpty: Bool) -> String? {
        let (keyPath, value) = (named.keyPath, named.value)
        switch meaning {
        case .report: return value.isFilled ? "may report an error: \(keyPath) is \(value.kindName)" : nil
        case .success: return value.isFalse ? "may report an error: \(keyPath) is false" : nil
        case .status:
            if let number = value.wholeNumber {
                return isEmpty && (400...599).contains(number) ? "may report an error: \(keyPath) is \(number)" : nil
            }
            guard case .string(let text) = value else { return nil }
            let status = text.lowercased()
            return failures.contains(status) ? "may report an error: \(keyPath) is \(status)" : nil
        case .incomplete: return value.isTrue ? "may be incomplete: \(keyPath) is true" : nil
        }
    }
}
