import JSONMapper
import StoreSync
import SyncBase

/// A source whose first pages were read for a model. The first pass begins with these pages, so
/// that they are requested once.
struct SampledSource<Base: RemoteSource>: RemoteSource {
    let base: Base
    private let sampled = Locked<(pass: SampledPass, keyPath: String)?>(nil)

    init(_ base: Base) {
        self.base = base
    }

    var name: String { base.name }
    var keyPath: String { base.keyPath }
    var absentKeys: StoreSyncOptions.AbsentKeys { base.absentKeys }
    var fingerprint: String {
        get async throws { try await base.fingerprint }
    }

    /// Reads the first pages of a full pass.
    ///
    /// - Parameters:
    ///   - keyPath: The keys that lead to the list.
    ///   - sample: Receives the objects.
    ///   - show: Called before the first page and after each one.
    /// - Throws: Errors of the pages; ``ObjectSample/NoObject``.
    func sample(
        at keyPath: String, into sample: ObjectSample = ObjectSample(), show: (ObjectSample) -> Void = { _ in }
    ) async throws -> ObjectSample {
        var sample = sample
        show(sample)
        guard case .changed(let pass) = try await base.begin(after: nil, keyPath: keyPath) else { return sample }
        let sampledPass = SampledPass(pass)
        while !sample.isFull, try await sampledPass.readAhead(into: &sample, at: keyPath) { show(sample) }
        try sample.checkObjects()
        sampled.withLock { $0 = (sampledPass, keyPath) }
        return sample
    }

    /// Reads the whole first page of a full pass.
    ///
    /// - Returns: Nil if there is no page, or if it is larger than a sample.
    func firstPage() async throws -> [UInt8]? {
        guard case .changed(let pass) = try await base.begin(after: nil, keyPath: ""),
            let page = try await pass.next(), case .stream(let chunks) = page.json
        else { return nil }
        var bytes: [UInt8] = []
        for try await chunk in chunks {
            bytes += chunk
            guard bytes.count < ObjectSample().byteLimit else { return nil }
        }
        return bytes
    }

    func begin(after bookmark: SyncBookmark?, keyPath: String) async throws -> RemoteAnswer {
        let kept = sampled.withLock { sampled in
            defer { sampled = nil }
            return sampled
        }
        if let kept, bookmark == nil, kept.keyPath == keyPath { return .changed(kept.pass) }
        return try await base.begin(after: bookmark, keyPath: keyPath)
    }
}

/// A pass that begins with pages that were read before it.
actor SampledPass: RemotePass {
    private let base: any RemotePass
    /// The pages that were read ahead.
    private var read: [RemotePage] = []
    /// Whether the pages that were read ahead are all pages.
    private var hasEnded = false

    init(_ base: any RemotePass) {
        self.base = base
    }

    /// Reads the next page and adds it to a sample.
    ///
    /// - Returns: Whether there was a page.
    func readAhead(into sample: inout ObjectSample, at keyPath: String) async throws -> Bool {
        while let page = try await base.next() {
            guard case .stream(let chunks) = page.json else {
                read.append(page)
                return false
            }
            do {
                let rest = ErasedSequence(chunks).makeAsyncIterator()
                let layout: JSONReader.Layout = page.isOpenEnded ? .lines(at: keyPath) : .array(at: keyPath)
                let bytes = try await sample.add(rest, layout: layout)
                var copy = page
                copy.json = .chunks(PartlyReadBody(beginning: bytes, rest: rest))
                read.append(copy)
                return true
            } catch {
                // The page says what is wrong with it, or is handed out once more.
                try await base.recover(from: error)
            }
        }
        hasEnded = true
        sample.isWhole = true
        return false
    }

    func next() async throws -> RemotePage? {
        guard read.isEmpty else { return read.removeFirst() }
        return hasEnded ? nil : try await base.next()
    }

    func recover(from error: any Error) async throws {
        // The base has gone on since it returned a page that was read ahead.
        guard read.isEmpty else { throw error }
        try await base.recover(from: error)
    }

    func rewind() async throws {
        (read, hasEnded) = ([], false)
        try await base.rewind()
    }

    func end() async throws -> RemoteEnd {
        try await base.end()
    }
}

/// A body or an input whose beginning was read before. It can be iterated once.
struct PartlyReadBody: AsyncSequence, Sendable {
    let beginning: [UInt8]
    let rest: ErasedSequence<[UInt8]>.Iterator

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(beginning: beginning, rest: rest)
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        var beginning: [UInt8]?
        let rest: ErasedSequence<[UInt8]>.Iterator

        mutating func next() async throws -> [UInt8]? {
            if let beginning {
                self.beginning = nil
                return beginning
            }
            return try await rest.next()
        }
    }
}
