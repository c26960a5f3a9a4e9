import JSONMapper
import SyncBase

/// Reads the pages of a source step by step.
///
/// An actor, so that the next pages are fetched and mapped while earlier objects are merged.
actor PageReader {
    /// A step of reading.
    enum Step {
        /// Mapped objects of the current page.
        case batch(MappedBatch, PayloadReader.Progress)
        /// Objects of the current page as JSON, and the index of the first one.
        case elements(first: Int, [PayloadReader.Element], PayloadReader.Progress)
        /// The end of the current page.
        case pageEnd(RemotePage, PayloadReader.Progress)
        /// The current page broke off and is read again from its start.
        case restart
    }

    private let remote: any RemotePass
    /// Opens a page, and decides whether its elements are read as JSON (`isApart`).
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

    /// Reads all pages, and hands over the steps until the consumer stops.
    ///
    /// Because pages arrive and are mapped at an uneven pace, it keeps up to two groups of steps
    /// ahead of the merge. Errors of the pages and of the source end the steps.
    func readAll(into steps: Handoff<[Step]>) async {
        do {
            while let next = try await next() { try await steps.send(next) }
            steps.finish(.success(()))
        } catch {
            steps.finish(.failure(error))
        }
    }

    /// Returns the next steps, up to and including a batch, so that mapping always overlaps with
    /// merging.
    ///
    /// - Returns: Nil after the last page.
    private func next() async throws -> [Step]? {
        var steps: [Step] = []
        while let step = try await nextStep() {
            steps.append(step)
            switch step {
            case .batch, .elements: return steps
            case .pageEnd, .restart: continue
            }
        }
        return steps.isEmpty ? nil : steps
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
