extension InferredModel {
    /// Options for inferring a model from a sample.
    public struct Options: Hashable, Sendable {
        /// The JSON keys that identify an element together, such as `["title", "year"]`. Empty, the
        /// default, to find them by evidence.
        public var key: [String]
        /// The maximum number of elements to read; nil, the default, for all.
        public var sampleCount: Int?
        /// The maximum number of entities; 100 by default, at least 1. Objects beyond it stay JSON.
        public var maximumEntityCount: Int
        /// The maximum number of properties of an entity; 256 by default, at least 1. Keys beyond
        /// it stay JSON.
        public var maximumPropertyCount: Int

        /// The key paths, with dots between the keys, whose values are kept as JSON; none by
        /// default. Elements of lists are not counted as a key.
        public var jsonKeyPaths: Set<String>

        /// Creates options. Counts below 1 are raised to 1.
        public init(
            key: [String] = [], sampleCount: Int? = nil, maximumEntityCount: Int = 100, maximumPropertyCount: Int = 256,
            jsonKeyPaths: Set<String> = []
        ) {
            self.key = key
            self.sampleCount = sampleCount.map { max($0, 1) }
            self.maximumEntityCount = max(maximumEntityCount, 1)
            self.maximumPropertyCount = max(maximumPropertyCount, 1)
            self.jsonKeyPaths = jsonKeyPaths
        }
    }
}
