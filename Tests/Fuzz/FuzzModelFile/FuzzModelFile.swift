import CoreDataModel
import Foundation

/// Any bytes are a model file or an error; a model that was read is written and read back as the
/// same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzModelFile(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let file = try? ModelFile(xml: Data(UnsafeBufferPointer(start: start, count: count))) else { return 0 }
    guard let xml = try? file.model.coreDataXML() else { return 0 }
    do {
        let again = try ModelFile(xml: xml)
        precondition(again.model == file.model && again.warnings.isEmpty, "another model was read back")
    } catch {
        preconditionFailure("what was written cannot be read: \(error)")
    }
    return 0
}
