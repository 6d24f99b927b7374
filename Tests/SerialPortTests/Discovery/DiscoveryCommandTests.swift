import CSerial
import Glibc
import TestSupport
import Testing

@testable import SerialPort

/// `pumpctl` on devices that umockdev simulates. The exit status 143 is 128 plus the number of SIGTERM.
@Suite(.enabled(if: MockTestbed.isAvailable, MockTestbed.needed))
struct DiscoveryCommandTests {
    let testbed: MockTestbed

    init() async throws {
        testbed = try await MockTestbed()
    }

    @Test func `ports --json lists each port with its known properties`() async throws {
        try await testbed.plug(.ch340, at: "1-2.3", as: "ttyUSB0")
        try await testbed.plug(.ft232(serialNumber: "A50285BI"), at: "1-4", as: "ttyUSB1")
        let command = try await testbed.start("pumpctl", "ports", "--json")
        #expect(
            try await command.output.line() == """
                {"board":"CH340 (Arduino Nano clone)",\
                "by_id":"/dev/serial/by-id/usb-1a86_7523-if00-port0",\
                "by_path":"/dev/serial/by-path/pci-0000:00:14.0-usb-0:2.3:1.0-port0",\
                "driver":"ch341","endpoint":"usb:1a86:7523@1-2.3","holders":[],\
                "id_path":"pci-0000:00:14.0-usb-0:2.3:1.0","in_use":false,"interface":0,\
                "links":["/dev/serial/by-id/usb-1a86_7523-if00-port0",\
                "/dev/serial/by-path/pci-0000:00:14.0-usb-0:2.3:1.0-port0"],\
                "physical_path":"1-2.3","port":"/dev/ttyUSB0","product":"USB Serial","product_id":"7523",\
                "vendor_id":"1a86"}
                """)
        let second = try await command.output.line()
        for fact in [
            #""endpoint":"usb:0403:6001/A50285BI""#, #""manufacturer":"FTDI""#, #""serial_number":"A50285BI""#,
            #""driver":"ftdi_sio""#, #""board":"FT232R (Arduino Nano)""#,
        ] {
            #expect(second.contains(fact))
        }
        let ending = try await command.ending()
        #expect(ending.output == "")
        #expect(ending.status == 0)
    }

    @Test func `ports prints a table`() async throws {
        try await testbed.plug(.ch340, at: "1-2.3", as: "ttyUSB0")
        let command = try await testbed.start("pumpctl", "ports")
        #expect(
            try await command.output.line()
                == "PORT          USB ID     SERIAL NUMBER  PATH   DRIVER  PROBABLY                    IN USE BY")
        #expect(
            try await command.output.line()
                == "/dev/ttyUSB0  1a86:7523  -              1-2.3  ch341   CH340 (Arduino Nano clone)  -")
        #expect(try await command.ending().output == "")
    }

    @Test func `Listing ports opens none of them`() async throws {
        let terminal = try PseudoTerminal()
        try await testbed.plug(.ch340, at: "1-2", as: "ttyUSB0", terminal: terminal.path)
        let opens = try OpenCounter(terminal.path)
        for arguments in [["ports"], ["ports", "--json"]] {
            let command = try await testbed.start("pumpctl", arguments)
            #expect(try await command.ending().status == 0)
        }
        #expect(opens.count() == 0)
        // The counter itself works.
        close(open(terminal.path, O_RDWR | O_NOCTTY))
        #expect(opens.count() == 1)
    }

    @Test func `ports --json names the process that has a port open`() async throws {
        let terminal = try PseudoTerminal()
        try await testbed.plug(.ch340, at: "1-2", as: "ttyUSB0", terminal: terminal.path)
        // With `-o`, flock(1) alone has the port open, and not the command that it runs.
        let child = try await ChildProcess(["flock", "-o", terminal.path, "sh", "-c", "echo ready; read x"])
        #expect(try await child.output.line() == "ready")
        let command = try await testbed.start("pumpctl", "ports", "--json")
        let line = try await command.output.line()
        #expect(line.contains(#"{"command":"flock","locked":true,"pid":\#(child.processID)}"#))
        #expect(line.contains(#""in_use":true"#))
    }

    @Test func `ports --watch prints the table, then plugging and unplugging, until SIGTERM`() async throws {
        try await testbed.plug(.ch340, at: "1-2", as: "ttyUSB0")
        let command = try await testbed.start("pumpctl", "ports", "--watch")
        #expect(try await command.output.line().hasPrefix("PORT "))
        #expect(try await command.output.line().hasPrefix("/dev/ttyUSB0  1a86:7523"))
        try await testbed.plug(.ft232(serialNumber: "A50285BI"), at: "1-3", as: "ttyUSB1")
        #expect(
            try await command.output.line()
                == "+  /dev/ttyUSB1  0403:6001  A50285BI  1-3  ftdi_sio  FT232R (Arduino Nano)")
        try await testbed.unplug("ttyUSB0")
        #expect(try await command.output.line() == "-  /dev/ttyUSB0  1a86:7523  1-2  ch341  CH340 (Arduino Nano clone)")
        command.send(signal: SIGTERM)
        let ending = try await command.ending()
        #expect(ending.signal == SIGTERM)
    }

    @Test func `ports --watch --json prints one event a line`() async throws {
        try await testbed.plug(.ch340, at: "1-2", as: "ttyUSB0")
        let command = try await testbed.start("pumpctl", "ports", "--watch", "--json")
        #expect(try await command.output.line().contains(#""event":"attached","holders":[]"#))
        try await testbed.unplug("ttyUSB0")
        let line = try await command.output.line()
        #expect(line.contains(#""event":"detached""#) && line.contains(#""port":"/dev/ttyUSB0""#))
        #expect(!line.contains("holders"))
        command.send(signal: SIGTERM)
        let ending = try await command.ending()
        #expect(ending.signal == SIGTERM)
    }

    // umockdev replies ENOTTY to the ioctls of opening a terminal, so these tests go no further than open(2).

    @Test func `A USB endpoint opens only the port that it names`() async throws {
        let terminals = try [PseudoTerminal(), PseudoTerminal()]
        try await testbed.plug(.ch340, at: "1-2", as: "ttyUSB0", terminal: terminals[0].path)
        try await testbed.plug(.ch340, at: "1-4", as: "ttyUSB1", terminal: terminals[1].path)
        let opens = try terminals.map { try OpenCounter($0.path) }
        _ = try await testbed.start("pumpctl", "--port", "usb:1a86:7523@1-4?baud=115200", "status").ending()
        #expect(opens.map { $0.count() } == [0, 1])
    }

    @Test func `Without an endpoint the only USB port is opened`() async throws {
        let terminal = try PseudoTerminal()
        try await testbed.plug(.ch340, at: "1-2", as: "ttyUSB0", terminal: terminal.path)
        let uart = try await testbed.add("pnp", "00:04")
        try await testbed.add("tty", "ttyS0", parent: uart, properties: ["DEVNAME": "/dev/ttyS0"])
        let opens = try OpenCounter(terminal.path)
        _ = try await testbed.start("pumpctl", "status").ending()
        #expect(opens.count() == 1)
    }

    @Test func `Without an endpoint several USB ports are listed with their boards, and none is opened`() async throws {
        try await testbed.plug(.ch340, at: "1-2", as: "ttyUSB0")
        try await testbed.plug(.ft232(serialNumber: "A50285BI"), at: "1-3", as: "ttyUSB1")
        let command = try await testbed.start("pumpctl", "--json", "status")
        let line = try await command.output.line()
        #expect(line.contains(#""error":"ambiguous_port""#))
        #expect(line.contains("/dev/ttyUSB0 (CH340 (Arduino Nano clone), usb:1a86:7523@1-2)"))
        #expect(line.contains("/dev/ttyUSB1 (FT232R (Arduino Nano), usb:0403:6001/A50285BI)"))
        #expect(try await command.ending().status == 64)
    }

    @Test func `An ambiguous USB endpoint is refused with the exact endpoint of each match`() async throws {
        try await testbed.plug(.ch340, at: "1-2", as: "ttyUSB0")
        try await testbed.plug(.ch340, at: "1-3", as: "ttyUSB1")
        let command = try await testbed.start("pumpctl", "--json", "--port", "usb:1a86:7523", "status")
        let line = try await command.output.line()
        #expect(line.contains("usb:1a86:7523@1-2 (/dev/ttyUSB0), usb:1a86:7523@1-3 (/dev/ttyUSB1)"))
        #expect(try await command.ending().status == 66)
    }

    @Test func `doctor reports a locked port and its holder, and opens nothing`() async throws {
        let terminal = try PseudoTerminal()
        try await testbed.plug(.ch340, at: "1-2", as: "ttyUSB0", terminal: terminal.path)
        let child = try await ChildProcess(["flock", "-o", terminal.path, "sh", "-c", "echo ready; read x"])
        #expect(try await child.output.line() == "ready")
        let opens = try OpenCounter(terminal.path)
        let doctor = try await testbed.start("pumpctl", "doctor", "--json")
        let ending = try await doctor.ending()
        let lines = ending.lines
        #expect(lines.contains { $0.contains(#""check":"present""#) && $0.contains(#""status":"ok""#) })
        let holder = try #require(lines.first { $0.contains(#""check":"holder""#) })
        #expect(holder.contains("locked by flock (pid \(child.processID))") && holder.contains(#""status":"fail""#))
        #expect(holder.contains(#""remedy":"end it first: kill \#(child.processID)""#))
        #expect(ending.status == 69)
        #expect(opens.count() == 0)
    }

    @Test func `doctor reports an adapter without a serial number, and one with a 16 ms latency timer`() async throws {
        let terminals = try [PseudoTerminal(), PseudoTerminal()]
        try await testbed.plug(.ch340, at: "1-2", as: "ttyUSB0", terminal: terminals[0].path)
        try await testbed.plug(.ft232(serialNumber: "A50285BI"), at: "1-3", as: "ttyUSB1", terminal: terminals[1].path)
        let doctor = try await testbed.start("pumpctl", "doctor", "usb:1a86:7523")
        #expect(
            try await doctor.ending().lines.contains {
                $0.contains("keep the device in this socket, and use --port usb:1a86:7523@1-2")
            })
        let other = try await testbed.start("pumpctl", "doctor", "usb:0403:6001?baud=115200")
        let lines = try await other.ending().lines
        #expect(lines.contains { $0.hasPrefix("warn  ") && $0.hasSuffix("the adapter delays a lone byte by 16 ms") })
        #expect(lines.contains { $0.contains("sudo tee /sys/bus/usb-serial/devices/ttyUSB1/latency_timer") })
        #expect(lines.contains { $0.hasPrefix("ok    ") && $0.hasSuffix("ftdi_sio supports 115200 baud") })
    }

    @Test func `doctor reports a baud rate that the adapter cannot do`() async throws {
        let terminal = try PseudoTerminal()
        try await testbed.plug(.ch340, at: "1-2", as: "ttyUSB0", terminal: terminal.path)
        let doctor = try await testbed.start("pumpctl", "doctor", "usb:1a86:7523?baud=3000000")
        let ending = try await doctor.ending()
        #expect(ending.lines.contains { $0.hasSuffix("ch341 does not support 3000000 baud") })
        #expect(ending.status == 64)
    }

    @Test func `doctor reports an adapter that has no port`() async throws {
        try await testbed.add(
            "usb", "1-2", attributes: ["idVendor": "1a86", "idProduct": "7523"], properties: ["DEVTYPE": "usb_device"])
        let doctor = try await testbed.start("pumpctl", "doctor")
        let ending = try await doctor.ending()
        let lines = ending.lines
        #expect(lines.contains { $0.hasSuffix("a CH340 (1a86:7523) is plugged in at 1-2, but has no port") })
        #expect(lines.contains { $0.hasSuffix("load its driver: sudo modprobe ch341") })
        #expect(ending.status == 66)
    }
}

extension ChildProcess.Ending {
    /// The printed lines that the test has not read yet.
    fileprivate var lines: [Substring] { output.split(separator: "\n") }
}

/// Counts how often a file is opened, with inotify.
private struct OpenCounter {
    private let descriptor: CInt

    init(_ path: String) throws {
        descriptor = inotify_init1(CInt(O_NONBLOCK | O_CLOEXEC))
        try #require(descriptor >= 0)
        try #require(inotify_add_watch(descriptor, path, UInt32(IN_OPEN)) >= 0)
    }

    /// The number of openings since the last call.
    func count() -> Int {
        var buffer = [UInt8](repeating: 0, count: 4096)
        // For a watch on a file that is not a folder, each event consists of a header only.
        return max(0, read(descriptor, &buffer, buffer.count)) / MemoryLayout<inotify_event>.size
    }
}
