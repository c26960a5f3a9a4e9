import OneWayTestLimits
import SyncBase
import Testing

@Suite(.endsInTime) struct HMACSHA256Tests {
    struct Vector: CustomTestStringConvertible {
        let name: String
        let key: [UInt8]
        let message: [UInt8]
        let code: String

        var testDescription: String { name }
    }

    /// The test cases of RFC 4231, section 4. Case 5 has a truncated code.
    static let vectors = [
        Vector(
            name: "1", key: Array(repeating: 0x0B, count: 20), message: Array("Hi There".utf8),
            code: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        Vector(
            name: "2", key: Array("Jefe".utf8), message: Array("what do ya want for nothing?".utf8),
            code: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        Vector(
            name: "3", key: Array(repeating: 0xAA, count: 20), message: Array(repeating: 0xDD, count: 50),
            code: "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
        Vector(
            name: "4", key: Array(1...25), message: Array(repeating: 0xCD, count: 50),
            code: "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
        Vector(
            name: "5", key: Array(repeating: 0x0C, count: 20), message: Array("Test With Truncation".utf8),
            code: "a3b6167473100ee06e0c796c2955552b"),
        Vector(
            name: "6", key: Array(repeating: 0xAA, count: 131),
            message: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            code: "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
        Vector(
            name: "7", key: Array(repeating: 0xAA, count: 131),
            message: Array(
                ("This is a test using a larger than block-size key and a larger than block-size data. "
                    + "The key needs to be hashed before being used by the HMAC algorithm.").utf8),
            code: "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
    ]

    @Test(arguments: vectors)
    func theCodeIsThatOfTheStandard(vector: Vector) {
        var code = HMACSHA256(key: vector.key)
        code.update(vector.message)
        #expect(Hexadecimal.text(of: code.code()).hasPrefix(vector.code))
    }

    @Test func onlyTheWholeCodeIsValid() throws {
        var code = HMACSHA256(key: Array("key".utf8))
        code.update("message".utf8)
        let valid = code.code()
        #expect(code.isValid(valid))
        for index in valid.indices {
            var other = valid
            other[index] ^= 1
            #expect(!code.isValid(other))
        }
        #expect(!code.isValid([]))
        #expect(!code.isValid(Array(valid.dropLast())))
        #expect(!code.isValid(valid + [0]))
    }

    /// The codes of "message" with the key 0, 1, 2, …, as Python's hmac computes them. A key that
    /// is longer than a block of 64 bytes is replaced by its digest.
    @Test(arguments: [
        (63, "b86ea50d9f23f008fd5904193ccdc892ff333e26cf44153a03dfae39c8d0eafb"),
        (64, "eb97f15211c02e38e3213edb045e8301601867c1cd49df01c687eb04f8909e98"),
        (65, "2d55f05a56fff8d5ba47a50eb1c006240377002f70e09d8862f8a5cb1c880e4a"),
    ]) func aKeyCanFillItsBlock(byteCount: UInt8, expected: String) {
        var code = HMACSHA256(key: Array(0..<byteCount))
        code.update("message".utf8)
        #expect(Hexadecimal.text(of: code.code()) == expected)
    }
}
