import Testing

@testable import Demo

@Suite struct SafeNameTests {
    @Test(arguments: [
        ("plain-name_1.txt", "plain-name_1.txt"),
        ("README.md", "!r!e!a!d!m!e.md"),
        ("a/b", "a%2fb"),
        ("../../etc/passwd", "%2e.%2f..%2fetc%2fpasswd"),
        ("", "%_"),
        (".", "%2e"),
        ("..", "%2e%2e"),
        (".mirror", "%2emirror"),
        ("-rf", "%2drf"),
        ("a.", "a%2e"),
        ("a b", "a%20b"),
        ("\0", "%00"),
        ("con", "%63on"),
        ("nul.txt", "%6eul.txt"),
        ("CON", "!c!o!n"),
        ("previews", "%70reviews"),
        ("é", "%c3%a9"),
        ("100%", "100%25"),
        ("!a", "%21a"),
    ])
    func aKeyHasItsName(key: String, name: String) {
        #expect(SafeName.of(MirrorKey(key)) == name)
    }

    @Test func differentKeysHaveNamesThatDifferInMoreThanCase() {
        let long = String(repeating: "x", count: 10_000)
        let keys =
            ["a", "A", "!a", "%21a", "é", "e\u{301}", "É", "E\u{301}", "a/b", "a%2fb", "a%2Fb", "", "%_", " ", "\0"]
            + [long, long + "y", long + "Y", String(repeating: "A", count: 100), String(repeating: "A", count: 101)]
            + [".", "..", "...", "con", "CON", "Con", "%63on", "~", "a~b"]
        let names = Set(keys.map { SafeName.of(MirrorKey($0)) })
        #expect(Set(names.map { $0.lowercased() }).count == keys.count)
        #expect(names.allSatisfy { $0 == $0.lowercased() })
    }

    @Test func everyNameIsShortAsciiThatStaysInItsFolder() {
        for scalar in (0..<0x300 as Range<UInt32>).compactMap(Unicode.Scalar.init) {
            for key in ["\(scalar)", "\(scalar)\(scalar)", "a\(scalar)", String(repeating: "\(scalar)", count: 300)] {
                let name = SafeName.of(MirrorKey(key))
                #expect((1...200).contains(name.utf8.count))
                #expect(name.utf8.allSatisfy { (0x21...0x7E).contains($0) })
                #expect(!name.contains("/") && !name.contains("\\") && !name.contains(":"))
                #expect(!name.hasPrefix(".") && !name.hasSuffix("."))
            }
        }
    }
}
