import SyncModel

/// A value whose key matches an attribute only loosely.
struct LooseValue {
    let key: JSONSlice
    let hash: UInt64
    /// The index of the attribute's field.
    let field: Int
    /// A cursor at the value.
    var cursor: JSONCursor
}

// Keys that are no key of the entity, but resemble the name of an attribute, such as `_id` and
// `Id`. They count only if no other key of the object sets the attribute, wherever that one is, so
// they wait for the end of the object.
extension ElementMapper {
    /// Keeps the place of a value, and skips the value. A later value of the same key replaces it;
    /// another key of the field is an unknown one.
    ///
    /// - Parameter hash: The hash of the key.
    /// - Returns: Whether mapping of the element continues.
    mutating func deferLoose(
        _ key: JSONSlice, hash: UInt64, field: Int, _ cursor: inout JSONCursor
    ) throws(JSONFault) -> Bool {
        // One for each field, so that an object with many such keys takes linear time.
        if let earlier = looseValues.firstIndex(where: { $0.field == field }) {
            if looseValues[earlier].hash == hash {
                note(.repeatedKey, path: [key.string], isTolerated: false)
                looseValues[earlier].cursor = cursor
            } else {
                guard noteLoose(key, found: try cursor.kind()) else { return false }
            }
        } else {
            looseValues.append(LooseValue(key: key, hash: hash, field: field, cursor: cursor))
        }
        try cursor.skipValue()
        return true
    }

    /// Reports a key whose field another key sets.
    ///
    /// - Returns: Whether the object fits. If false, `stop` has the reason.
    private mutating func noteLoose(_ key: JSONSlice, found: JSONKind) -> Bool {
        switch contract.unknownKey {
        case .ignore, .null: note(.unknownKey, path: [key.string], found: found, isTolerated: false)
        case .reject, .fail: return refuse(.unknownKey, action: contract.unknownKey, path: [key.string])
        }
        return true
    }

    /// Reads the values that were kept, where the object does not set the attribute otherwise. The
    /// other keys are unknown ones.
    ///
    /// - Returns: Whether the object fits. If false, `stop` has the reason.
    @inline(never)
    mutating func takeLoose() throws(JSONFault) -> Bool {
        for index in looseValues.indices {
            var loose = looseValues[index]
            let field = mapping.fields[loose.field]
            guard group.records.openKind(at: field.column) != .absent || unfitColumns.contains(field.column) else {
                guard try take(&loose.cursor, field, entry: -1) else { return false }
                continue
            }
            guard noteLoose(loose.key, found: try loose.cursor.kind()) else { return false }
        }
        return true
    }
}
