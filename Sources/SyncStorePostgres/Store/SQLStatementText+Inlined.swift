#if Postgres
import SyncStoreSQL

extension SQLStatementText {
    /// The maximum number of objects to write into a statement.
    private static let objectLimit = 500

    /// The statement without parameters; nil if it has others than a few objects.
    var inlined: String? {
        var lists: [String] = []
        for binding in bindings {
            guard case .objects(let objects) = binding, objects.count <= Self.objectLimit, lists.count < 9 else {
                return nil
            }
            lists.append("'{\(objects.map(String.init).joined(separator: ","))}'")
        }
        guard !lists.isEmpty else { return text }
        var result: [UInt8] = []
        var quote: UInt8?
        var bytes = Array(text.utf8)[...]
        while let byte = bytes.popFirst() {
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: "$"), let digit = bytes.first,
                case let number = Int(digit) - 0x31, lists.indices.contains(number)
            {
                bytes.removeFirst()
                result += lists[number].utf8
                continue
            }
            result.append(byte)
        }
        return String(decoding: result, as: UTF8.self)
    }
}
#endif
