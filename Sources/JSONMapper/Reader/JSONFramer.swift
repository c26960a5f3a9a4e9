/// An incremental search for the end of a value that arrives in pieces.
///
/// It examines every byte once, however small the pieces are. It recognizes only brackets and
/// strings; the cursor validates the value once it is complete.
struct JSONFramer {
    private enum State { case idle, container, scalar, closed }

    private var state = State.idle
    private var openCount = 0
    private var isInString = false
    private var isEscaped = false
    /// The number of bytes examined.
    ///
    /// Once closed, this is the input that a cursor needs: the value and, after a number or a
    /// literal, the byte that ended it.
    private(set) var byteCount = 0

    /// Whether the search has begun. Remains true once the end is found.
    var isActive: Bool { state != .idle }
    /// Whether the end has been found.
    var isClosed: Bool { state == .closed }

    /// Examines the bytes that arrived since the last call.
    ///
    /// - Parameters:
    ///   - start: The first byte of the value, the same byte in every call.
    ///   - available: The number of bytes from `start` on.
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
