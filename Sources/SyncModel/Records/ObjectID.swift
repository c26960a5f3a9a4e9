/// The number of an object in a store.
///
/// A store numbers objects from 1 when it inserts them. A number is unique among the objects of all
/// entities that share a root entity, and is not reused while the object exists. It is valid only
/// in the store that assigned it.
///
/// It is an integer rather than a type of its own, so that stores pass arrays of numbers to their
/// databases without a copy.
public typealias ObjectID = Int64
