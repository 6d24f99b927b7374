import DeviceKit
import Testing

@testable import pumpctl

@Suite("Messages on the configuration file")
struct ConfigurationTests {
    @Test(
        "An unknown key is warned of with the likely one",
        arguments: [
            ("prot", "write \"port\" instead"), ("Port", "write \"port\" instead"),
            ("records", "write \"record\" instead"), ("colour", "remove it: the keys are port, record"),
        ])
    func unknownKeys(key: String, hint: String) throws {
        let found = try UserConfiguration(json: Array("{\"\(key)\": 1, \"port\": \"/dev/ttyUSB0\"}".utf8))
        let path = UserConfiguration.path ?? ""
        #expect(found.warnings == ["warning: \(path): unknown key \"\(key)\"\n  hint: \(hint)"])
    }

    @Test(
        "An invalid configuration is refused with the faulty key",
        arguments: [
            ("", "not a JSON object"), ("{\"port\": 5}", "\"port\" must be a string"),
            ("{\"record\": \"no\"}", "\"record\" must be true or false"),
        ])
    func flaws(text: String, flaw: String) throws {
        let error = try #require(throws: UserConfigurationError.self) { try UserConfiguration(json: Array(text.utf8)) }
        let failure = Failure(error, "/home/me/config.json")
        #expect(failure.status == .usage)
        #expect(failure.message.hasPrefix("/home/me/config.json: ") && failure.message.contains(flaw))
        #expect(failure.hint?.hasPrefix("write JSON") == true)
    }
}
