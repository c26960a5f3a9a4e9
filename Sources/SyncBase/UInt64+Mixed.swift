extension UInt64 {
    /// A number whose bits all depend on all bits of this one (the finalizer of SplitMix64).
    /// Different numbers have different results.
    package var mixed: UInt64 {
        var mixed = self
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
