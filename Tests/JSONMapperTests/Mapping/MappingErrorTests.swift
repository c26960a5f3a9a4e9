import Foundation
import JSONMapper
import OneWayTestLimits
import SyncModel
import Testing

@Suite(.endsInTime) struct MappingErrorTests {
    /// Each reason, what is written, and what is read; nil for the reason itself.
    private static let reasons: [(MappingError.Problem.Reason, String, MappingError.Problem.Reason?)] = [
        (.unknownKey, #"{"kind":"unknownKey"}"#, nil),
        (.wrongType(.int64), #"{"kind":"wrongType","type":"int64"}"#, nil),
        (.outOfRange(.int16), #"{"kind":"outOfRange","type":"int16"}"#, nil),
        // The value may be personal data, and so may the text of an error.
        (
            .notAllowed("secret", allowed: ["a", 1]), #"{"allowed":["a",1],"kind":"notAllowed"}"#,
            .notAllowed("", allowed: ["a", 1])
        ),
        (.unreadableDate, #"{"kind":"unreadableDate"}"#, nil),
        (.missingMandatory, #"{"kind":"missingMandatory"}"#, nil),
        (.refused(by: "Trim", "secret"), #"{"by":"Trim","kind":"refused"}"#, .refused(by: "Trim", "")),
        (.refusedByStore("twice"), #"{"kind":"refusedByStore","text":"twice"}"#, nil),
        (.notAnObject, #"{"kind":"notAnObject"}"#, nil), (.noIdentity, #"{"kind":"noIdentity"}"#, nil),
    ]

    @Test func everyReasonIsReadAsItWasWritten() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        for (reason, text, read) in Self.reasons {
            let data = try encoder.encode(reason)
            #expect(String(decoding: data, as: UTF8.self) == text)
            #expect(try JSONDecoder().decode(MappingError.Problem.Reason.self, from: data) == read ?? reason)
        }
        let problem = MappingError.Problem(
            entity: "User", attribute: "age", keyPath: "a.b", index: 7, reason: .outOfRange(.int16))
        let data = try encoder.encode(problem)
        #expect(try JSONDecoder().decode(MappingError.Problem.self, from: data) == problem)
    }

    /// Only the description for debugging has a text that may contain the value.
    @Test func noReasonRevealsTheValue() {
        for (reason, _, read) in Self.reasons {
            #expect(!"\(reason)".contains("secret"))
            #expect(String(reflecting: reason) == "\(reason)" + (read == nil ? "" : ": secret"))
            #expect(read.map { String(reflecting: $0) == "\($0)" } ?? true)
        }
        #expect(Set(Self.reasons.map { "\($0.0)" }).count == Self.reasons.count)
        let error = MappingError.irreversible(entity: "User", attribute: "age", by: "Trim", "secret")
        #expect("\(error)" == "User.age cannot be exported: Trim refused the value")
        #expect(String(reflecting: error) == "\(error): secret")
    }

    @Test(
        arguments: [
            (nil, "", "User, element 2: "), ("age", "", "User.age, element 2: "),
            ("age", "a.b", "User.age, element 2 at a.b: "),
            (nil, "x", "User, element 2 at x: "),
        ] as [(String?, String, String)])
    func aProblemNamesItsPlace(attribute: String?, keyPath: String, place: String) {
        let problem = MappingError.Problem(
            entity: "User", attribute: attribute, keyPath: keyPath, index: 2, reason: .unreadableDate)
        #expect("\(problem)" == place + "the value is not a date")
        #expect("\(problem.moved(to: 5))" == "\(problem)".replacingOccurrences(of: "element 2", with: "element 5"))
    }
}
