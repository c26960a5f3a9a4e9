public import JSONMapper
import SyncBase

extension JSONSource {
    /// Objects that are no JSON, such as the lines of a CSV file or the rows of another database.
    public struct Records: Sendable {
        /// Sets the properties of an object.
        typealias Fill = @Sendable (inout RecordMapper.Row) throws -> Void

        let fills: ErasedSequence<Fill>
    }

    /// Returns a source of objects from any values.
    ///
    ///     let users = JSONSource.records(file.lines) { line, user in
    ///         let fields = line.split(separator: ",", omittingEmptySubsequences: false)
    ///         try user.set("id", to: Int(fields[0]))
    ///         try user.set("name", to: String(fields[1]))
    ///         try user.relate("company", to: Int(fields[2]))
    ///     }
    ///     try await store.sync(User.self, users)
    ///
    /// The objects follow the rules of JSON: the contract of the mapping, drift, and what is
    /// absent. They have no key path, no tombstones that are fields, and no `willInsert`, because
    /// these read JSON; `StoreSyncError.noJSON` ends such a sync.
    ///
    /// - Parameters:
    ///   - values: The values, one for each object. Their errors end the sync.
    ///   - fill: Sets the properties of an object from a value. Its errors end the sync.
    public static func records<Values: AsyncSequence & Sendable>(
        _ values: Values, _ fill: @escaping @Sendable (Values.Element, inout RecordMapper.Row) throws -> Void
    ) -> JSONSource where Values.Element: Sendable {
        let fills = values.map { value -> Records.Fill in { row in try fill(value, &row) } }
        return .records(Records(fills: ErasedSequence(fills)))
    }

    /// Returns a source of objects from values at hand.
    ///
    /// - Parameters:
    ///   - values: The values, one for each object.
    ///   - fill: Sets the properties of an object from a value. Its errors end the sync.
    public static func records<Values: Sequence & Sendable>(
        _ values: Values, _ fill: @escaping @Sendable (Values.Element, inout RecordMapper.Row) throws -> Void
    ) -> JSONSource where Values.Element: Sendable {
        let fills = ErasedSequence(elements: values).map { value -> Records.Fill in { row in try fill(value, &row) } }
        return .records(Records(fills: ErasedSequence(fills)))
    }
}
