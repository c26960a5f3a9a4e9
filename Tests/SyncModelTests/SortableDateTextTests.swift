import OneWayTestLimits
import SyncModel
import Testing

@Suite(.endsInTime) struct SortableDateTextTests {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000000Z"), (1_392_336_000_000_000, "2014-02-14T00:00:00.000000Z"),
        (-1, "1969-12-31T23:59:59.999999Z"), (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"),
        (-62_167_219_200_000_000, "0000-01-01T00:00:00.000000Z"),
        (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
    ])
    func momentsHaveATextOfFixedLengthAndComeBack(microseconds: Int, text: String) {
        let moment = Timestamp(microseconds: Int64(microseconds))
        var bytes = [UInt8](repeating: 0, count: DateText.byteCount)
        let isWritten = bytes.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.map { DateText.write(sortable: moment, to: $0) } ?? false
        }
        #expect(isWritten)
        #expect(String(decoding: bytes, as: UTF8.self) == text)
        #expect(read(text) == moment)
    }

    @Test(arguments: [
        "2014-02-14", "2014-02-14 00:00", "2014-02-14T00:00:00", "2014-02-14 00:00:00.000", "2014-02-14T00:00:00Z",
        "2014-02-14T02:00:00+02", "2014-02-13T22:30:00-0130", "2014-02-14T05:30:00+05:30", "2014-02-14 00:00:00 +00",
    ])
    func shorterFormsOfOtherProgramsAreRead(text: String) {
        #expect(read(text) == Timestamp(microseconds: 1_392_336_000_000_000))
    }

    @Test(arguments: [
        "", "2014-13-01", "2014-02-30", "2014-02-14T0", "2014-02-14T00:00:00+24:00",
        "2014-02-14T00:00:00+", "2014-02-14T00:00:00+0", "2014-02-14T00:00:00+01:", "2014-02-14T00:00:00+01:0",
        "2014-02-14T00:00:00+01:60", "tomorrow!!",
    ])
    func otherTextsAreNoMoments(text: String) {
        #expect(read(text) == nil)
    }

    private func read(_ text: String) -> Timestamp? {
        DateText.microseconds(text).map(Timestamp.init(microseconds:))
    }
}
