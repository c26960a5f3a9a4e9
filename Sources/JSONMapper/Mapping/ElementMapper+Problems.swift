import SyncModel

// The handling of misfits: they are tolerated or reported, or end the element.
extension ElementMapper {
    /// Performs the contract's action for a value that does not fit.
    ///
    /// - Returns: Whether mapping of the element continues.
    @inline(never)
    mutating func tolerate(
        _ reason: MappingError.Problem.Reason, _ action: ValueContract.Action, _ field: EntityMapping.Field, entry: Int,
        found: JSONKind? = nil
    ) -> Bool {
        tolerate(reason, action, column: field.column, path: path(of: field, entry: entry), found: found)
    }

    /// Performs the contract's action for a value of an attribute that does not fit.
    ///
    /// - Returns: Whether mapping of the element continues.
    mutating func tolerate(
        _ reason: MappingError.Problem.Reason, _ action: ValueContract.Action, column: Int, path: [String]?,
        found: JSONKind? = nil
    ) -> Bool {
        // The object may be any of those that are stored, so that it must not replace one.
        let isNestedKey = !isRoot && mapping.layout.keyColumns.contains(column)
        switch isNestedKey && action != .fail ? .reject : action {
        case .ignore: unfitColumns.append(column)
        case .null:
            unfitColumns.append(column)
            clear(column)
        case .reject, .fail:
            return refuse(reason, action: action, column: column, path: path)
        }
        if case .notAllowed(let value, _) = reason {
            drift.note(
                .notAllowed, path: path, found: found, value: value, isTolerated: true, index: elementIndex)
        } else {
            note(.unfitValue, path: path, found: found, isTolerated: true)
        }
        return true
    }

    /// Takes the value of an attribute away. One that is mandatory takes its default.
    mutating func clear(_ column: Int) {
        group.records.setValue(mapping.clearedValues[column], at: column)
    }

    /// Reports a whole number that a double cannot represent exactly, or any other number with more
    /// digits than a double's text ever needs.
    @inline(never)
    mutating func noteRounding(_ number: JSONNumber, _ value: Double, _ field: EntityMapping.Field, entry: Int) {
        if number.isInteger {
            guard number.isTruncated || UInt64(exactly: value.magnitude) != number.mantissa else { return }
        } else {
            guard number.significantDigitCount > 17 else { return }
        }
        note(.rounded, path: path(of: field, entry: entry), found: .number, isTolerated: false)
    }

    /// Reports a value that an export would write in another form. It is kept unchanged if the
    /// entity has an attribute for such values.
    @inline(never)
    mutating func noteConversion(_ field: EntityMapping.Field, entry: Int, found: JSONKind) {
        let isKept = mapping.otherKeysColumn != nil && !mapping.layout.identityColumns.contains(field.column)
        if isKept { unfitColumns.append(field.column) }
        note(isKept ? .unfitValue : .converted, path: path(of: field, entry: entry), found: found, isTolerated: isKept)
    }

    /// Reports a date that an export would write in another spelling.
    @inline(never)
    mutating func noteSpelling(_ text: JSONSlice, of microseconds: Int64, _ field: EntityMapping.Field, entry: Int) {
        let written = DateText.text(microseconds, fraction: .shortest)
        guard !text.withUTF8({ written.utf8.elementsEqual($0) }) else { return }
        noteConversion(field, entry: entry, found: .string)
    }

    /// Reports a repeated key, or another key, of a property that already has a value in this
    /// object.
    ///
    /// An object and its identifier under another key are two sources of one relationship, and not
    /// a repetition.
    ///
    /// - Parameter met: The marks of the keys before this one.
    @inline(never)
    mutating func noteRepeated(_ found: KeyTrie.Entry, entry: Int, met: UInt64) {
        // The fields of the key, and those of the object under it.
        let fields = (0..<found.fieldCount).map { found.firstField + $0 }
        let below = found.level < 0 ? [] : mapping.trie.levels[found.level].fields
        let isSet = (fields + below).contains { group.records.openKind(at: mapping.fields[$0].column) != .absent }
        guard isSet || met & mapping.trie.relationshipMarks[entry] != 0 else { return }
        note(.repeatedKey, path: mapping.trie.paths[entry], isTolerated: false)
    }

    /// Reports that an object in the JSON of an attribute has a key twice.
    mutating func noteRepeatedInside(_ field: EntityMapping.Field, entry: Int) {
        note(.repeatedKey, path: path(of: field, entry: entry), isTolerated: false)
    }

    /// Returns the keys that lead to the value of an attribute; nil if there are none.
    ///
    /// - Parameter entry: The trie's entry under which the value was found; negative if none.
    private func path(of field: EntityMapping.Field, entry: Int) -> [String]? {
        entry < 0 ? mapping.keys.attributes[field.column].path() : mapping.trie.paths[entry]
    }

    /// Records a difference.
    ///
    /// - Parameters:
    ///   - kind: Nil if the drift report does not count the difference.
    ///   - isTolerated: Whether a value did not fit.
    mutating func note(_ kind: DriftReport.Kind?, path: [String]?, found: JSONKind? = nil, isTolerated: Bool) {
        drift.note(kind, path: path, found: found, isTolerated: isTolerated, index: elementIndex)
    }

    /// Abandons the element: it is rejected, or an error ends mapping.
    ///
    /// - Returns: Always false.
    mutating func refuse(
        _ reason: MappingError.Problem.Reason, action: ValueContract.Action, column: Int? = nil, path: [String]? = nil
    ) -> Bool {
        let problem = MappingError.Problem(
            entity: mapping.layout.name, attribute: column.map { mapping.layout.attributes[$0].name },
            keyPath: path?.joined(separator: ".") ?? "", index: elementIndex, reason: reason)
        stop = action == .fail ? .failed(MappingError.unfit(problem)) : .rejected(problem)
        return false
    }
}
