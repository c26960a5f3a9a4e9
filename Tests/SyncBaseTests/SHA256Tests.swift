import OneWayTestLimits
import SyncBase
import Testing

@Suite(.endsInTime) struct SHA256Tests {
    /// The examples that NIST publishes for FIPS 180-4, and the empty message.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
        ),
    ])
    func theDigestIsThatOfTheStandard(message: String, digest: String) {
        #expect(Hexadecimal.text(of: SHA256.digest(of: message.utf8)) == digest)
    }

    @Test func aMillionLettersInPiecesHaveTheDigestOfTheStandard() {
        let piece = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000)
        var hash = SHA256()
        for _ in 0..<1_000 { hash.update(piece) }
        #expect(
            Hexadecimal.text(of: hash.digest()) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    /// The digest of the digests of the first 257 beginnings of the bytes 0…250, repeated, as
    /// Python's hashlib computes it.
    @Test func everyLengthIsPaddedRight() {
        let bytes = (0..<256).map { UInt8($0 % 251) }
        var hash = SHA256()
        for count in 0...256 { hash.update(SHA256.digest(of: bytes.prefix(count))) }
        #expect(
            Hexadecimal.text(of: hash.digest()) == "4c0384cbd3c2f144d0f3201210c48cf88c1e45e9a8f1f1aae791983835b2ba44")
    }

    @Test func piecesHaveTheDigestOfTheWhole() {
        let bytes = (0..<200).map { UInt8($0) }
        let whole = SHA256.digest(of: bytes)
        for cut in 0...bytes.count {
            var hash = SHA256()
            hash.update(bytes[..<cut])
            // A digest on the way changes nothing.
            _ = hash.digest()
            // Not contiguous in memory.
            hash.update(AnySequence(bytes[cut...]))
            #expect(hash.digest() == whole)
        }
    }
}
