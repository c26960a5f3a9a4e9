// Navigation through a document to its elements and to its end.
extension JSONReader {
    /// Consumes one token outside the elements.
    ///
    /// - Returns: Whether the reader advanced; false if it needs more input first.
    func step() throws -> Bool {
        if case .start = phase { return try skipByteOrderMark() }
        let byte: UInt8
        if case .betweenLines(let hasNewline) = phase { return try stepBetweenLines(hasNewline: hasNewline) }
        switch try peek() {
        case .starved: return false
        case .ended:
            guard case .trailing = phase else { throw fail(.unexpectedEnd) }
            phase = .finished
            return true
        case .byte(let next): byte = next
        }
        switch phase {
        case .root: try enter(level: 0, byte)
        case .target(let level): try enter(level: level, byte)
        case .key(let level, let place): return try stepKey(level: level, place, byte)
        case .colon(let level, let isMatch, let probe):
            guard byte == ASCII.colon else { throw fail(.unexpectedByte) }
            window.start += 1
            phase = isMatch ? .target(level: level + 1) : .skipped(level: level, probe: probe)
        case .skipped(let level, let probe):
            guard let passed = try readElement({ try self.skip(&$0, probe, level: level) }) else { return false }
            note(passed)
            phase = .key(level: level, .afterValue)
        case .separator(let isFirst):
            if byte == ASCII.closeBracket {
                window.start += 1
                leaveTarget()
            } else {
                if !isFirst {
                    guard byte == ASCII.comma else { throw fail(.unexpectedByte) }
                    window.start += 1
                }
                // The read of the element rejects a closing bracket after the comma.
                phase = layout.members == nil ? .element : .indexed
            }
        case .member, .memberColon, .indexed, .null: return try stepMember(byte)
        case .trailing: throw fail(.trailingContent)
        case .start, .betweenLines, .element, .single, .finished, .failed: return true
        }
        return true
    }

    /// Enters the value at the current level: the next object on the path, or the array at its end.
    private func enter(level: Int, _ byte: UInt8) throws {
        guard layout.kind != .document else { return phase = .single }
        guard level == layout.path.count else {
            guard byte == ASCII.openBrace else { throw failUnexpected(byte, .notAnObject) }
            window.start += 1
            passedKeys = []
            return phase = .key(level: level, .first)
        }
        hasFoundTarget = true
        if let entered = memberPhase(byte) {
            phase = entered
        } else if byte == ASCII.openBracket {
            window.start += 1
            phase = .separator(isFirst: true)
        } else if byte == ASCII.openBrace, layout.kind == .arrayOrSingle {
            note(unreadLists())
            phase = .single
        } else if byte == ASCII.n, !layout.path.isEmpty {
            throw fail(.keyPathNotFound)
        } else {
            note(unreadLists())
            throw failUnexpected(byte, .notAnArray)
        }
    }

    private func note(_ found: [JSONError.List]) {
        lists += found.prefix(JSONError.List.count - lists.count)
    }

    /// The lists in the value at the first unread byte, as far as it has arrived.
    private func unreadLists() -> [JSONError.List] {
        var found: [JSONError.List] = []
        var cursor = JSONCursor(start: window.first, end: window.first + window.count, options: options)
        // A fault is the end of what has arrived, or is reported by the read of the value.
        try? cursor.readLists(at: layout.path.map { String(decoding: $0, as: UTF8.self) }, into: &found)
        return found
    }

    /// Leaves the array, or the value in its place. The objects around it remain open.
    func leaveTarget() {
        phase = layout.path.isEmpty ? .trailing : .key(level: layout.path.count - 1, .afterValue)
    }

    private func stepKey(level: Int, _ place: KeyPlace, _ byte: UInt8) throws -> Bool {
        if byte == ASCII.closeBrace, place != .afterComma {
            guard hasFoundTarget else { throw fail(.keyPathNotFound) }
            window.start += 1
            phase = level == 0 ? .trailing : .key(level: level - 1, .afterValue)
            return true
        }
        if place == .afterValue {
            guard byte == ASCII.comma else { throw fail(.unexpectedByte) }
            window.start += 1
            phase = .key(level: level, .afterComma)
            return true
        }
        guard byte == ASCII.quote else { throw fail(.unexpectedByte) }
        let keyOffset = window.readByteCount
        var probe: JSONProbe.Node?
        var passed: String?
        var named: (key: String, node: JSONNameProbe.Node)?
        let match: Bool? = try readElement { cursor in
            let key = try cursor.readString()
            probe = self.probes[level]?.child(key)
            named = self.nameProbes[level].flatMap { Self.named(key, in: $0) }
            let isMatch = key.equals(self.layout.path[level])
            passed = isMatch ? nil : JSONError.Missing.name(key)
            return isMatch
        }
        guard let isMatch = match else { return false }
        passedKey = passed
        passedName = named
        if let passed, !hasFoundTarget, passedKeys.count < JSONError.Missing.keyCount { passedKeys.append(passed) }
        if isMatch, hasFoundTarget {
            window.start -= window.readByteCount - keyOffset
            throw fail(.duplicateKey)
        }
        phase = .colon(level: level, isMatch: isMatch, probe: probe)
        return true
    }

    /// The key with what to capture by name from its value; nil for nothing.
    private static func named(
        _ key: JSONSlice, in node: JSONNameProbe.Node
    ) -> (key: String, node: JSONNameProbe.Node)? {
        guard !node.children.isEmpty else { return nil }
        let key = key.string
        return node.child(key).map { (key, $0) }
    }

    /// Skips a value outside the path and captures the requested parts of it.
    ///
    /// - Returns: The lists in it; empty after the target, and in a value with requested parts.
    private func skip(
        _ cursor: inout JSONCursor, _ probe: JSONProbe.Node?, level: Int
    ) throws -> [JSONError.List] {
        let outer = layout.path.prefix(level).map { String(decoding: $0, as: UTF8.self) }
        if let (key, node) = passedName {
            var start = cursor
            try node.read(&start, at: outer + [key], into: &namedValues)
        }
        guard let probe else {
            var found: [JSONError.List] = []
            guard !hasFoundTarget, let passedKey else {
                try cursor.skipValue()
                return []
            }
            try cursor.readLists(at: outer + [passedKey], into: &found)
            return found
        }
        let keyPaths = layout.probe.keyPaths
        var values = [JSONValue?](repeating: nil, count: keyPaths.count)
        try probe.read(&cursor, into: &values)
        // A truncated value is read again; the complete value replaces the captured one.
        for (keyPath, value) in zip(keyPaths, values) where value != nil { captured[keyPath] = value }
        return []
    }

    private func stepBetweenLines(hasNewline: Bool) throws -> Bool {
        while window.count > 0 {
            let byte = window[0]
            guard ASCII.isWhitespace(byte) else {
                guard hasNewline else { throw fail(.trailingContent) }
                phase = .single
                return true
            }
            window.start += 1
            if byte == ASCII.newline || byte == ASCII.carriageReturn, !hasNewline {
                phase = .betweenLines(hasNewline: true)
                return true
            }
        }
        if inputEnded {
            phase = .finished
            return true
        }
        return try fill()
    }

    private func skipByteOrderMark() throws -> Bool {
        while window.count < 3, !inputEnded {
            guard try fill() else { return false }
        }
        if window.count >= 3, window[0] == 0xEF, window[1] == 0xBB, window[2] == 0xBF { window.start += 3 }
        // The mark of UTF-16, as some shells write it. Neither byte occurs in UTF-8.
        if window.count >= 2, min(window[0], window[1]) == 0xFE, max(window[0], window[1]) == 0xFF {
            throw fail(.invalidUTF8)
        }
        phase = layout.kind == .lines ? .betweenLines(hasNewline: true) : .root
        return true
    }
}
