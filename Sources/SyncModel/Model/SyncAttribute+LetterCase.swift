extension SyncAttribute {
    /// The annotation `lower` of an attribute whose UUIDs JSON has in lowercase.
    ///
    /// The attribute keeps it if its type becomes wider, so that stored UUIDs become texts in
    /// lowercase. Without it, texts of UUIDs are in uppercase.
    package static let letterCaseAnnotation = "sync.letterCase"

    /// Whether JSON has the attribute's UUIDs, or had them, in lowercase.
    package var hasLowercaseUUIDs: Bool {
        userInfo[Self.letterCaseAnnotation] == "lower"
    }
}
