import Foundation
import HTTPTransfer
import OneWayTestLimits
import Testing

/// Credentials that a server sends back.
@Suite(.endsInTime) struct SentSecretsTests {
    private static let url = URL(string: "https://me:pass%20word@host/list?api_key=key%2B1234&page=2")
    private static let headers: HTTPHeaders = [
        "Authorization": "Bearer tok/en+12345==", "Cookie": "a=cookie-1; b=\"cookie-2\"", "Accept": "application/json",
        "X-Tenant": "acme", "X-Api-Key": "k4y!",
    ]

    private func secrets() throws -> SentSecrets {
        SentSecrets(allOf: [Self.headers], url: try #require(Self.url))
    }

    static let echoes = [
        "tok/en+12345==", "Bearer tok/en+12345==", #"tok\/en+12345=="#, "tok%2Fen%2B12345%3D%3D",
        "tok%2fen%2b12345%3d%3d", "tok%252Fen%252B12345%253D%253D", "%74%6f%6b%2f%65%6e%2b%31%32%33%34%35%3d%3d",
        #"tok\u002Fen\u002b12345=="#, "tok&#47;en&#x2B;12345==", "746f6b2f656e2b31323334353d3d",
        "746F6B2F656E2B31323334353D3D", "cookie-1", "cookie-2", "k4y!", "pass word", "pass%20word", "key+1234",
    ]

    @Test(arguments: echoes) func anEchoIsRedacted(echo: String) throws {
        #expect(try secrets().redacted("<\(echo)>") == "<[redacted]>")
    }

    /// An escape at the end of a text, whole and cut.
    @Test(arguments: [
        (#"no k4y\!"#, "no [redacted]"), (#"no tok\"#, #"no tok\"#), ("no tok%", "no tok%"), ("no tok%2", "no tok%2"),
        (#"no tok\u00"#, #"no tok\u00"#), ("no tok&#4", "no tok&#4"),
    ])
    func anEscapeCanBeTheEnd(text: String, shown: String) throws {
        #expect(try secrets().redacted(text) == shown)
    }

    @Test(arguments: ["", "x", "xy", "user:", "{\"token\":\""], ["", "z", "\"}"])
    func base64IsFoundWhereverItBegins(before: String, after: String) throws {
        let plain = Data((before + "tok/en+12345==" + after).utf8).base64EncodedString()
        for text in [plain, plain.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")] {
            let shown = try secrets().redacted("auth \(text)")
            #expect(shown.contains("[redacted]"))
            // What is left is less than a quarter of the token.
            #expect(!shown.contains(text.dropFirst(text.count / 2 - 2).prefix(5)))
        }
    }

    /// Both forms of the digits with the values 62 and 63.
    @Test(arguments: ["fn5+Pz8/Pj4+", "fn5-Pz8_Pj4-"]) func bothAlphabetsOfBase64AreFound(echo: String) throws {
        let secrets = SentSecrets(
            allOf: [["Authorization": "Bearer ~~~???>>>"]], url: try #require(URL(string: "https://host/")))
        #expect(secrets.redacted("auth \(echo)") == "auth [redacted]")
    }

    @Test func basicCredentialsAreFoundDecoded() throws {
        let header = "Basic " + Data("user:pa55word".utf8).base64EncodedString()
        let secrets = SentSecrets(allOf: [["Authorization": header]], url: try #require(URL(string: "https://host/")))
        #expect(secrets.redacted("user:pa55word or pa55word") == "[redacted] or [redacted]")
    }

    /// Some servers take a key in place of a user's name.
    @Test func aUserWithoutAPasswordIsACredential() throws {
        let url = try #require(URL(string: "https://sk_test_1234@host/"))
        #expect(SentSecrets(allOf: [[:]], url: url).redacted("no sk_test_1234") == "no [redacted]")
        let host = try #require(URL(string: "https://host/"))
        let secrets = SentSecrets(allOf: [url.authorization], url: host)
        #expect(secrets.redacted("no sk_test_1234") == "no [redacted]")
    }

    @Test(arguments: [
        "key", "api_key", "apikey", "apiKey", "API-Key", "hapikey", "app_key", "subscription-key", "appid", "pin",
        "pwd",
        "Ocp-Apim-Subscription-Key", "token", "access_token", "private_token", "api_token", "refresh_token",
        "authToken",
        "auth", "authorization", "oauth_signature", "client_secret", "consumer_secret", "password", "pass", "sig",
        "signature", "X-Goog-Signature", "X-Amz-Credential", "X-Amz-Security-Token", "session", "jwt",
        "jsessionid", "PHPSESSID",
    ])
    func aParameterOfThisNameIsACredential(name: String) throws {
        #expect(SecretName.isSecret(name))
        let url = try #require(URL(string: "https://host/list?page=2&\(name)=12345678"))
        #expect(url.displayName == "https://host/list?page=2&\(name)=…")
        let bare = try #require(URL(string: "https://host/list?page=2&\(name)"))
        #expect(bare.displayName == "https://host/list?page=2&…")
        #expect(SentSecrets(allOf: [[:]], url: url).redacted("not 12345678") == "not [redacted]")
    }

    @Test(arguments: [
        "", "page", "page_token", "pageToken", "nextPageToken", "next_token", "syncToken", "$skiptoken", "$deltatoken",
        "continuationToken", "startkey", "exclusiveStartKey", "last_key", "sort_key", "resumptionToken", "keyword",
        "keywords", "author", "design", "compass", "tokens", "since", "cursor",
    ])
    func aParameterOfThisNameIsNoCredential(name: String) {
        #expect(!SecretName.isSecret(name))
    }

    /// A client is told the names that do not say what they are.
    @Test func aParameterCanBeDeclaredACredential() async throws {
        let server = ScriptedServer { _, _ in
            HTTPResponse(status: 403, bytes: Array("no access for 12345678".utf8))
        }
        let url = try #require(URL(string: "https://host/list?k=12345678&page=2"))
        let client = HTTPClient(transport: server, secretParameters: ["k"])
        let error = await #expect(throws: HTTPError.self) { try await client.data(from: url) }
        #expect(error?.debugDescription == "https://host/list?k=…&page=2: status 403: no access for [redacted]")
        #expect(server.requests.first?.url == url)
    }

    /// The text that is kept of a body can end anywhere.
    @Test(arguments: 4...13) func aCredentialThatIsCutIsRedacted(count: Int) throws {
        let cut = Array("token: tok/en+12345==".utf8.prefix(7 + count))
        #expect(try String(decoding: secrets().redacted(cut), as: UTF8.self) == "token: [redacted]")
    }

    @Test(arguments: [
        "application/json", "acme", "page 2", "a token", "Bearer", "tok/en", "100%", "a%2", #"\u00"#, "&amp",
    ])
    func otherWordsStay(word: String) throws {
        #expect(try secrets().redacted("<\(word)>") == "<\(word)>")
    }

    @Test func anErrorNamesNoCredential() throws {
        let url = try #require(URL(string: "https://host/tok%2Fen+12345==/list"))
        let error = try secrets().error(
            at: url, .unsuitableJSON("key tok/en+12345==", firstLine: #"{"tok\/en+12345=="}"#))
        #expect(error.debugDescription == #"https://host/…/list: key [redacted]: {"[redacted]"}"#)
    }

    /// A credential of four bytes is the shortest that is hidden; one of three is a common word.
    @Test(arguments: [(3, false), (4, true), (5, true)])
    func theShortestCredentialIsFoundInEveryForm(count: Int, isHidden: Bool) throws {
        let secret = String("k4y!9".prefix(count))
        let secrets = SentSecrets(allOf: [["X-Api-Key": secret]], url: try #require(URL(string: "https://host/")))
        let hexadecimal = secret.utf8.map { String($0, radix: 16) }.joined()
        #expect(secrets.redacted("<\(secret)>") == (isHidden ? "<[redacted]>" : "<\(secret)>"))
        #expect(secrets.redacted("<\(hexadecimal)>") == (isHidden ? "<[redacted]>" : "<\(hexadecimal)>"))
        for before in ["", "x", "xy"] {
            let base64 = Data((before + secret + "..").utf8).base64EncodedString()
            // After one byte, only four digits of the shortest one are sure, which are common.
            let isSure = isHidden && (count > 4 || before.utf8.count != 1)
            #expect(secrets.redacted("<\(base64)>").contains("[redacted]") == isSure, "after \(before)")
        }
    }
}
