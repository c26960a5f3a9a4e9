/// A text that a program stores with the tables of a store, such as the file of their model.
///
/// A store writes the text in the transaction that creates or migrates the tables, so that both
/// always match.
package struct SQLStoreNote: Hashable, Sendable {
    /// Whether the database has tables of a store.
    package let isStore: Bool
    /// The text; nil if there is none.
    package let text: String?
    /// The version of the model that the tables have; 0 if there are none.
    package let modelVersion: Int

    package init(isStore: Bool, text: String?, modelVersion: Int = 0) {
        self.isStore = isStore
        self.text = text
        self.modelVersion = modelVersion
    }
}
