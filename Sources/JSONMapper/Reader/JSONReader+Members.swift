// The members of an object as the elements of a list.
extension JSONReader {
    /// The phase in which an object with members begins, or what is in its place; nil if the layout
    /// has no members, or for another value.
    func memberPhase(_ byte: UInt8) -> Phase? {
        guard layout.members != nil else { return nil }
        switch byte {
        case ASCII.openBrace:
            window.start += 1
            return .member(.first)
        case ASCII.openBracket:
            window.start += 1
            memberIndex = -1
            return .separator(isFirst: true)
        case ASCII.n where layout.path.isEmpty: return .null
        default: return nil
        }
    }

    /// Consumes one token between elements.
    ///
    /// - Returns: Whether the reader advanced; false if it needs more input first.
    func stepMember(_ byte: UInt8) throws -> Bool {
        switch phase {
        case .member(let place):
            if byte == ASCII.closeBrace, place != .afterComma {
                window.start += 1
                leaveTarget()
            } else if place == .afterValue {
                guard byte == ASCII.comma else { throw fail(.unexpectedByte) }
                window.start += 1
                phase = .member(.afterComma)
            } else {
                guard byte == ASCII.quote else { throw fail(.unexpectedByte) }
                guard let key = try readElement({ Array(try $0.rawValue().bytes) }) else { return false }
                memberKey = key
                phase = .memberColon
            }
        case .memberColon:
            guard byte == ASCII.colon else { throw fail(.unexpectedByte) }
            window.start += 1
            phase = .element
        case .indexed:
            if byte == ASCII.n {
                guard try readElement({ try $0.readNull() }) != nil else { return false }
                phase = .separator(isFirst: false)
            } else {
                phase = .element
            }
            let index = (memberIndex ?? -1) + 1
            memberIndex = index
            memberKey = Array("\"\(index)\"".utf8)
        default:
            guard try readElement({ try $0.readNull() }) != nil else { return false }
            leaveTarget()
        }
        return true
    }

    /// Reads the value of a member as an object that has the key of the member too.
    func readMember<Result>(
        _ members: JSONKeyPath.Members, _ body: (inout JSONCursor) throws -> Result
    ) throws -> Result? {
        try readElement(isWhole: true) { cursor in
            let object = try JSONMember(key: memberKey, fields: members, &cursor)
            return try object.bytes.withUnsafeBufferPointer { bytes in
                guard let start = bytes.baseAddress else { throw cursor.fault(.unexpectedEnd) }
                var inner = JSONCursor(start: start, end: start + bytes.count, options: options)
                do { return try body(&inner) } catch let fault as JSONFault {
                    throw JSONFault(fault.reason, byteOffset: object.offset(of: fault.byteOffset))
                }
            }
        }
    }
}

/// The value of a member, with the key of the member as one of its fields.
private struct JSONMember {
    /// The object; the value itself if it is none and has no field.
    private(set) var bytes: [UInt8] = []
    /// The number of bytes before the rest of the value, and of the bytes that the rest lacks.
    private var prefix = (written: 0, omitted: 0)

    /// Reads the next value.
    ///
    /// - Parameter key: The key with its quotes.
    init(key: [UInt8], fields: JSONKeyPath.Members, _ cursor: inout JSONCursor) throws(JSONFault) {
        let start = cursor
        guard try cursor.kind() == .object else {
            let value = try cursor.rawValue().bytes
            guard let field = fields.value else {
                bytes = Array(value)
                return
            }
            bytes = Self.field(fields.key) + key + [ASCII.comma] + Self.name(field) + value + [ASCII.closeBrace]
            prefix = (bytes.count - value.count - 1, 0)
            return
        }
        let field = Array(fields.key.utf8)
        /// The places of members that are renamed, directly after the quotation mark.
        var renamed: [UnsafePointer<UInt8>] = []
        var isEmpty = true
        var hasKey = false
        try cursor.beginObject()
        let first = cursor.position
        while let name = try cursor.nextKey() {
            isEmpty = false
            let isField = name.equals(field)
            let place = name.bytes.baseAddress
            let value = try cursor.rawValue().bytes
            guard isField, let place else { continue }
            if value.elementsEqual(key) || value.elementsEqual(key.dropFirst().dropLast()) {
                hasKey = true
            } else {
                renamed.append(place)
            }
        }
        if hasKey {
            bytes = [ASCII.openBrace]
        } else {
            bytes = Self.field(fields.key) + key + (isEmpty ? [] : [ASCII.comma])
        }
        prefix = (bytes.count, first - start.position)
        var position = first
        for place in renamed {
            bytes += UnsafeBufferPointer(start: position, count: place - position)
            bytes += "own_".utf8
            position = place
        }
        bytes += UnsafeBufferPointer(start: position, count: cursor.position - position)
    }

    private static func name(_ field: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.string(field)
        return writer.bytes + [ASCII.colon]
    }

    /// The beginning of an object with a field.
    private static func field(_ name: String) -> [UInt8] {
        [ASCII.openBrace] + self.name(name)
    }

    /// The offset in the value of a byte of the object; exact before a renamed field.
    func offset(of byte: Int) -> Int {
        max(byte - prefix.written + prefix.omitted, 0)
    }
}
