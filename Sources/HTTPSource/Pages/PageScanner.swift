import HTTPTransfer
import JSONMapper

/// Scans a page while it arrives, before it is mapped.
///
/// The scanner finds the address of the next page, so that it can be requested early, and the
/// cursors of the objects.
struct PageScanner: BodyInspector {
    /// The values that a scanner looks for.
    struct Plan: Sendable {
        /// The key path of the objects.
        var keyPath: String
        var format: HTTPAPI.Format
        /// The element that ends a body of lines or events.
        var endSign: HTTPAPI.EndSign?
        /// Key paths of values outside the objects.
        var captures: [String] = []
        /// Key paths of values outside the objects that are found by the names of their keys.
        var names: [String] = []
        /// The field of each object that is its cursor.
        var cursor: String?
        /// The field of the last object that leads to the next page.
        var lastElement: String?
        /// The key path of a list of tombstones.
        var tombstones: String?
        /// Whether the objects are hashed.
        var wantsDigest = false
        /// The check of each object, in a format without values outside the objects.
        var check: HTTPAPI.ReplyCheck?
    }

    private let reader: JSONReader
    /// Captures values of a document that has no list, or whose list is the document itself; nil if
    /// `reader` can.
    private let frame: JSONReader?
    private let probe: JSONProbe
    private let cursorSlot: Int?
    private let lastSlot: Int?
    private let tombstones: String?
    private let check: HTTPAPI.ReplyCheck?
    private let checkSlots: [(keyPath: String, slot: Int)]
    private var hasher: Hasher?
    private var recoder: BodyRecoder?
    private var facts = PageFacts()
    /// Whether the document is the list, or has ended.
    private var hasFrameFailed = false
    /// Whether the JSON is invalid, which the mapper reports.
    private var hasFailed = false

    init(_ plan: Plan) {
        var captures = plan.captures
        if let list = plan.tombstones, !captures.contains(list) { captures.append(list) }
        let list: JSONReader.Layout = plan.format.isOpenEnded ? .lines(at: plan.keyPath) : .array(at: plan.keyPath)
        // The limit is that of the sync, which reads the objects.
        var options = JSONReader.Options()
        options.maximumElementByteCount = .max
        reader = JSONReader(layout: list.capturing(captures).capturing(named: plan.names), options: options)
        // No key of a list equals this one, so every value is outside the list.
        frame =
            JSONKeyPath.list(at: plan.keyPath).list.isEmpty && !captures.isEmpty && !plan.format.isOpenEnded
            ? JSONReader(layout: .array(at: ["\u{0}"]).capturing(captures), options: options) : nil
        var fields: [String] = []
        func slot(_ keyPath: String?) -> Int? {
            guard let keyPath else { return nil }
            if let known = fields.firstIndex(of: keyPath) { return known }
            fields.append(keyPath)
            return fields.count - 1
        }
        cursorSlot = slot(plan.cursor)
        lastSlot = slot(plan.lastElement)
        check = plan.check
        checkSlots = (plan.check?.captures ?? []).compactMap { keyPath in slot(keyPath).map { (keyPath, $0) } }
        probe = JSONProbe(fields)
        tombstones = plan.tombstones
        hasher = plan.wantsDigest ? Hasher() : nil
        recoder = BodyRecoder(plan.format, endSign: plan.endSign)
    }

    mutating func inspect(_ bytes: [UInt8]) {
        if let frame, !hasFrameFailed {
            do {
                try frame.append(bytes)
                while try frame.next({ try $0.skipValue() }) != nil {}
            } catch {
                hasFrameFailed = true
            }
        }
        guard !hasFailed else { return }
        do {
            try reader.append(recoder?.recode(bytes) ?? bytes)
            try read()
        } catch {
            hasFailed = true
        }
    }

    private mutating func read() throws {
        if var hasher {
            while let element = try reader.next({ cursor in try scan(&cursor, &hasher) }) { note(element) }
            self.hasher = hasher
        } else if !isProbed {
            while try reader.next({ try $0.skipValue() }) != nil {}
        } else {
            while let element = try reader.next({ try probe.read(&$0) }) { note(element) }
        }
    }

    /// Whether fields of the objects are read.
    private var isProbed: Bool { cursorSlot != nil || lastSlot != nil || check != nil }

    private func scan(_ cursor: inout JSONCursor, _ hasher: inout Hasher) throws -> [JSONValue?] {
        let start = cursor
        try cursor.rawValue().withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        guard isProbed else { return [] }
        let end = cursor
        cursor = start
        let found = try probe.read(&cursor)
        cursor = end
        return found
    }

    private mutating func note(_ found: [JSONValue?]) {
        if let lastSlot { facts.lastElement = found[lastSlot] }
        if let check, facts.failure == nil {
            let fields = checkSlots.compactMap { keyPath, slot in found[slot].map { (keyPath, $0) } }
            facts.failure = check.failure(in: Dictionary(fields) { $1 }, isWhole: true)
        }
        if let cursorSlot, let cursor = found[cursorSlot].flatMap({ SyncCursor($0) }) { facts.note(cursor) }
    }

    mutating func finish() -> PageFacts {
        if !hasFailed {
            do {
                if let rest = recoder?.finish(), !rest.isEmpty { try reader.append(rest) }
                reader.finish()
                try read()
            } catch {
                hasFailed = true
            }
        }
        facts.failure = facts.failure ?? recoder?.failure.map { HTTPAPI.ReplyCheck.failure(ofData: $0) }
        facts.hasEndSign = recoder?.hasEndSign ?? false
        facts.elementCount = reader.elementCount
        facts.captured = frame.map { reader.captured.merging($0.captured) { $1 } } ?? reader.captured
        facts.namedValues = reader.namedValues
        if let tombstones, case .array(let list) = facts.captured[tombstones] { facts.tombstones = list }
        facts.digest = hasher?.finalize()
        return facts
    }
}
