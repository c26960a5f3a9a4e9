import Foundation
import OneWayTestLimits
import SyncBase
import Testing

/// Texts at the ends of errors.
@Suite(.endsInTime) struct ErrorTextTests {
    private struct Explained: LocalizedError {
        var errorDescription: String?
    }

    private struct Plain: Error {
        var number = 1
    }

    private struct Own: AreaError, LocalizedError, CustomStringConvertible {
        let errorArea = ErrorArea.program
        let description = "mine"
        let errorDescription: String? = "for a window"
    }

    @Test func anErrorIsDescribedByItsOwnText() {
        #expect(ErrorText.describing(Explained(errorDescription: "my text")) == "my text")
        #expect(ErrorText.describing(Explained()) == "Explained(errorDescription: nil)")
        #expect(ErrorText.describing(Explained(errorDescription: "")) == "Explained(errorDescription: Optional(\"\"))")
        #expect(ErrorText.describing(Plain()) == "Plain(number: 1)")
        #expect(ErrorText.describing(Own()) == "mine")
    }

    /// Foundation's errors describe themselves with everything that they know.
    @Test func anErrorOfFoundationIsDescribedByItsShortText() throws {
        let userInfo = ["token": "secret", NSLocalizedDescriptionKey: "the disk is away"]
        #expect(ErrorText.describing(NSError(domain: "D", code: 3, userInfo: userInfo)) == "the disk is away")
        for error in [
            NSError(domain: "D", code: 3, userInfo: ["token": "secret"]),
            CocoaError(.fileNoSuchFile, userInfo: ["token": "secret"]),
            POSIXError(.ENOENT, userInfo: ["token": "secret"]),
        ] as [any Error] {
            let text = ErrorText.describing(error)
            #expect(!text.contains("secret") && !text.contains("Domain="))
            #expect(text == error.localizedDescription)
        }
    }

    @Test func aStatementIsShownInOneShortLine() {
        #expect(ErrorText.place(in: nil) == "")
        #expect(ErrorText.place(in: "SELECT 1") == " in: SELECT 1")
        #expect(ErrorText.place(in: "SELECT a,\n       b\n") == " in: SELECT a, b")
        let exact = String(repeating: "a", count: 120)
        #expect(ErrorText.place(in: exact) == " in: " + exact)
        #expect(ErrorText.place(in: exact + "a") == " in: " + exact + "…")
        #expect(ErrorText.place(in: "a" + String(repeating: " ", count: 10_000) + "b") == " in: a…")
    }

    /// The errors of `Codable` show no value.
    @Test func anErrorOfCodableIsDescribedByItsPlace() {
        enum Key: String, CodingKey { case list, name }
        struct Place: CodingKey {
            let stringValue = "Index 3"
            let intValue: Int? = 3
            init() {}
            init?(stringValue: String) { nil }
            init?(intValue: Int) { nil }
        }
        let path: [any CodingKey] = [Key.list, Place(), Key.name]
        let (decoding, root) = (
            DecodingError.Context(codingPath: path, debugDescription: "secret"),
            DecodingError.Context(codingPath: [], debugDescription: "secret")
        )
        let encoding = EncodingError.Context(codingPath: path, debugDescription: "secret")
        let texts: [(any Error, String)] = [
            (DecodingError.keyNotFound(Key.name, root), "name is missing"),
            (DecodingError.keyNotFound(Key.name, decoding), "name is missing at list.3.name"),
            (DecodingError.valueNotFound(Int.self, decoding), "a value is missing at list.3.name"),
            (DecodingError.typeMismatch(Int.self, decoding), "the value is not of type Int at list.3.name"),
            (DecodingError.dataCorrupted(decoding), "the value is not valid at list.3.name"),
            (EncodingError.invalidValue("secret", encoding), "the value cannot be encoded at list.3.name"),
        ]
        for (error, text) in texts {
            #expect(ErrorText.codingProblem(error) == text && ErrorText.describing(error) == text)
        }
        #expect(ErrorText.codingProblem(Plain()) == nil)
    }
}
