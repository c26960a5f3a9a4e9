import JSONMapper
import ModelInference
import OneWayTestLimits
import SyncModel
import Testing

/// Objects whose keys are data, which are kept as JSON.
@Suite(.endsInTime) struct InferredMapTests {
    /// A file that is one object of objects of one shape, such as an export of Firebase.
    @Test(arguments: ["-Nx1 -Nx2 -Nx3 -Ny4", "A00.0 A00.1 B10.2 C00.9", "alice bob carol dave"])
    func anObjectOfObjectsOfOneShapeIsNoEntityPerKey(keys: String) throws {
        let members = keys.split(separator: " ").map { #""\#($0)": {"name": "x", "age": 1, "roles": [{"a": 1}]}"# }
        let model = try DataModel.inferred(from: "{\(members.joined(separator: ","))}", entity: "Root")
        #expect(model.entities.map(\.name) == ["Root"])
        let few = try DataModel.inferred(from: "{\(members.prefix(3).joined(separator: ","))}", entity: "Root")
        #expect(few.entities.count > 3)
    }

    @Test func aDictionaryIsKeptWhole() throws {
        let entries = (0..<300).map { #""key\#($0)": {"a": 1}"# }.joined(separator: ",")
        let model = try DataModel.inferred(from: #"{"id": 1, "byName": {\#(entries)}}"#, entity: "Root")
        #expect(model.entities.map(\.name) == ["Root"])
        #expect(model.layouts[0].attributes.map(\.type) == [.int64, .json])
        let whole = try DataModel.inferred(from: "{\(entries)}", entity: "Root")
        #expect(whole.layouts[0].attributes.map(\.name) == ["contentHash", "otherKeys"])
    }

    /// Otherwise nothing would identify the only object, and each sync would replace it.
    @Test(arguments: ["id", "rootCode"]) func aDictionaryWithAUsualKeyIsIdentifiedByIt(key: String) throws {
        let entries = (0..<100).map { #""k\#($0)": \#($0)"# }.joined(separator: ",")
        let json = #"[{"\#(key)": 1, \#(entries)}]"#
        let inferred = try InferredModel(
            from: JSONReader(bytes: Array(json.utf8), layout: .array()), entity: "Root")
        let layout = inferred.model.layouts[0]
        #expect(layout.attributes.map(\.name) == [key, "otherKeys"])
        #expect(layout.identityColumns.map { layout.attributes[$0].name } == [key])
        #expect(inferred.findings.map(\.kind) == [.json(.map)])
    }

    /// Objects with keys, all with the value 1, just below, at and above each limit of a map.
    @Test(arguments: [
        // Data: the first digit and the last, the characters beside them, paths and addresses.
        ("0x", true), ("9x", true), ("/x", true), (":x", false), ("a/b", true), ("a@b", true), ("ab", false),
        // At least twenty hexadecimal digits.
        ("abcdefabcdefabcdefa", false), ("abcdefabcdefabcdefab", true), ("abcdefabcdefabcdefag", false),
        ("abcdefab-abcd-abcd-abcd", true), ("P31", true), ("P3a", false), ("p31", false), ("PP1", false),
        // Nine of ten keys are data.
        ("1 2 3 4 5 6 7 8 9 zz", true), ("1 2 3 4 5 6 7 8 yy zz", false), ("1 2 3 4 5 6 7 8 zz", false),
        // Three codes, of two or three letters.
        ("en fr", false), ("en fr de", true), ("en|fr", true), ("en fr|en fr", false), ("USD EUR GBP", true),
        ("US DE FR", true), ("USDT EURO GBPX", false), ("U E G", false), ("en-US de-DE fr-FR", true),
        ("en-us de-de fr-fr", false), ("EN-US DE-DE FR-FR", false), ("eng-US deu-DE fra-FR", false),
        ("en-USA de-DEU fr-FRA", false), ("en--US de--DE fr--FR", false), ("en fr zz", false),
        // More than two names; each object has at most half of them.
        ("aa bb|cc", true), ("aa bb|bb cc", false), ("aa|bb", false), ("aa bb cc", false),
    ])
    func objectsWhoseKeysAreDataAreMaps(keys: String, isMap: Bool) throws {
        let values = keys.split(separator: "|").map { object in
            "{" + object.split(separator: " ").map { #""\#($0)":1"# }.joined(separator: ",") + "}"
        }
        #expect(try DataModel.inferredType(ofValues: values.joined(separator: "|")) == (isMap ? .json : nil))
    }

    /// Objects under names, from four names on; nine of ten resemble the widest.
    @Test(arguments: [
        (3, 0, "aa", false), (4, 0, "aa", true), (9, 1, "1", true), (8, 2, "1", false), (18, 2, "1", true),
        (17, 3, "1", false),
    ])
    func objectsUnderNamesAreThoseOfAMap(count: Int, otherCount: Int, prefix: String, isMap: Bool) throws {
        let members =
            (0..<count).map { #""\#(prefix)\#($0)x":{"a":1,"b":1,"c":1}"# }
            + (0..<otherCount).map { #""\#(prefix)\#($0)y":{"z":1}"# }
        #expect(try DataModel.inferredType(ofValues: "{\(members.joined(separator: ","))}") == (isMap ? .json : nil))
    }

    /// Forty names in one object, or in objects that have less than nine tenths of them.
    @Test(arguments: [([39], false), ([40], true), ([40, 40], false), ([40, 31], true), ([40, 32], false)])
    func manyNamesAreThoseOfAMap(counts: [Int], isMap: Bool) throws {
        let values = counts.map { count in
            "{"
                + (0..<count).map {
                    #""name\#(String(UnicodeScalar(UInt8(97 + $0 / 20))))\#(String(UnicodeScalar(UInt8(97 + $0 % 20))))":1"#
                }
                .joined(separator: ",") + "}"
        }
        #expect(try DataModel.inferredType(ofValues: values.joined(separator: "|")) == (isMap ? .json : nil))
    }

    /// Four objects under names, or two under codes.
    @Test(arguments: [("ab cd ef", false), ("ab cd ef gh", true), ("en fr", true), ("ab cd", false)])
    func namedObjectsOfOneShapeAreThoseOfAMap(keys: String, isMap: Bool) throws {
        let members = keys.split(separator: " ").map { #""\#($0)":{"v":1,"w":"x"}"# }
        #expect(try DataModel.inferredType(ofValues: "{\(members.joined(separator: ","))}") == (isMap ? .json : nil))
    }
}
