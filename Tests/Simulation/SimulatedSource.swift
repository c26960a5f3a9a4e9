/// The objects of a server, and every state that each of them was in.
struct SimulatedSource {
    /// An object as it is now.
    struct Item {
        var id: Int
        var name: String
        /// When it was changed last, or when it went, by the server; in whole seconds, and late by
        /// some.
        var changed: Int
        var isGone = false
    }

    private(set) var items: [Int: Item] = [:]
    /// Counts the changes there were.
    private(set) var moment = 0
    /// When something changed last, by the server.
    private(set) var lastChange = 0
    /// What each object was called from when on; nil where it was not there.
    private var history: [Int: [(moment: Int, name: String?)]] = [:]
    private var lastID = 0

    /// What the objects are called that are there.
    var names: [Int: String] {
        items.filter { !$0.value.isGone }.mapValues(\.name)
    }

    /// Adds, changes or removes an object.
    ///
    /// - Parameters:
    ///   - now: The server's time.
    ///   - lag: By how much the time of a change may be earlier than now.
    mutating func change(now: Int, lag: Int, using random: inout some RandomNumberGenerator) {
        moment += 1
        lastChange = now
        let stamp = now - Int.random(in: 0...lag, using: &random)
        let there = items.values.filter { !$0.isGone }.map(\.id).sorted()
        let choice = Int.random(in: 0..<10, using: &random)
        if choice < 4 || there.isEmpty {
            lastID += 1
            items[lastID] = Item(id: lastID, name: "\(lastID) at \(moment)", changed: stamp)
            note(lastID, "\(lastID) at \(moment)")
        } else if choice < 7, let id = there.randomElement(using: &random) {
            items[id]?.name = "\(id) at \(moment)"
            items[id]?.changed = stamp
            note(id, "\(id) at \(moment)")
        } else if let id = there.randomElement(using: &random) {
            items[id]?.isGone = true
            items[id]?.changed = stamp
            note(id, nil)
        }
    }

    private mutating func note(_ id: Int, _ name: String?) {
        history[id, default: []].append((moment, name))
    }

    /// The states that an object was in at any moment of a range, nil for not being there.
    func states(of id: Int, during moments: ClosedRange<Int>) -> [String?] {
        let changes = history[id] ?? []
        let first = changes.last { $0.moment <= moments.lowerBound }?.name
        return [first] + changes.filter { moments.contains($0.moment) }.map(\.name)
    }
}
