import HTTPTransfer
import StoreSync

extension HTTPJSONSource {
    /// Verifies that the settings suit one another, and the source needs no values that its format
    /// cannot contain.
    ///
    /// - Parameter keyPath: The key path of the objects.
    /// - Throws: ``HTTPError`` if it does.
    func checkFormat(keyPath: String) throws {
        let suitsSign =
            switch (api.format, api.endSign) {
            case (_, nil), (.lines, .line), (.events, .event): true
            default: false
            }
        guard suitsSign else {
            throw HTTPError(url: url, problem: .unsuitableSettings("the format has no such sign of its end"))
        }
        if api.delta?.continuesPages == true, api.pages.pointerKeyPath == nil {
            throw HTTPError(
                url: url,
                problem: .unsuitableSettings(
                    "changes without a parameter are requested as the next page, and the pages have no cursor or link"))
        }
        guard api.format.isOpenEnded else { return }
        var keyPaths = [keyPath, api.totalKeyPath ?? "", api.delta?.cursor.pageKeyPath ?? ""] + api.pages.captures
        if case .list(let list) = api.delta?.tombstones { keyPaths.append(list) }
        guard let first = keyPaths.first(where: { !$0.isEmpty }) else { return }
        throw HTTPError(
            url: url,
            problem: .unsuitableSettings(
                "the source looks for \(first), which the format has no place for: "
                    + "lines and events have nothing beside the objects"))
    }

    /// The error that a page reports; nil if it reports none.
    ///
    /// - Parameter isWhole: Whether the whole page was read, so that an absent value is
    ///   significant.
    func failure(in facts: PageFacts, isWhole: Bool) -> HTTPAPI.ReplyCheck.Failure? {
        // Lines and events have no values outside the objects, and the scanner has checked each
        // object.
        api.format.isOpenEnded ? facts.failure : api.check?.failure(in: facts.captured, isWhole: isWhole)
    }
}
