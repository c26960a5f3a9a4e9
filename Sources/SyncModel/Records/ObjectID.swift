/// The number of an object in a store.
///
/// A store numbers objects from 1 when it inserts them. A number is unique among the objects of all
/// entities that share a root entity, and is not reused while the object exists. It is valid only
/// in the store that assigned it.
///
/// The type is an integer, so that stores can pass arrays of numbers to their databases without
/// copying.
public typealias ObjectID = Int64
