import Foundation
import HTTPTransfer
import OneWayTestLimits
import Testing

/// The addresses that identify contents.
@Suite(.endsInTime) struct ContentAddressTests {
    @Test(arguments: [
        ("http://h/a", "http://h/a"),
        ("http://me:pw@h/a%20b?id=1&v=%26#top", "http://h/a%20b?id=1&v=%26"),
        ("https://h/a?versionId=7&X-Amz-Date=1&X-Amz-Signature=2&x-amz-expires=3", "https://h/a?versionId=7"),
        ("https://h/a?X-Goog-Signature=1&generation=2", "https://h/a?generation=2"),
        ("https://h/a?Expires=1&Signature=2&Key-Pair-Id=3&id=4", "https://h/a?id=4"),
        ("https://h/a?sv=1&st=2&se=3&sr=b&sp=r&sig=4", "https://h/a"),
        // Parameters of other meanings.
        ("https://h/a?sv=1&expires=2&policy=3", "https://h/a?sv=1&expires=2&policy=3"),
        ("https://h/a?token=1", "https://h/a?token=1"),
        ("https://h/a?id=1&id=2", "https://h/a?id=1&id=2"),
    ]) func anAddressHasNoSignature(address: String, unsigned: String) throws {
        let url = try #require(URL(string: address))
        #expect(ContentAddress.unsigned(url) == unsigned)
        let mark = ContentAddress.mark(of: try #require(URL(string: unsigned)))
        #expect(ContentAddress.mark(of: url) == mark && mark.count == 32)
        #expect(ContentAddress.mark(of: try #require(URL(string: "http://h/other"))) != mark)
    }

    @Test(arguments: [
        (
            "Signature", ["expires", "policy", "key-pair-id", "AWSAccessKeyId", "GoogleAccessId", "OSSAccessKeyId"]
        ),
        (
            "sig",
            [
                "se", "sp", "spr", "sr", "st", "sv", "sip", "ss", "srt", "skoid", "sktid", "skt", "ske", "sks", "skv",
                "jwt",
            ]
        ),
    ]) func aParameterBelongsToItsSignatureOnly(signature: String, names: [String]) throws {
        for name in names {
            let other = signature == "sig" ? "signature" : "sig"
            for (query, unsigned) in [
                ("\(name)=1&\(signature)=2", ""), ("\(name)=1", "?\(name)=1"),
                ("\(name)=1&\(other)=2", "?\(name)=1"),
            ] {
                let url = try #require(URL(string: "https://h/a?\(query)"))
                #expect(ContentAddress.unsigned(url) == "https://h/a\(unsigned)")
            }
        }
    }

    @Test func aRelativeAddressIsWhatItLeadsTo() throws {
        let base = try #require(URL(string: "https://me:pw@h/d/list"))
        let relative = try #require(URL(string: "a?id=1", relativeTo: base))
        let absolute = try #require(URL(string: "https://h/d/a?id=1"))
        #expect(ContentAddress.unsigned(relative) == "https://h/d/a?id=1")
        #expect(ContentAddress.mark(of: relative) == ContentAddress.mark(of: absolute))
    }
}
