import SyncModel

extension AttributeType {
    /// Whether another type can hold every value of this one.
    func isContained(in other: AttributeType) -> Bool {
        switch (self, other) {
        case _ where self == other: true
        // JSON can represent every value of these types.
        case (.int16, .json), (.int32, .json), (.int64, .json), (.double, .json), (.decimal, .json), (.string, .json),
            (.uri, .json), (.bool, .json), (.uuid, .json):
            true
        case (.int16, .int32), (.int16, .int64), (.int32, .int64), (.float, .double), (.uri, .string), (.uuid, .string),
            (.transformable, .binary), (.int16, .double), (.int16, .float), (.int32, .double), (.int16, .decimal),
            (.int32, .decimal), (.int64, .decimal):
            true
        default: false
        }
    }
}
