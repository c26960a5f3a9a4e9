import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import Testing

/// Small additions to types of the standard library.
@Suite(.endsInTime) struct ValueExtensionTests {
    /// The first numbers of SplitMix64 with the seed 0, as its authors publish them.
    @Test(
        arguments: [
            (0x9E37_79B9_7F4A_7C15, 0xE220_A839_7B1D_CDAF), (0x3C6E_F372_FE94_F82A, 0x6E78_9E6A_A1B9_65F4),
            (0xDAA6_6D2C_7DDF_743F, 0x06C4_5D18_8009_454F), (0, 0),
        ] as [(UInt64, UInt64)])
    func mixedBitsAreThoseOfSplitMix(number: UInt64, mixed: UInt64) {
        #expect(number.mixed == mixed)
    }

    @Test func aDictionaryIsSortedByItsKeys() {
        let sorted = [3: "a", 1: "c", 2: "b"].sortedByKey
        #expect(sorted.map(\.key) == [1, 2, 3] && sorted.map(\.value) == ["c", "b", "a"])
        #expect([Int: Int]().sortedByKey.isEmpty)
    }

    @Test func aTaskAtOnceBeginsBeforeItsCallerGoesOn() async {
        let (hasBegun, gate) = (Locked(false), Gate())
        let task = Task.atOnce {
            hasBegun.value = true
            await gate.passUncancelled()
            return 7
        }
        #if compiler(>=6.2)
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { #expect(hasBegun.value) }
        #endif
        gate.open()
        #expect(await task.value == 7 && hasBegun.value)
    }
}
