import Foundation
import Testing

@testable import pumpctl

@Suite("The configuration")
struct ConfigurationTests {
    private func configuration(_ text: String) throws -> Configuration {
        try Configuration(Data(text.utf8), "/home/me/config.json")
    }

    @Test("names a port, and whether to record")
    func values() throws {
        let whole = try configuration("{\"port\": \"ble:HMSoft\", \"record\": false}")
        #expect(whole.port == "ble:HMSoft" && whole.record == false && whole.warnings.isEmpty)
        let empty = try configuration("{}")
        #expect(empty.port == nil && empty.record == nil)
    }

    @Test(
        "A key that there is not is told, with the one that was probably meant",
        arguments: [
            ("prot", "write \"port\" instead"), ("Port", "write \"port\" instead"),
            ("records", "write \"record\" instead"), ("colour", "remove it: the keys are port, record"),
        ])
    func unknownKeys(key: String, hint: String) throws {
        let found = try configuration("{\"\(key)\": 1, \"port\": \"/dev/ttyUSB0\"}")
        #expect(found.port == "/dev/ttyUSB0")
        #expect(
            found.warnings == [
                "warning: /home/me/config.json: there is no key \"\(key)\"\n  hint: \(hint)"
            ])
    }

    @Test(
        "What is no configuration is said to be none, and which key is wrong",
        arguments: [
            ("", "no JSON object"), ("port = x", "no JSON object"), ("[]", "no JSON object"),
            ("{\"port\": 5}", "\"port\" is no text"), ("{\"record\": \"no\"}", "\"record\" is neither true nor false"),
            ("{\"record\": 0}", "\"record\" is neither true nor false"),
        ])
    func flaws(text: String, flaw: String) {
        let failure = #expect(throws: Failure.self) { try configuration(text) }
        #expect(failure?.status == .usage)
        #expect(failure?.message.contains(flaw) == true, "\(failure?.message ?? "")")
        #expect(failure?.hint?.hasPrefix("write JSON") == true)
    }
}
