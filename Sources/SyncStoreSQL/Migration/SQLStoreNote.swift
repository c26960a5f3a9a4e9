/// A text that a program keeps with the tables of a store, such as the file of their model.
///
/// A store writes it in the transaction that creates or adapts the tables, so that text and tables
/// always belong together.
package struct SQLStoreNote: Hashable, Sendable {
    /// Whether the database has tables of a store at all.
    package let isStore: Bool
    /// The text; nil if none was kept.
    package let text: String?

    package init(isStore: Bool, text: String?) {
        self.isStore = isStore
        self.text = text
    }
}
