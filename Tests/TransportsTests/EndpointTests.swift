import LineProtocol
import Testing
import Transports

@Suite("Endpoints")
struct EndpointTests {
    /// A text, and the parts of the endpoint that it stands for.
    struct Reading: Sendable, CustomTestStringConvertible {
        var text: String
        var scheme: String
        var address: String
        var options: [String: String] = [:]
        var testDescription: String { text }
    }

    @Test(
        "An endpoint is parsed into scheme, address and options",
        arguments: [
            Reading(text: "/dev/ttyUSB0", scheme: "serial", address: "/dev/ttyUSB0"),
            Reading(text: "./pump", scheme: "serial", address: "./pump"),
            Reading(text: "run/head", scheme: "serial", address: "run/head"),
            Reading(text: "run/a:b?c=d", scheme: "serial", address: "run/a:b?c=d"),
            Reading(text: "../a:b?c", scheme: "serial", address: "../a:b?c"),
            Reading(
                text: "/dev/serial/by-path/pci-0000:00:14.0", scheme: "serial",
                address: "/dev/serial/by-path/pci-0000:00:14.0"),
            Reading(
                text: "serial:/dev/ttyUSB0?baud=115200", scheme: "serial", address: "/dev/ttyUSB0",
                options: ["baud": "115200"]),
            Reading(
                text: "serial:/dev/ttyUSB0?shared&hupcl=false", scheme: "serial", address: "/dev/ttyUSB0",
                options: ["shared": "true", "hupcl": "false"]),
            Reading(text: "usb:1a86:7523", scheme: "usb", address: "1a86:7523"),
            Reading(text: "usb:0403:6001/A50285BI", scheme: "usb", address: "0403:6001/A50285BI"),
            Reading(text: "usb:1a86:7523@1-2.3", scheme: "usb", address: "1a86:7523@1-2.3"),
            Reading(text: "ble:HMSoft", scheme: "ble", address: "HMSoft"),
            Reading(text: "ble:AA:BB:CC:DD:EE:FF", scheme: "ble", address: "AA:BB:CC:DD:EE:FF"),
            Reading(text: "ble:*", scheme: "ble", address: "*"),
            Reading(text: "tcp:bench:4000", scheme: "tcp", address: "bench:4000"),
            Reading(text: "TCP:bench:4000", scheme: "tcp", address: "bench:4000"),
            Reading(text: "tcp:[::1]:4000", scheme: "tcp", address: "[::1]:4000"),
            Reading(text: "rfc2217:bench:4000", scheme: "rfc2217", address: "bench:4000"),
            Reading(text: "unix:/run/pump.sock", scheme: "unix", address: "/run/pump.sock"),
            Reading(text: "sim:pump", scheme: "sim", address: "pump"),
            Reading(
                text: "sim:storm?seed=7&fault=split", scheme: "sim", address: "storm",
                options: ["seed": "7", "fault": "split"]),
            Reading(text: "replay:file.jsonl", scheme: "replay", address: "file.jsonl"),
            Reading(text: "replay:a?b=c=d", scheme: "replay", address: "a", options: ["b": "c=d"]),
            Reading(text: "sim:pump?", scheme: "sim", address: "pump"),
        ])
    func grammar(reading: Reading) throws {
        let endpoint = try Endpoint(reading.text)
        #expect(endpoint.scheme == reading.scheme)
        #expect(endpoint.address == reading.address)
        #expect(endpoint.options == reading.options)
        #expect(endpoint.text == reading.text)
        #expect("\(endpoint)" == reading.text)
    }

    @Test(
        "An invalid endpoint is refused with a valid spelling",
        arguments: [
            ("", "/dev/ttyUSB0"),
            ("ttyUSB0", "/dev/ttyUSB0"),
            (":4000", ""),
            ("tcp:", "tcp:"),
            ("serial:?baud=9600", "serial:"),
            ("sim:pump?=7", "name=value"),
            ("sim:pump?seed=7&seed=8", "each once"),
        ])
    func unreadable(text: String, hint: String) throws {
        let error = try #require(throws: LinkError.self) { try Endpoint(text) }
        #expect(error.code == .invalidEndpoint)
        #expect(error.name == text)
        #expect(error.hint?.contains(hint) ?? false || hint.isEmpty && error.hint != nil)
    }

    @Test(
        "Options on a bare path are refused with the right spelling",
        arguments: [
            ("/nowhere/tty?baud=9600", "'serial:/nowhere/tty?baud=9600'"),
            ("run/nowhere?baud=9600&stop=2", "'serial:run/nowhere?baud=9600&stop=2'"),
            ("/nowhere/tty:9600", "'serial:/nowhere/tty?baud=9600'"),
            ("ttyNONE7:115200", "'serial:/dev/ttyNONE7?baud=115200'"),
        ])
    func misplacedOptions(text: String, spelling: String) async throws {
        let error = await #expect(throws: LinkError.self) { _ = try await LinkSchemes.standard.open(Endpoint(text)) }
        #expect(error?.hint?.contains(spelling) == true, "\(error?.hint ?? "")")
        let plain = await #expect(throws: LinkError.self) {
            _ = try await LinkSchemes.standard.open(Endpoint("/nowhere/pci-0000:00:14.0"))
        }
        #expect(plain?.hint?.contains("serial:") == false)
    }

    @Test("Endpoint options are read as numbers, flags and choices")
    func typedOptions() throws {
        let endpoint = try Endpoint("sim:pump?seed=7&loud&quiet=false&mode=b")
        #expect(try endpoint.number("seed", in: 0...9) == 7)
        #expect(try endpoint.number("other", in: 0...9) == nil)
        #expect(try endpoint.flag("loud") == true)
        #expect(try endpoint.flag("quiet") == false)
        #expect(try endpoint.flag("other") == nil)
        #expect(try endpoint.choice("mode", of: [("a", 1), ("b", 2)]) == 2)
        #expect(try endpoint.choice("other", of: [("a", 1)]) == nil)
        try endpoint.allowOptions(["seed", "loud", "quiet", "mode", "other"])
    }

    @Test("An invalid option value is refused with the valid ones")
    func wrongOptions() throws {
        let endpoint = try Endpoint("sim:pump?seed=x&big=10&loud=perhaps&mode=c")
        let attempts: [(String, (Endpoint) throws(LinkError) -> Void)] = [
            ("0 to 9", { endpoint throws(LinkError) in _ = try endpoint.number("seed", in: 0...9) }),
            ("0 to 9", { endpoint throws(LinkError) in _ = try endpoint.number("big", in: 0...9) }),
            ("on or off", { endpoint throws(LinkError) in _ = try endpoint.flag("loud") }),
            ("a, b", { endpoint throws(LinkError) in _ = try endpoint.choice("mode", of: [("a", 1), ("b", 2)]) }),
            ("'big'", { endpoint throws(LinkError) in try endpoint.allowOptions(["seed", "loud", "mode"]) }),
            ("no options", { endpoint throws(LinkError) in try endpoint.allowOptions([]) }),
        ]
        for (hint, attempt) in attempts {
            let error = try #require(throws: LinkError.self) { try attempt(endpoint) }
            #expect(error.code == .invalidEndpoint)
            #expect(error.hint?.contains(hint) == true)
        }
    }
}
