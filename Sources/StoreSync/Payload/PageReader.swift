import JSONMapper

/// Reads the pages of a source step by step: an actor, so that the next page is fetched and mapped
/// while what came before is merged.
actor PageReader {
    /// What comes next.
    enum Step {
        /// Objects of the page at hand, mapped.
        case batch(MappedObjects, PayloadReader.Progress)
        /// Objects of the page at hand, as they are written, and the place of the first.
        case elements(first: Int, [PayloadReader.Element], PayloadReader.Progress)
        /// The page at hand has been read.
        case pageEnd(RemotePage, PayloadReader.Progress)
        /// The page at hand begins anew: it could not be read to its end.
        case restart
    }

    private let remote: any RemotePass
    /// Opens a page; says whether its elements are to be taken apart.
    private let open: @Sendable (RemotePage) throws -> (payload: PayloadReader, isApart: Bool)
    private var current: (page: RemotePage, payload: PayloadReader, isApart: Bool)?
    private var hasEnded = false

    init(
        _ remote: any RemotePass,
        open: @escaping @Sendable (RemotePage) throws -> (payload: PayloadReader, isApart: Bool)
    ) {
        self.remote = remote
        self.open = open
    }

    /// The next steps, up to the next objects: an end of a page is not worth a round, in which
    /// nothing would be mapped beside it.
    ///
    /// - Returns: Nothing after the last page.
    /// - Throws: What is wrong with a page, and what the source throws.
    func next() async throws -> [Step] {
        var steps: [Step] = []
        while let step = try await nextStep() {
            steps.append(step)
            switch step {
            case .batch, .elements: return steps
            case .pageEnd, .restart: continue
            }
        }
        return steps
    }

    private func nextStep() async throws -> Step? {
        if current == nil {
            guard !hasEnded, let page = try await remote.next() else {
                hasEnded = true
                return nil
            }
            let (payload, isApart) = try open(page)
            current = (page, payload, isApart)
        }
        guard let (page, payload, isApart) = current else { return nil }
        do {
            if isApart {
                if let (first, elements) = try await payload.nextElements() {
                    return .elements(first: first, elements, await payload.progress)
                }
            } else if let (objects, progress) = try await payload.nextBatch() {
                return .batch(objects, progress)
            }
            current = nil
            return .pageEnd(page, await payload.progress)
        } catch {
            current = nil
            try await remote.recover(from: error)
            return .restart
        }
    }
}
