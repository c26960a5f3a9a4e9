extension SyncAttribute {
    /// The annotation of an attribute whose UUIDs are lowercase in JSON; its value is `lower`.
    ///
    /// The attribute keeps the annotation if its type becomes wider, so that stored UUIDs become
    /// lowercase texts. Without it, they become uppercase texts.
    package static let letterCaseAnnotation = "sync.letterCase"

    /// Whether the attribute's UUIDs are, or were, lowercase in JSON.
    package var hasLowercaseUUIDs: Bool {
        userInfo[Self.letterCaseAnnotation] == "lower"
    }
}
