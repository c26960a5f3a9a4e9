/// What the pages of a pass are. The caller that creates them states it.
enum PassContents {
    /// Payloads at hand, which are one list and are read once.
    case payloads
    /// Pages of a source, which can deliver them again: a list, or what has changed in it.
    case list
    /// Changes at hand. Each is applied to what the earlier ones left, many may concern one object,
    /// and there is no total to compare with.
    case changes
}
