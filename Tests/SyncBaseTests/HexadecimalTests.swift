import OneWayTestLimits
import SyncBase
import Testing

@Suite(.endsInTime) struct HexadecimalTests {
    @Test func everyByteSurvivesARoundTrip() {
        let bytes = Array(UInt8.min...UInt8.max)
        let text = Hexadecimal.text(of: bytes)
        #expect(text.hasPrefix("000102") && text.hasSuffix("fdfeff"))
        #expect(Hexadecimal.bytes(of: text) == bytes)
        #expect(Hexadecimal.bytes(of: text.uppercased()) == bytes)
    }

    @Test(arguments: ["0", "0g", "+1", " 0", "é", "０１"])
    func otherTextHasNoBytes(text: String) {
        #expect(Hexadecimal.bytes(of: text) == nil)
    }
}
