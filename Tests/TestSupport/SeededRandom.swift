import SyncBase

/// A deterministic random number generator (SplitMix64), so that a failed run can be repeated by
/// its seed.
package struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return state.mixed
    }
}
