#if Postgres
import Foundation

/// A null-terminated array of C strings, valid as long as this object lives.
final class CStringArray {
    private let storage: [UnsafeMutablePointer<CChar>?]

    init(_ texts: [String]) {
        storage = texts.map { strdup($0) }
    }

    deinit {
        for pointer in storage { free(pointer) }
    }

    var pointers: [UnsafePointer<CChar>?] {
        storage.map { $0.map { UnsafePointer($0) } } + [nil]
    }
}
#endif
