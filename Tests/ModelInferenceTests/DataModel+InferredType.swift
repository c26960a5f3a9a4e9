import JSONMapper
import ModelInference
import SyncModel

extension DataModel {
    /// The type of an attribute that has some values; nil if it is no attribute.
    ///
    /// - Parameter values: The values as JSON, separated by bars.
    static func inferredType(ofValues values: String) throws -> AttributeType? {
        let elements = values.split(separator: "|").map { #"{"id": 1, "x": \#($0)}"# }.joined(separator: ",")
        let layout = try inferred(from: "[\(elements)]", entity: "Thing").layout(of: "Thing")
        return layout.column(of: "x").map { layout.attributes[$0].type }
    }
}
