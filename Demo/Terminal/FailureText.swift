import Foundation
import JSONMapper
import StoreSync
import SyncStoreSQL
import SyncStoreSQLite

/// Texts of errors for people.
enum FailureText {
    /// Returns the description of an error, in plain words for common faults of JSON.
    static func text(_ error: any Error) -> String {
        switch error as? SQLSchemaError {
        case .damaged:
            return "\(error)".replacing("repair(at:options:) of the store's type", with: "Demo repair")
        case .unfitValue, .changedRelationship, .sharedTarget, .movedEntity:
            return "\(error); --rebuild fills the database anew"
        default: break
        }
        if case StoreSyncError.unidentifiedObjects = error {
            return "\(error)".replacing(#"StoreSyncOptions(keyPath: "data.items")"#, with: "--key-path data.items")
        }
        if error is SQLiteError {
            return "\(error)".replacing("SQLiteStore.repair(at:)", with: "Demo repair")
                .replacing("SQLiteStore.verify(at:)", with: "Demo repair --plan")
        }
        guard let error = error as? JSONError, let location = error.location,
            let plain = words(of: error.reason, at: location)
        else {
            return "\(error)"
        }
        let lists = JSONError.List.text(location.lists).map { "; \($0)" } ?? ""
        return "\(plain) (\(location))\(lists)"
    }

    /// Returns why the system refused something, without the words that Foundation puts around it.
    static func reason(_ error: any Error) -> String {
        // On Linux it can be a `POSIXError`, which only a cast by way of `Error` finds.
        let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error
        let code = (underlying as NSError?)?.code
        return code.map { String(cString: strerror(Int32($0))) } ?? error.localizedDescription
    }

    private static func words(of reason: JSONError.Reason?, at location: JSONError.Location) -> String? {
        switch reason {
        case .notAnArray: "the JSON is neither a list of objects nor an object"
        case .notAnObject:
            // An element that is no object is a mapping problem, so the value is on the key path.
            (location.keyPath.isEmpty ? "the JSON" : location.keyPath)
                + " is not an object, so there is nothing at the key path"
        case .keyPathNotFound: location.missingText ?? "the JSON has nothing at the key path"
        case .unexpectedEnd: "the JSON is incomplete or empty"
        case .elementSizeLimit: "one object of the JSON is larger than 64 MiB; --key-path names the list within it"
        default: nil
        }
    }
}
