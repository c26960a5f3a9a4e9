/// The state that the mappers of a payload's elements and of their nested objects share.
///
/// One walk over the bytes of an element fills the batches of all entities. The results are kept
/// only if the element is committed.
final class MappingWalk {
    let mapper: RecordMapper
    let jsonOptions: JSONReader.Options
    /// The number of the current element. Elements with lower numbers are committed or discarded.
    var element = 0

    init(_ mapper: RecordMapper, jsonOptions: JSONReader.Options) {
        self.mapper = mapper
        self.jsonOptions = jsonOptions
    }
}
