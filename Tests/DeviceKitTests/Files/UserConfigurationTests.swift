import Testing

@testable import DeviceKit

@Suite("The user's configuration file")
struct UserConfigurationTests {
    private func configuration(_ text: String) throws -> UserConfiguration {
        try UserConfiguration(json: Array(text.utf8))
    }

    @Test("The configuration names a port and whether to record")
    func values() throws {
        let whole = try configuration("{\"port\": \"ble:HM\\u0053oft\", \"record\": false}\n")
        #expect(whole.port == "ble:HMSoft" && whole.record == false && whole.unknownKeys.isEmpty)
        #expect(try configuration("{\"record\": true}").record == true)
        for text in ["{}", "{\"port\": null, \"record\": null}"] {
            let empty = try configuration(text)
            #expect(empty.port == nil && empty.record == nil && empty.unknownKeys.isEmpty)
        }
    }

    @Test(
        "The file is in the folder of the variables, of which only absolute paths count",
        arguments: [
            ("/c", "/h", "/c/pumpctl/config.json"), ("c", "/h", "/h/.config/pumpctl/config.json"), ("", "", nil),
            (nil, "h", nil),
        ])
    func path(configurations: String?, home: String?, path: String?) {
        #expect(UserConfiguration.path { $0 == "HOME" ? home : configurations } == path)
    }

    @Test("Unknown keys are reported and ignored")
    func unknownKeys() throws {
        let found = try configuration("{\"prot\": [1, {}], \"Port\": 5, \"port\": \"/dev/ttyUSB0\"}")
        #expect(found.port == "/dev/ttyUSB0")
        #expect(found.unknownKeys == ["Port", "prot"])
    }

    @Test(
        "An invalid configuration is refused with the wrong key",
        arguments: [
            ("", .notAnObject), ("port = x", .notAnObject), ("[]", .notAnObject), ("{} {}", .notAnObject),
            ("{\"port\": 5}", .wrongType(.port)), ("{\"record\": \"no\"}", .wrongType(.record)),
            ("{\"record\": 0}", .wrongType(.record)),
        ] as [(String, UserConfigurationError.Flaw)])
    func flaws(text: String, flaw: UserConfigurationError.Flaw) {
        let error = #expect(throws: UserConfigurationError.self) { try configuration(text) }
        #expect(error?.flaw == flaw)
    }
}
