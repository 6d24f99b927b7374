import DeviceKit
import Glibc
import SerialPort
import StrictJSON
import TestSupport
import Testing

@testable import pumpctl

@Suite("Words that continue a command line")
struct LineCompletionTests {
    /// A port of an FTDI adapter and one of a CH340, two Bluetooth adapters, two names of BLE devices, a shared device,
    /// and a simulator.
    private static var surroundings: Surroundings {
        get throws {
            var ports = [SerialPortInfo(path: "/dev/ttyUSB0"), SerialPortInfo(path: "/dev/ttyUSB1")]
            ports[0].usb = SerialPortInfo.USB(try #require(USBIdentifier("0403:6001")), physicalPath: "1-4")
            ports[0].usb?.serialNumber = "A5"
            ports[1].usb = SerialPortInfo.USB(try #require(USBIdentifier("1a86:7523")), physicalPath: "1-2.3")
            let verbs = """
                [{"name": "light", "summary": "L.", "arguments": [{"name": "state", "choices": ["on", "off"]}]},
                 {"name": "fault", "summary": "F.", "arguments": [{"name": "fault", "suggestions": ["none", "drop"]}]},
                 {"name": "set", "option": "mute", "summary": "M.", "arguments": [{"name": "mute", "choices": ["yes"]}]},
                 {"name": "set", "option": "lit", "summary": "I.", "arguments": [{"name": "lit", "choices": ["no"]}]}]
                """
            let outlines = try #require(try JSONValue(Array(verbs.utf8), size: .max).elements)
            return Surroundings(
                ports: { [ports] in ports }, adapters: { ["hci0", "hci1"] }, names: { ["HMSoft", "Why?"] },
                shared: { [DaemonDevice(name: "bench", family: "pump", endpoint: "/dev/x", isUp: true)] },
                verbs: { path, device in path == "/c" ? Array(outlines.prefix(device ?? 4)) : [] })
        }
    }

    /// Returns the offered words for a line whose words are separated by blanks.
    private func words(_ line: String) async throws -> [String] {
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let completion = LineCompletion(surroundings: try Self.surroundings)
        return await completion.candidates(behind: Array(words.dropLast()), words[words.count - 1]).map(\.text)
    }

    @Test(
        "Commands and options that continue the line are offered",
        arguments: [
            ("sta", "status"), ("-p X --json sta", "status"), ("rescue ", "send sync listen list export"),
            ("help sim c", "ctl"), ("help status ", ""), ("nosuch x", ""), ("hel", "help"),
            ("--ver", "--version --verbose"),
            ("--he", "--help"), ("led get --he", "--help"), ("-p", "-p"), ("status -p", "-p"),
            ("--port", "--port"), ("status --port X --p", ""), ("status -p X --po", ""), ("led --fam", "--family"),
            ("sim pump --ro", ""), ("sim storm --ro", "--rows"), ("sim storm --with led --wi", "--with"),
            ("temp --no-", "--no-record"), ("forget --a", "--all"), ("sim pump --run -- x", "--"),
            ("record f -- led g", "get"), ("record f -- led get --fam", "--family"), ("send -- --po", ""),
            ("record f -- ./x y", "--"), ("record f -- nosuch", "--"),
        ])
    func commands(line: String, expected: String) async throws {
        let all = try await words(line)
        #expect(Set(all) == Set(expected.split(separator: " ").map(String.init)), "\(all)")
    }

    @Test("After a complete command, the options that it does not have yet are offered")
    func rest() async throws {
        let all = try await words("status --json ")
        #expect(all.contains("--port") && all.contains("--help") && !all.contains("--json"))
        #expect(try await words("speed ").isEmpty)
    }

    @Test(
        "Values of options and arguments that continue the line are offered",
        arguments: [
            ("-f l", "led"), ("history --family s", "storm"), ("scan --family=s", "--family=storm"),
            ("console --ends ", "lf cr crlf none"), ("verify --report t", "text tap"),
            ("gatt ble:x read 1 --type u", "u8 u16 u32"),
            ("rescue list --category S", "Shelter SOS"), ("module info --dialect c", "cc41-a"),
            ("scan --adapter ", "hci0 hci1"), ("sim led --ble --adapter hci1", "hci1"), ("page --revoke ", "all"),
            ("forget ", "ble:HMSoft ble:Why%3F"), ("led on ", "led"), ("peer toggle o", "on off"),
            ("gatt ble:x re", "read"),
            ("gatt -p ble:x n", "notify"), ("gatt ble:H", "ble:HMSoft"), ("doctor sh", "shared:bench"),
            ("status --timeout ", ""), ("send ST", ""),
            // The options of a simulator.
            ("sim pump --line-end ", "crlf lf"), ("sim pump --fault dr", "drift drop drain"),
            ("sim pump --fault drop,twice,tw", ""), ("sim pump --fault drop=,dri", "drop=,drift"),
            ("sim pump --fault drop@li", "drop@line:"), ("sim pump --expect o", "one-in-flight"),
            ("sim led --fault disc", ""), ("sim led --ble --fault disc", "disconnect"),
            ("sim led --fault noi", "noise"),
            ("sim storm --interval ", "off"), ("sim pump --with st", "storm storm?"),
            ("sim pump --with led?mu", "led?mute led?mute&"),
            // The checks of a verification.
            ("verify --only ", "pump. storm. led. peer. rescue."), ("-p sim:led verify --only ", "led."),
            ("-f led verify --only led.k", "led.kept"), ("verify --only pump.temp. pump.rep", "pump.reply."),
            ("verify --only pump.temp --rep", "--report --repeat"),
            ("verify --as-device --only led.host.pl", "led.host.plain."),
            // A simulator that runs.
            ("sim ctl /c s", "set state stop"), ("sim ctl /c light ", "on off"), ("sim ctl /c light on ", ""),
            ("sim ctl /c set ", "mute lit"), ("sim ctl /c set lit ", "no"), ("sim ctl /c fault ", "none drop"),
            ("sim ctl --device 1 /c set ", ""), ("sim ctl /gone a", "advance"), ("sim ctl /gone light ", ""),
        ])
    func values(line: String, expected: String) async throws {
        let all = try await words(line)
        #expect(Set(all) == Set(expected.split(separator: " ").map(String.init)), "\(all)")
    }

    @Test(
        "Endpoints that continue the text are offered",
        arguments: [
            ("usb", "usb:0403:6001 usb:0403:6001/A5 usb:1a86:7523 usb:1a86:7523@1-2.3"),
            ("usb:0403:6001/", "usb:0403:6001/A5"), ("ble:", "ble:HMSoft ble:Why%3F"),
            ("s", "serial: shared:bench sim:"),
            ("/dev/ttyUSB", "/dev/ttyUSB0 /dev/ttyUSB1"), ("tcp:", ""), ("nosuch:", ""), ("shared:b", "shared:bench"),
            ("sim:", "sim:pump sim:storm sim:led sim:peer sim:rescue sim:raw sim:module"),
            ("sim:le", "sim:led sim:led?"),
            ("sim:led?mu", "sim:led?mute sim:led?mute&"), ("sim:led?mute=", "sim:led?mute=on sim:led?mute=off"),
            ("sim:led?mute&mu", ""), ("sim:led?mute=on&un", "sim:led?mute=on&unpaced sim:led?mute=on&unpaced&"),
            ("sim:led?expect", ""), ("sim:nosuch?", ""), ("sim:led?seed=7", ""),
            ("usb:1a86:7523?par", "usb:1a86:7523?parity="),
            ("serial:/dev/x?stop=1", "serial:/dev/x?stop=1 serial:/dev/x?stop=1&"),
            ("ble:x?adapter=hci0&fam", "ble:x?adapter=hci0&family="),
            ("ble:x?profile=issc&family=l", "ble:x?profile=issc&family=led ble:x?profile=issc&family=led&"),
            ("replay:x?pace=n", "replay:x?pace=none"), ("unix:x?", ""), ("shared:bench?", ""),
        ])
    func endpoints(typed: String, expected: String) async throws {
        let all = try await words("status --port " + typed)
        #expect(Set(all) == Set(expected.split(separator: " ").map(String.init)), "\(all)")
    }

    @Test("Without a text, the known endpoints are offered, and the schemes that have none")
    func anything() async throws {
        let all = try await words("--port ")
        let wanted = [
            "/dev/ttyUSB0", "usb:1a86:7523", "ble:HMSoft", "shared:bench", "sim:", "replay:", "tcp:", "unix:",
        ]
        #expect(Set(wanted).isSubset(of: all), "\(all)")
        #expect(Set(all).isDisjoint(with: ["usb:", "ble:", "shared:"]), "\(all)")
    }

    @Test("Only the kinds of files that fit the option are offered: files, folders, sockets or terminals")
    func files() async throws {
        let folder = TemporaryFolder()
        let terminal = try PseudoTerminal(link: folder.path("pump"))
        let daemon = try await FakeDaemon([], in: folder)
        defer { withExtendedLifetime((terminal, daemon)) {} }
        try folder.makeFolder("sub")
        for name in ["one.capture", ".hidden"] { _ = folder.write("", to: name) }
        // In an endpoint, a question mark ends the path.
        try #require(symlink(daemon.socketPath, folder.path("sub/a?b")) == 0)
        let path = folder.path("")
        func names(_ line: String) async throws -> Set<String> {
            Set(
                try await words(line + path).map {
                    String($0.replacing(path, with: "").split(separator: ":").last ?? "")
                })
        }
        #expect(try await names("--port ") == ["pump", "sub/"])
        #expect(try await names("--port serial:") == ["pump", "sub/"])
        #expect(try await names("--port unix:") == ["socket", "sub/"])
        #expect(try await names("--port replay:") == ["pump", "sub/", "socket", "one.capture"])
        #expect(try await words("--port unix:" + path + "sub/a?").isEmpty)
        #expect(try await names("replay ") == ["pump", "sub/", "socket", "one.capture"])
        #expect(try await names("sim ctl ") == ["socket", "sub/"])
        #expect(try await names("verify --stimulus ") == ["socket", "sub/"])
        #expect(
            try await names("status --capture=") == [
                "--capture=pump", "--capture=sub/", "--capture=socket", "--capture=one.capture",
            ])
        #expect(try await names("page --captures ") == ["sub/"])
        #expect(try await words("replay " + path + ".h") == [path + ".hidden"])
        #expect(try await words("replay " + path + "gone/").isEmpty)
    }
}
