import Foundation
import JSONMapper
import OneWayTestLimits
import OneWayTestSupport
import Testing

/// The files of nst/JSONTestSuite, which lie outside this package.
@Suite(.endsInTime) struct JSONTestSuiteTests {
    static let folder = ConformanceFiles.jsonTestSuite

    static func files(_ kind: String, in subfolder: String = "test_parsing") -> [String] {
        guard let folder = folder?.appendingPathComponent(subfolder) else { return [] }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasPrefix(kind) }.sorted()
    }

    static func bytes(_ name: String, in subfolder: String = "test_parsing") throws -> [UInt8] {
        let folder = try #require(folder)
        return Array(try Data(contentsOf: folder.appendingPathComponent("\(subfolder)/\(name)")))
    }

    /// What RFC 8259 leaves open: whether each file is read.
    static let decisions: [String: Bool] = [
        // Numbers are kept as text where neither 64 bits nor a double hold them; what is too small
        // is zero.
        "i_number_double_huge_neg_exp.json": true, "i_number_huge_exp.json": true,
        "i_number_neg_int_huge_exp.json": true, "i_number_pos_double_huge_exp.json": true,
        "i_number_real_neg_overflow.json": true, "i_number_real_pos_overflow.json": true,
        "i_number_real_underflow.json": true, "i_number_too_big_neg_int.json": true,
        "i_number_too_big_pos_int.json": true, "i_number_very_big_negative_int.json": true,
        // Lone surrogates are malformed, unless the options replace them.
        "i_object_key_lone_2nd_surrogate.json": false, "i_string_1st_surrogate_but_2nd_missing.json": false,
        "i_string_1st_valid_surrogate_2nd_invalid.json": false,
        "i_string_incomplete_surrogate_and_escape_valid.json": false, "i_string_incomplete_surrogate_pair.json": false,
        "i_string_incomplete_surrogates_escape_valid.json": false, "i_string_invalid_lonely_surrogate.json": false,
        "i_string_invalid_surrogate.json": false, "i_string_inverted_surrogates_U+1D11E.json": false,
        "i_string_lone_second_surrogate.json": false,
        // Bytes that are not UTF-8 are malformed, always.
        "i_string_UTF-16LE_with_BOM.json": false, "i_string_UTF-8_invalid_sequence.json": false,
        "i_string_UTF8_surrogate_U+D800.json": false, "i_string_invalid_utf-8.json": false,
        "i_string_iso_latin_1.json": false, "i_string_lone_utf8_continuation_byte.json": false,
        "i_string_not_in_unicode_range.json": false, "i_string_overlong_sequence_2_bytes.json": false,
        "i_string_overlong_sequence_6_bytes.json": false, "i_string_overlong_sequence_6_bytes_null.json": false,
        "i_string_truncated-utf-8.json": false, "i_string_utf16BE_no_BOM.json": false,
        "i_string_utf16LE_no_BOM.json": false,
        // Within the default depth; a byte order mark is skipped.
        "i_structure_500_nested_arrays.json": true, "i_structure_UTF-8_BOM_empty_object.json": true,
    ]

    /// How inputs are read whose meaning is open.
    static let readings: [String: JSONValue?] = [
        "number_-9223372036854775808.json": .array([.integer(.min)]),
        "number_-9223372036854775809.json": .array([.decimal("-9223372036854775809")]),
        "number_1.0.json": .array([.double(1)]), "number_1.000000000000000005.json": .array([.double(1)]),
        "number_1000000000000000.json": .array([.integer(1_000_000_000_000_000)]),
        "number_10000000000000000999.json": .array([.unsigned(10_000_000_000_000_000_999)]),
        "number_1e-999.json": .array([.double(0)]), "number_1e6.json": .array([.double(1e6)]),
        "number_9223372036854775807.json": .array([.integer(.max)]),
        "number_9223372036854775808.json": .array([.unsigned(1 << 63)]),
        "object_key_nfc_nfd.json": .object(["é": .string("NFC"), "e\u{301}": .string("NFD")]),
        "object_key_nfd_nfc.json": .object(["e\u{301}": .string("NFD"), "é": .string("NFC")]),
        "object_same_key_different_values.json": .object(["a": .integer(2)]),
        "object_same_key_same_value.json": .object(["a": .integer(1)]),
        "object_same_key_unclear_values.json": .object(["a": .double(-0.0)]),
        "string_1_escaped_invalid_codepoint.json": nil, "string_1_invalid_codepoint.json": nil,
        "string_2_escaped_invalid_codepoints.json": nil, "string_2_invalid_codepoints.json": nil,
        "string_3_escaped_invalid_codepoints.json": nil, "string_3_invalid_codepoints.json": nil,
        "string_with_escaped_NULL.json": .array([.string("A\0B")]),
    ]

    @Test(.enabled(if: folder != nil, "the JSON test suite is not beside this package"), arguments: files("y_"))
    func aLegalFileIsRead(name: String) throws {
        let bytes = try Self.bytes(name)
        let whole = Reading(bytes)
        #expect(whole.error == nil)
        #expect(whole.elements.count == 1)
        #expect(Reading(bytes, stride: 1) == whole)
    }

    @Test(.enabled(if: folder != nil, "the JSON test suite is not beside this package"), arguments: files("n_"))
    func anIllegalFileIsRefused(name: String) throws {
        let bytes = try Self.bytes(name)
        let whole = Reading(bytes)
        #expect(whole.error?.location != nil)
        if bytes.count < 10_000 { #expect(Reading(bytes, stride: 1) == whole) }
    }

    @Test(.enabled(if: folder != nil, "the JSON test suite is not beside this package"), arguments: files("i_"))
    func anOpenFileIsReadAsDecided(name: String) throws {
        let decision: Bool = try #require(Self.decisions[name] as Bool?, "no decision")
        #expect((Reading(try Self.bytes(name)).error == nil) == decision)
    }

    @Test(
        .enabled(if: folder != nil, "the JSON test suite is not beside this package"),
        arguments: files("", in: "test_transform"))
    func anAmbiguousFileIsReadAsDecided(name: String) throws {
        let expected = try #require(Self.readings[name], "no decision")
        let reading = Reading(try Self.bytes(name, in: "test_transform"))
        #expect(reading.elements.first == expected)
        #expect((reading.error == nil) == (expected != nil))
    }
}
