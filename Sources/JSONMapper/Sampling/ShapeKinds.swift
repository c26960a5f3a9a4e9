/// The kinds of values that a sample has under one key.
package struct ShapeKinds: OptionSet, Hashable, Sendable {
    /// One bit per kind.
    package let rawValue: UInt32

    /// Creates a set from its bits.
    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// An integer that fits in an `Int64`.
    package static let integer = ShapeKinds(rawValue: 1 << 0)
    /// A larger integer of at most 38 digits.
    package static let largeInteger = ShapeKinds(rawValue: 1 << 1)
    /// A number with a fraction that a double represents to the last digit.
    package static let fraction = ShapeKinds(rawValue: 1 << 2)
    /// A whole number written with a fraction or an exponent, such as `1.0`.
    package static let wholeFraction = ShapeKinds(rawValue: 1 << 3)
    /// A number that only a decimal of at most 38 digits holds.
    package static let longNumber = ShapeKinds(rawValue: 1 << 4)
    /// A double that no decimal holds.
    package static let extremeNumber = ShapeKinds(rawValue: 1 << 5)
    /// A number that neither a double nor a decimal holds.
    package static let endlessNumber = ShapeKinds(rawValue: 1 << 6)
    /// True or false.
    package static let boolean = ShapeKinds(rawValue: 1 << 7)
    /// A UUID in lowercase.
    package static let lowercaseUUID = ShapeKinds(rawValue: 1 << 8)
    /// A UUID in uppercase.
    package static let uppercaseUUID = ShapeKinds(rawValue: 1 << 9)
    /// A date in one of the layouts of `DateStyle`.
    package static let date = ShapeKinds(rawValue: 1 << 10)
    /// Any other text.
    package static let text = ShapeKinds(rawValue: 1 << 11)
    /// An object with a key.
    package static let object = ShapeKinds(rawValue: 1 << 12)
    /// An object without keys.
    package static let emptyObject = ShapeKinds(rawValue: 1 << 13)
    /// An array of objects, at least one.
    package static let objects = ShapeKinds(rawValue: 1 << 14)
    /// An array without elements.
    package static let emptyArray = ShapeKinds(rawValue: 1 << 15)
    /// Any other array.
    package static let otherArray = ShapeKinds(rawValue: 1 << 16)
    /// An object or an array of objects that was not examined, because of a limit.
    package static let unexamined = ShapeKinds(rawValue: 1 << 17)

    /// All numbers.
    package static let numbers: ShapeKinds = [
        .integer, .largeInteger, .fraction, .wholeFraction, .longNumber, .extremeNumber, .endlessNumber,
    ]
    /// All strings.
    package static let strings: ShapeKinds = [.lowercaseUUID, .uppercaseUUID, .date, .text]
    /// All arrays.
    package static let arrays: ShapeKinds = [.objects, .emptyArray, .otherArray]
    /// All objects.
    package static let anyObjects: ShapeKinds = [.object, .emptyObject]

    /// Whether the values have only JSON in common, so that they need no further examination.
    package var isMixed: Bool {
        if !isDisjoint(with: [.otherArray, .unexamined]) { return true }
        let groups: [ShapeKinds] = [.numbers, .strings, .boolean, .arrays, .anyObjects]
        return groups.count { !isDisjoint(with: $0) } > 1
    }
}
