import JSONMapper
import StoreSync

/// Signs of an error or of an incomplete list in a response with a successful status, by the usual
/// names in the usual places: members at the root of the document and beside the list.
///
/// They are a doubt, not an error, because other servers may use the names for something else.
struct ErrorSigns: Sendable {
    /// A value that may be a sign.
    private struct Member: Sendable {
        let name: String
        let keyPath: String
    }

    private static let names = [
        "error", "errors", "success", "ok", "status", "partial", "timed_out", "incomplete_results", "incomplete",
    ]
    /// The values of `status` that report an error, in lowercase.
    private static let failures: Set<String> = ["error", "fail", "failure", "failed"]

    private let members: [Member]

    /// Creates the signs for a list; nil if the source has a check of its own, or if nothing is
    /// beside the list.
    ///
    /// - Parameter keyPath: The key path of the list.
    init?(_ source: HTTPJSONSource, beside keyPath: String) {
        let list = JSONKeyPath.list(at: keyPath).list
        guard source.api.check == nil, !source.api.format.isOpenEnded, let first = list.first, let last = list.last
        else { return nil }
        // The members on the way to the list are not beside it.
        var places = [(prefix: "", excluded: first)]
        if list.count > 1 { places.append((JSONKeyPath.text(of: Array(list.dropLast())) + ".", last)) }
        let steering = Self.steeringKeyPaths(of: source.api)
        members = places.flatMap { place in
            Self.names.filter { $0 != place.excluded }.map { Member(name: $0, keyPath: place.prefix + $0) }
        }.filter { !steering.contains($0.keyPath) }
    }

    /// The key paths of values whose meaning the API states.
    private static func steeringKeyPaths(of api: HTTPAPI) -> [String] {
        var keyPaths = api.pages.captures
        keyPaths += [api.totalKeyPath, api.totalRelationKeyPath, api.delta?.cursor.pageKeyPath].compactMap(\.self)
        if case .list(let keyPath) = api.delta?.tombstones { keyPaths.append(keyPath) }
        return keyPaths
    }

    /// The key paths of values outside the objects that can be such a sign.
    var captures: [String] { members.map(\.keyPath) }

    /// What a page may be, and the sign of it, without text of the response; nil if it has no sign.
    func sign(in captured: [String: JSONValue]) -> String? {
        for member in members {
            guard let value = captured[member.keyPath], let sign = Self.sign(member, value) else { continue }
            return "\(sign) (HTTPAPI.check states what an error is)"
        }
        return nil
    }

    private static func sign(_ member: Member, _ value: JSONValue) -> String? {
        let keyPath = member.keyPath
        switch member.name {
        case "error", "errors":
            return value.isFilled ? "may report an error: \(keyPath) is \(value.kindName)" : nil
        case "success", "ok":
            return value == .bool(false) ? "may report an error: \(keyPath) is false" : nil
        case "status":
            guard case .string(let text) = value else { return nil }
            let status = text.lowercased()
            return failures.contains(status) ? "may report an error: \(keyPath) is \(status)" : nil
        default:
            return value == .bool(true) ? "may be incomplete: \(keyPath) is true" : nil
        }
    }
}
