import OneWayTestLimits
import SyncBase
import Testing

@Suite(.endsInTime) struct FingerprintTests {
    /// The published test values of FNV-1a, 64 bits.
    @Test(
        arguments: [
            ("", 0xCBF2_9CE4_8422_2325), ("a", 0xAF63_DC4C_8601_EC8C), ("foobar", 0x8594_4171_F739_67E8),
        ] as [(String, UInt64)])
    func isFNV1a(text: String, hash: UInt64) {
        var fingerprint = Fingerprint()
        fingerprint.combine(bytes: text.utf8)
        #expect(fingerprint.value == hash)
        #expect(fingerprint.text == String(hash, radix: 16))
    }

    private func hash(_ body: (inout Fingerprint) -> Void) -> UInt64 {
        var fingerprint = Fingerprint()
        body(&fingerprint)
        return fingerprint.value
    }

    @Test func partsAreKeptApart() {
        let hashes = [
            hash {
                $0.combine("ab")
                $0.combine("c")
            },
            hash {
                $0.combine("a")
                $0.combine("bc")
            },
            hash { $0.combine("abc") },
            hash { $0.combine(1) },
            hash { $0.combine(256) },
            hash { $0.combine(-1) },
            hash { $0.combine(true) },
            hash { $0.combine(false) },
        ]
        #expect(Set(hashes).count == hashes.count)
        #expect(hash { $0.combine(Int32(-1)) } == hash { $0.combine(Int64(-1)) })
    }
}
