import OneWaySynchronizer
import OneWayTestLimits
import Testing

@testable import SyncFolder

/// The files that keys stand for.
@Suite(.endsInTime) struct FilePathTests {
    @Test(arguments: [
        "README.md", "plain-name_1.txt", "a b", " a ", "a.", "CON", "nul.txt", "previews", ".gitignore", "...", "100%",
        "50% off", "!a", "~", "-rf", "a:b", "a\\b", "a*?<>|\"", "\u{e9}", "e\u{301}",
        "\u{1F4F7}.jpg", "a/b", "a/b/c.txt", ".mirrors", "a/.mirror", "\u{212A}",
    ]) func anOrdinaryNameIsUnchanged(key: String) {
        #expect(SyncKey(FilePath(of: SyncKey(key)).text) == SyncKey(key))
    }

    @Test(arguments: [
        ("", "%_"), ("/", "%_/%_"), ("/etc/passwd", "%_/etc/passwd"), ("a//b", "a/%_/b"), ("a/", "a/%_"),
        (".", "%2E"), ("..", "%2E."), ("../x", "%2E./x"), ("a/../../x", "a/%2E./%2E./x"), ("./a", "%2E/a"),
        (".mirror", "%2Emirror"), (".MIRROR/index", "%2EMIRROR/index"), ("\0", "%00"), ("a\nb", "a%0Ab"),
        ("\u{1B}[2J", "%1B[2J"), ("\u{7F}", "%7F"), ("a%20b", "a%2520b"), ("%_", "%25_"), ("%~", "%25~"),
        ("%%41", "%%2541"), ("%2e", "%252e"),
    ]) func whatANameCannotBeIsEncoded(key: String, path: String) {
        #expect(FilePath(of: SyncKey(key)).text == path)
    }

    @Test func aLongNameIsCutAndHasADigest() {
        let whole = FilePath(of: SyncKey(String(repeating: "x", count: 255)))
        #expect(whole.text == String(repeating: "x", count: 255))
        for piece in ["x", "\u{e9}", "\u{1F4F7}", "\u{1}", "%41", "e\u{301}"] {
            let long = String(repeating: piece, count: 300)
            let name = FilePath(of: SyncKey(long)).text
            #expect(name.utf8.count <= 255 && name.contains("%~") && !name.contains("\u{FFFD}"), "\(name)")
            #expect(name != FilePath(of: SyncKey(long + piece)).text)
        }
    }

    @Test(arguments: [("a/", 128), ("name/", 128), (String(repeating: "n", count: 200) + "/", 15), ("/", 128)])
    func theEndOfALongPathIsADigest(folder: String, count: Int) {
        let path = FilePath(of: SyncKey(String(repeating: folder, count: count - 1) + "b"))
        #expect(path.names.count == count && path.name == "b")
        let long = String(repeating: folder, count: 1_000)
        let places = ["b", "c", "", "b/", "b/c"].map { FilePath(of: SyncKey(long + $0)) }
        #expect(Set(places).count == places.count)
        for place in places {
            #expect(place.names.count == count + 1 && place.name.hasPrefix("%~") && place.name.utf8.count == 66)
            #expect(place.text.utf8.count <= 3_072 + 66)
        }
    }

    @Test func differentKeysHaveDifferentPlaces() {
        let long = String(repeating: "x", count: 10_000)
        let keys =
            [
                "a", "A", "%61", "a/b", "a%2fb", "a%2Fb", "", "%_", "%25_", " ", "\0", "%00", "%2500", ".", "%2E", "..",
                "%2E.",
            ]
            + ["%2E%2E", "...", "%", "%%", "%25", "%%00", "%2\0", "\u{e9}", "e\u{301}", ".mirror", "%2Emirror"]
            + [long, long + "y", "%", "%~", FilePath(of: SyncKey(long)).text, "a/", "a//", "/a", "//a"]
        let unique = Set(keys.map { SyncKey($0) })
        let paths = Set(unique.map { SyncKey(FilePath(of: $0).text) })
        #expect(paths.count == unique.count)
    }

    @Test func everyNameIsOneThatTheSystemCanHave() {
        for scalar in (0..<0x300 as Range<UInt32>).compactMap(Unicode.Scalar.init) {
            for key in ["\(scalar)", "\(scalar)\(scalar)", "a/\(scalar)", String(repeating: "\(scalar)", count: 300)] {
                for name in FilePath(of: SyncKey(key)).names {
                    #expect((1...255).contains(name.utf8.count))
                    #expect(name != "." && name != ".." && !name.contains("/"))
                    #expect(name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F })
                }
            }
        }
    }

    // MARK: Collisions

    @Test(arguments: [
        ["a", "a/b"], ["a/b/c", "x", "a/b"], ["a/b", "a"], ["", "/x"],
    ]) func aFileInThePlaceOfAFolderIsACollision(keys: [String]) {
        for ignoresCase in [false, true] {
            #expect(throws: FolderError.self) {
                try NameCollisions.check(keys.map { SyncKey($0) }, ignoresCase: ignoresCase)
            }
        }
    }

    @Test(arguments: [
        ["a", "A"], ["README.md", "x", "readme.md"], ["\u{e9}", "e\u{301}"], ["A/x", "a/y"], ["a/b", "A"],
        ["STRASSE/\u{c9}", "strasse/e\u{301}"],
    ]) func spellingsCollideWhereTheFileSystemIgnoresThem(keys: [String]) throws {
        let keys = keys.map { SyncKey($0) }
        #expect(throws: FolderError.self) { try NameCollisions.check(keys, ignoresCase: true) }
        if keys != ["a/b", "A"] { try NameCollisions.check(keys, ignoresCase: false) }
    }

    @Test func aFileOfAnotherKeyObstructsAFolderAndTheReverse() throws {
        for ignoresCase in [false, true] {
            var places = PlaceTree(ignoresCase: ignoresCase)
            for key in ["a/b/c", "d"] as [SyncKey] { try places.add(key) }
            for key in ["a", "a/b", "a/b/c", "d", "d/x", "d/x/y"] as [SyncKey] {
                #expect(places.isObstructed(by: key), "\(key)")
            }
            for key in ["b", "a/c", "a/b/d", "e/d", "x/a/b"] as [SyncKey] {
                #expect(!places.isObstructed(by: key), "\(key)")
            }
            #expect(places.isObstructed(by: "A/B") == ignoresCase && places.isObstructed(by: "D/x") == ignoresCase)
        }
    }

    @Test func ordinaryListsHaveNoCollisions() throws {
        let keys: [SyncKey] = ["a/b", "a/c", "b", "a/d/e", "a/d/f", "ab", "a b", "a/b"]
        for ignoresCase in [false, true] { try NameCollisions.check(keys, ignoresCase: ignoresCase) }
    }

    /// 180 bytes stay of a name of more than 255, or fewer, so that no escape and no scalar is cut.
    @Test(arguments: [
        (String(repeating: "x", count: 255), 255), (String(repeating: "x", count: 256), 180),
        (String(repeating: "x", count: 252) + "\n", 255), (String(repeating: "x", count: 253) + "\n", 180),
        (String(repeating: "x", count: 177) + "\n" + String(repeating: "x", count: 100), 180),
        (String(repeating: "x", count: 178) + "\n" + String(repeating: "x", count: 100), 178),
        (String(repeating: "x", count: 179) + "\n" + String(repeating: "x", count: 100), 179),
        (String(repeating: "x", count: 180) + "\n" + String(repeating: "x", count: 100), 180),
        (String(repeating: "x", count: 178) + "\u{e9}" + String(repeating: "x", count: 100), 180),
        (String(repeating: "x", count: 179) + "\u{e9}" + String(repeating: "x", count: 100), 179),
        (String(repeating: "x", count: 177) + "\u{1F4F7}" + String(repeating: "x", count: 100), 177),
    ]) func aNameIsCutBetweenItsCharacters(key: String, byteCount: Int) {
        let name = FilePath(of: SyncKey(key)).text
        let isCut = name.contains("%~")
        #expect(isCut == (byteCount < 255) && name.utf8.count == (isCut ? byteCount + 66 : byteCount))
        #expect(name.utf8.prefix(min(byteCount, 177)).elementsEqual(key.utf8.prefix(min(byteCount, 177))))
    }

    @Test(arguments: [(3_071, false), (3_072, true)]) func aPathHasAtMost3072Bytes(byteCount: Int, isCut: Bool) {
        // Each name counts with the slash behind it.
        let folders = String(repeating: String(repeating: "n", count: 255) + "/", count: 11)
        let key = folders + String(repeating: "n", count: 200) + "/" + String(repeating: "m", count: byteCount - 3_017)
        #expect(key.utf8.count == byteCount)
        #expect(FilePath(of: SyncKey(key)).text.contains("%~") == isCut)
    }

    @Test(arguments: [
        ("gz", ["gzip", "x-gzip"]), ("tgz", ["gzip", "x-gzip"]), ("bz2", ["bzip2", "x-bzip2"]),
        ("tbz", ["bzip2", "x-bzip2"]), ("tbz2", ["bzip2", "x-bzip2"]), ("xz", ["xz", "x-xz"]),
        ("txz", ["xz", "x-xz"]), ("zst", ["zstd"]), ("br", ["br"]), ("Z", ["compress", "x-compress"]), ("zip", []),
        ("", []),
    ]) func theNameOfAFileHasItsCompression(suffix: String, encodings: [String]) {
        for key in ["a.\(suffix)", "b.gz/a.b.\(suffix)", ".\(suffix.uppercased())"] {
            #expect(CompressedName.encodings(of: SyncKey(key)) == Set(encodings))
        }
        #expect(CompressedName.encodings(of: SyncKey("a.\(suffix)/")).isEmpty)
        #expect(CompressedName.encodings(of: SyncKey(suffix)).isEmpty)
    }
}
