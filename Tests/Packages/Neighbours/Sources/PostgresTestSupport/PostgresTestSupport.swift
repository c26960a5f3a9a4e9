/// A target as an app may have it, with a name that this package must not use.
public enum Neighbour {
    /// Whether it is linked.
    public static let isLinked = true
}
