import DescriptorIO
import DeviceKit
import LineProtocol
import Logging
import Sharing
import TestSupport
import TOMLReading
import Testing
import Transports

@testable import pumpctld

@Suite("Configuration file of pumpctld")
struct ConfigurationTests {
    @Test("All settings of the daemon and its devices are read")
    func complete() throws {
        let configuration = try DaemonConfiguration(
            toml: """
                [daemon]
                socket = "/run/pumpctld/socket"
                group = "dialout"
                log-level = "warning"
                insecure-listen = true
                [http]
                listen = "localhost:8080"
                hosts = ["bench.example", "192.168.1.7"]
                captures = "/srv/captures"
                [device.lamp]
                endpoint = "ble:Lamp"
                family = "led"
                idle = "5m"
                tcp = ["[::1]:4001", "192.168.1.7:4001", "localhost:4002"]
                [device.pump]
                endpoint = "usb:1a86:7523"
                family = "pump"
                pty = ["/tmp/pump", "/tmp/pump2"]
                tcp = "4000"
                unix = "/run/pumpctld/pump"
                record = true
                """)
        #expect(
            configuration.daemon
                == DaemonSettings(
                    socket: "/run/pumpctld/socket", group: "dialout", logLevel: .warning, allowsInsecureListening: true)
        )
        #expect(configuration.http?.address == .tcp(host: "localhost", port: 8080))
        #expect(configuration.http?.hosts == ["bench.example", "192.168.1.7"])
        #expect(configuration.http?.captures == "/srv/captures")
        let lamp = try #require(configuration.devices.first)
        #expect(lamp.name == "lamp")
        #expect(lamp.family == .led)
        #expect(lamp.endpoint.text == "ble:Lamp")
        #expect(lamp.holding == .whileUsed(idle: .seconds(300)))
        #expect(
            lamp.shares == [
                .tcp(host: "::1", port: 4001), .tcp(host: "192.168.1.7", port: 4001),
                .tcp(host: "localhost", port: 4002),
            ])
        #expect(!lamp.isRecorded)
        let pump = try #require(configuration.devices.last)
        #expect(pump.endpoint.serial?.baudRate == 9600)
        #expect(pump.holding == .always)
        #expect(
            pump.shares == [
                .terminal(link: "/tmp/pump"), .terminal(link: "/tmp/pump2"), .tcp(host: "127.0.0.1", port: 4000),
                .unix(path: "/run/pumpctld/pump"),
            ])
        #expect(pump.isRecorded)
    }

    @Test("A device needs only an endpoint, and the other settings have defaults")
    func defaults() throws {
        let configuration = try DaemonConfiguration(toml: "[device.a]\nendpoint = \"ble:HMSoft\"")
        #expect(configuration.daemon == DaemonSettings(socket: nil, group: nil, logLevel: .info))
        let endpoint = try Endpoint("ble:HMSoft").adapted(to: .pump)
        #expect(
            configuration.devices
                == [
                    SharedDeviceSettings(
                        name: "a", endpoint: endpoint, family: .pump, isFamilyAssumed: true,
                        holding: .whileUsed(idle: .seconds(60)))
                ])
    }

    /// The folder of the repository.
    private static let package = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")

    @Test("The example in docs/serve.md is valid")
    func documentation() throws {
        let page = try #require(TextFile.contents(of: "\(Self.package)/docs/serve.md"))
        let block = try #require(page.split(separator: "```toml\n").dropFirst().first?.split(separator: "```").first)
        let configuration = try DaemonConfiguration(toml: String(block))
        #expect(configuration.devices.map(\.name) == ["lamp", "pump"])
        #expect(configuration.daemon.group == "dialout")
    }

    @Test("The packaged configuration file is valid")
    func example() throws {
        let configuration = try ConfigurationFile(path: "\(Self.package)/packaging/pumpctld.toml").read()
        #expect(configuration.devices.map(\.name) == ["pump"])
        #expect(configuration.devices[0].shares.count == 3)
    }

    /// A file with a mistake, and the expected error.
    struct Mistake: Sendable, CustomTestStringConvertible {
        var text: String
        var code: ConfigurationError.Code
        var place: String
        var problem: String
        var hint: String

        /// A mistake in `line`, which follows an otherwise complete table of the device `pump`.
        init(
            device line: String, _ code: ConfigurationError.Code, _ key: String, _ problem: String, hint: String
        ) {
            self.init(
                "[device.pump]\nendpoint = \"/dev/ttyUSB0\"\n\(line)", code, "[device.pump] \(key)", problem, hint: hint
            )
        }

        init(
            _ text: String, _ code: ConfigurationError.Code, _ place: String, _ problem: String, hint: String
        ) {
            (self.text, self.code, self.place, self.problem, self.hint) = (text, code, place, problem, hint)
        }

        var testDescription: String { text.debugDescription }
    }

    /// The table of a device without mistakes.
    private static let pump = "[device.pump]\nendpoint = \"/dev/ttyUSB0\"\n"

    /// A text with the deepest nesting that can be read: keys with 256 dots, and 7 arrays with an inline table.
    private static let deepest: String = {
        let key = Array(repeating: "a", count: 257).joined(separator: ".")
        let levels = String(repeating: "[\n{\(key) = ", count: 7) + "1" + String(repeating: "}]", count: 7)
        return "[\(key)]\n\(key) = \(levels)"
    }()

    static let mistakes: [Mistake] = [
        // The file
        Mistake("[daemon]\n[device.pump\n", .syntax, "line 2", "", hint: "TOML"),
        Mistake(pump + "tcp = \"1\"\ntcp = \"2\"", .syntax, "line 4", "", hint: "TOML"),
        Mistake(pump + "\n\u{0}[x]", .syntax, "line 4", "NUL", hint: "UTF-8"),
        Mistake(pump + "unix = \"/tmp/a\\u0000b\"", .syntax, "line 3", "NUL", hint: "remove"),
        Mistake(pump + "\"a\\u0000\" = 1", .syntax, "line 3", "NUL", hint: "remove"),
        Mistake("[daemon]\r\n[daemon]\r\n", .syntax, "line 2", "cannot redefine existing table", hint: "TOML"),
        Mistake("\u{FEFF}[daemon]\nid", .syntax, "line 2", "end-of-file", hint: "TOML"),
        Mistake(pump + "\u{E9} = 1", .syntax, "line 3", "'\u{E9}'", hint: "TOML"),
        Mistake("[\\device.pump]", .syntax, "line 1", "saw '\\'", hint: "TOML"),
        Mistake(device: "record = 9223372036854775807", .wrongType, "record", "an integer", hint: "true"),
        Mistake(pump + "record = 9223372036854775808", .syntax, "line 3", "64 bits", hint: "TOML"),
        Mistake(pump + "record = 1e400", .syntax, "line 3", "64 bits", hint: "TOML"),
        Mistake(device: "record = 1e3", .wrongType, "record", "a floating-point number", hint: "true"),
        Mistake(device: "record = 1979-05-27", .wrongType, "record", "a date", hint: "true"),
        Mistake(device: "record = 07:32:00", .wrongType, "record", "a time", hint: "true"),
        Mistake(device: "record = 1979-05-27T07:32:00Z", .wrongType, "record", "a date-time", hint: "true"),
        Mistake(device: "tcp = [\"4000\", [1]]", .wrongType, "tcp", "an array", hint: "[\"…\", \"…\"]"),
        // Nesting: deeper than the parser accepts, which would exhaust the stack, and as deep as it accepts
        Mistake(
            "a = \(String(repeating: "[", count: 100_000))", .syntax, "line 1", "nested too deeply",
            hint: "TOML"),
        Mistake("\n\(String(repeating: "a.", count: 100_000))a = 1", .syntax, "line 2", "256 dots", hint: "lines"),
        Mistake(deepest, .unknownKey, "a", "unknown table", hint: "daemon"),
        // The tables
        Mistake("", .missing, "[device.NAME]", "missing", hint: "[device.pump]"),
        Mistake("[device]", .missing, "[device.NAME]", "missing", hint: "[device.pump]"),
        Mistake("[devise.pump]", .unknownKey, "devise", "unknown table", hint: "write device instead"),
        Mistake("pump = 1", .unknownKey, "pump", "unknown table", hint: "daemon, device"),
        Mistake("device = 1", .wrongType, "device", "an integer", hint: "[device.NAME]"),
        Mistake("[device]\npump = \"x\"", .wrongType, "device.pump", "a string", hint: "[device.pump]"),
        Mistake("daemon = []", .wrongType, "daemon", "an array", hint: "[daemon]"),
        // The keys of the daemon
        Mistake("[daemon]\nsokket = \"/x\"", .unknownKey, "[daemon] sokket", "unknown key", hint: "write socket"),
        Mistake("[daemon]\nsocket = \"x\"", .badValue, "[daemon] socket", "'x'", hint: "begins with /"),
        Mistake("[daemon]\ngroup = 20", .wrongType, "[daemon] group", "an integer", hint: "group = \"…\""),
        Mistake("[daemon]\nlog-level = \"warn\"", .badValue, "[daemon] log-level", "'warn'", hint: "\"warning\""),
        Mistake("[daemon]\nlog-level = \"17\"", .badValue, "[daemon] log-level", "'17'", hint: "one of: trace, debug"),
        Mistake(
            "[daemon]\ninsecure-listen = \"yes\"", .wrongType, "[daemon] insecure-listen", "a string", hint: "true"),
        // The keys of the page
        Mistake("[http]\n" + pump, .missing, "[http] listen", "missing", hint: "listen = \"8080\""),
        Mistake("[http]\nport = \"8080\"", .unknownKey, "[http] port", "unknown key", hint: "listen, hosts"),
        Mistake("[http]\nlisten = 8080", .wrongType, "[http] listen", "an integer", hint: "listen = \"…\""),
        Mistake("[http]\nlisten = \"x\"", .badValue, "[http] listen", "'x'", hint: "listen = \"4000\""),
        Mistake("[http]\nlisten = \"unix:page\"", .badValue, "[http] listen", "'page'", hint: "\"unix:/run/"),
        Mistake("[http]\nlisten = \"0.0.0.0:80\"", .insecure, "[http] listen", "this machine only", hint: "proxy"),
        Mistake("[http]\nlisten = \"[::]:80\"", .insecure, "[http] listen", "'[::]:80'", hint: "proxy"),
        Mistake("[http]\nlisten = \"bench:80\"", .insecure, "[http] listen", "'bench:80'", hint: "proxy"),
        Mistake(
            "[http]\nlisten = \"80\"\nhosts = [\"a:80\"]", .badValue, "[http] hosts", "'a:80'", hint: "without scheme"),
        Mistake("[http]\nlisten = \"80\"\nhosts = \"\"", .badValue, "[http] hosts", "''", hint: "\"bench.example\""),
        Mistake(
            "[http]\nlisten = \"80\"\nhosts = [\"-h\"]", .badValue, "[http] hosts", "'-h'", hint: "bench.example"),
        Mistake(
            "[http]\nlisten = \"80\"\ncaptures = \"captures\"", .badValue, "[http] captures", "'captures'",
            hint: "begins with /"),
        Mistake("[http]\nlisten = \"80\"\nhosts = [1]", .wrongType, "[http] hosts", "an integer", hint: "[\"…\""),
        Mistake("http = \"8080\"", .wrongType, "http", "a string", hint: "[http]"),
        Mistake(
            "[http]\nlisten = \"4000\"\n" + pump + "tcp = \"4000\"", .conflict, "[device.pump] tcp",
            "in use by [http] listen", hint: "another"),
        // The keys of a device
        Mistake("[device.pump]", .missing, "[device.pump] endpoint", "missing", hint: "endpoint = \"usb:1a86:7523\""),
        Mistake(
            "[device.pump]\nendpiont = \"/dev/ttyUSB0\"", .unknownKey, "[device.pump] endpiont", "unknown key",
            hint: "write endpoint instead"),
        Mistake("[device.'a b']\nendpoint = \"/dev/x\"", .badValue, "[device.a b]", "valid name", hint: "letters"),
        Mistake("[device.'']\nendpoint = \"/dev/x\"", .badValue, "[device.]", "valid name", hint: "letters"),
        Mistake("[device.'ü']\nendpoint = \"/dev/x\"", .badValue, "[device.ü]", "valid name", hint: "letters"),
        Mistake("[device.a]\nendpoint = \"ttyUSB0\"", .badValue, "[device.a] endpoint", "'ttyUSB0'", hint: "path"),
        Mistake(
            "[device.a]\nendpoint = \"sim:led\"", .badValue, "[device.a] endpoint", "'sim:'", hint: "sim led --link"),
        Mistake("[device.a]\nendpoint = \"foo:x\"", .badValue, "[device.a] endpoint", "'foo:'", hint: "tcp:"),
        Mistake("[device.a]\nendpoint = [\"/dev/x\"]", .wrongType, "[device.a] endpoint", "an array", hint: "\"…\""),
        Mistake(device: "family = \"pmp\"", .badValue, "family", "'pmp'", hint: "write one of: pump, "),
        Mistake(device: "record = 1", .wrongType, "record", "an integer", hint: "record = true"),
        Mistake(device: "idle = \"60s\"", .badValue, "idle", "always stays open", hint: "remove"),
        Mistake(
            "[device.a]\nendpoint = \"ble:x\"\nidle = 60", .wrongType, "[device.a] idle", "an integer", hint: "\"…\""),
        Mistake(
            "[device.a]\nendpoint = \"ble:x\"\nidle = \"60\"", .badValue, "[device.a] idle", "'60'", hint: "\"60s\""),
        Mistake("[device.a]\nendpoint = \"ble:x\"\nidle = \"-1s\"", .badValue, "[device.a] idle", "'-1s'", hint: "60s"),
        // The shares of a device
        Mistake(device: "pty = \"pump\"", .badValue, "pty", "'pump'", hint: "begins with /"),
        Mistake(device: "pty = [\"/tmp/a\", 7]", .wrongType, "pty", "an integer", hint: "[\"…\", \"…\"]"),
        Mistake(device: "pty = true", .wrongType, "pty", "true or false", hint: "\"…\""),
        Mistake(device: "unix = \"/run/\"", .badValue, "unix", "'/run/'", hint: "begins with /"),
        Mistake(
            device: "unix = \"/\(String(repeating: "x", count: 107))\"", .badValue, "unix", "108 bytes", hint: "107"),
        Mistake(device: "tcp = 4000", .wrongType, "tcp", "an integer", hint: "tcp = \"…\""),
        Mistake(device: "tcp = \"0\"", .badValue, "tcp", "'0'", hint: "4000"),
        Mistake(device: "tcp = \"65536\"", .badValue, "tcp", "'65536'", hint: "4000"),
        Mistake(device: "tcp = \"localhost\"", .badValue, "tcp", "'localhost'", hint: "127.0.0.1:4000"),
        Mistake(device: "tcp = \":4000\"", .badValue, "tcp", "no host", hint: "127.0.0.1:4000"),
        Mistake(device: "tcp = \"::1:4000\"", .badValue, "tcp", "brackets", hint: "[::1]:4000"),
        Mistake(device: "tcp = \"[x]:4000\"", .badValue, "tcp", "not an IPv6 address", hint: "[::1]:4000"),
        Mistake(
            device: "tcp = \"0.0.0.0:4000\"", .insecure, "tcp", "without a password", hint: "insecure-listen = true"),
        Mistake(device: "tcp = \"bench:4000\"", .insecure, "tcp", "tcp:bench:4000", hint: "insecure-listen = true"),
        Mistake(device: "tcp = \"127.evil.example:4000\"", .insecure, "tcp", "password", hint: "insecure-listen"),
        Mistake(device: "tcp = \"[::]:4000\"", .insecure, "tcp", "tcp:[::]:4000", hint: "insecure-listen"),
        // Two devices with the same endpoint, or two shares at the same address
        Mistake(
            pump + "[device.two]\nendpoint = \"serial:/dev/ttyUSB0?baud=9600\"", .conflict, "[device.two] endpoint",
            "[device.pump]", hint: "keep one"),
        Mistake(
            "[device.a]\nendpoint = \"usb:1A86:7523\"\n[device.b]\nendpoint = \"usb:1a86:7523\"", .conflict,
            "[device.b] endpoint", "[device.a]", hint: "keep one"),
        Mistake(
            device: "pty = \"/tmp/a\"\nunix = \"/tmp/a\"", .conflict, "unix", "in use by [device.pump] pty",
            hint: "another"),
        Mistake(
            "[daemon]\nsocket = \"/tmp/a\"\n" + pump + "unix = \"/tmp/a\"", .conflict, "[device.pump] unix",
            "in use by [daemon] socket", hint: "another"),
        Mistake(
            pump + "tcp = \"4000\"\n[device.two]\nendpoint = \"/dev/x\"\ntcp = \"localhost:4000\"", .conflict,
            "[device.two] tcp", "in use by [device.pump] tcp", hint: "another"),
        Mistake(
            device: "tcp = [\"4000\", \"0.0.0.0:4000\"]", .conflict, "tcp", "in use by [device.pump] tcp",
            hint: "another"),
    ]

    @Test("A mistake in the file is reported with its place and a hint", arguments: mistakes)
    func mistake(_ mistake: Mistake) throws {
        let error = try #require(
            throws: ConfigurationError.self
        ) { _ = try DaemonConfiguration(toml: mistake.text) }
        #expect(error.code == mistake.code, "\(error)")
        #expect(error.place == mistake.place, "\(error)")
        #expect(error.problem.contains(mistake.problem), "\(error)")
        #expect(error.hint.contains(mistake.hint), "\(error.hint)")
        #expect("\(DaemonFailure(error))".utf8.allSatisfy { $0 >= 0x20 })
    }

    @Test(
        "Loopback addresses are distinguished from exposed ones",
        arguments: [
            ("127.0.0.1", false), ("127.8.9.1", false), ("localhost", false), ("::1", false), ("0.0.0.0", true),
            ("192.168.1.7", true), ("128.0.0.1", true), ("::", true), ("fe80::1", true), ("::ffff:192.168.1.7", true),
            ("localhost.example", true), ("127.1", true),
        ])
    func exposure(host: String, isExposed: Bool) {
        #expect(ShareAddress.tcp(host: host, port: 4000).isExposed == isExposed)
    }

    @Test(
        "Durations with units are parsed",
        arguments: [("500ms", 500), ("60s", 60_000), ("10m", 600_000), ("2h", 7_200_000), ("0s", 0)])
    func times(text: String, milliseconds: Int) {
        #expect(TimeText.duration(text) == .milliseconds(milliseconds))
    }

    @Test(
        "Text that is no duration is rejected",
        arguments: ["", "s", "ms", "1", "1d", "1.5s", "+1s", "99999999999999999999s", "300h", "1 s"])
    func noTimes(text: String) { #expect(TimeText.duration(text) == nil) }
}
