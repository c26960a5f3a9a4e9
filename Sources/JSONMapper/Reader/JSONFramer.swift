/// Finds where a value that has only partly arrived ends, looking at every byte once however small
/// the pieces are.
///
/// It knows only brackets and strings; whether the value is legal is the cursor's to say once it is
/// whole.
struct JSONFramer {
    private enum State { case idle, container, scalar, closed }

    private var state = State.idle
    private var openCount = 0
    private var isInString = false
    private var isEscaped = false
    /// Bytes looked at so far; once closed, what a cursor needs: the value and, after a number or a
    /// word, the byte that ended it.
    private(set) var byteCount = 0

    /// Whether it has begun and the end is not found yet.
    var isActive: Bool { state != .idle }
    /// Whether the end has been found.
    var isClosed: Bool { state == .closed }

    /// Looks at what has come since the last call.
    ///
    /// - Parameters:
    ///   - start: first byte of the value, the same byte in every call.
    ///   - available: how many bytes there are from it on.
    mutating func advance(_ start: UnsafePointer<UInt8>, available: Int) {
        if state == .idle, available > 0 {
            switch start.pointee {
            case ASCII.openBrace, ASCII.openBracket, ASCII.quote: state = .container
            default: state = .scalar
            }
        }
        while byteCount < available, state != .closed {
            let byte = start[byteCount]
            byteCount += 1
            if state == .scalar {
                switch byte {
                case ASCII.comma, ASCII.closeBrace, ASCII.closeBracket, ASCII.space, ASCII.newline,
                    ASCII.carriageReturn, ASCII.tab:
                    state = .closed
                default: break
                }
                continue
            }
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == ASCII.backslash {
                    isEscaped = true
                } else if byte == ASCII.quote {
                    isInString = false
                }
            } else if byte == ASCII.quote {
                isInString = true
            } else if byte == ASCII.openBrace || byte == ASCII.openBracket {
                openCount += 1
            } else if byte == ASCII.closeBrace || byte == ASCII.closeBracket {
                openCount -= 1
            }
            if openCount == 0, !isInString { state = .closed }
        }
    }
}
