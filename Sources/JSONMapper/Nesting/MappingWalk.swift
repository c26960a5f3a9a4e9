/// What the mappers of the elements of a payload share with those of the objects nested in them.
///
/// One walk over the bytes of an element fills the batches of all entities. What it has filled
/// stays only if the element is committed.
final class MappingWalk {
    let mapper: RecordMapper
    let jsonOptions: JSONOptions
    /// The number of the element that is being read. Elements with lower numbers are committed or
    /// discarded.
    var element = 0

    init(_ mapper: RecordMapper, jsonOptions: JSONOptions) {
        self.mapper = mapper
        self.jsonOptions = jsonOptions
    }
}
