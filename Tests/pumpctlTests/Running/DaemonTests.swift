import DescriptorIO
import DeviceKit
import Foundation
import SerialPort
import TestSupport
import Testing
import Transports

@testable import pumpctl

@Suite("pumpctl through pumpctld", .timeLimit(.minutes(5)))
struct DaemonTests {
    /// Returns a pump's reply to a line.
    @Sendable private static func pump(_ line: String) -> String? {
        switch line {
        case "ON": "OK\r\nPUMP:ON\r\n"
        case "OFF": "OK\r\nPUMP:OFF\r\n"
        case "SPEED:128": "OK\r\nSPEED:128\r\n"
        case "TEMP": "TEMP:34.5\r\n"
        case "STATUS": "STATUS:{State:OFF,Speed:0%,WaterTemp:12.0C,SkinTemp:34.5C}\r\n"
        case "": ""
        default: "ERROR:UNKNOWN_COMMAND\r\n"
        }
    }

    /// A port that this process holds open, and a fake daemon that shares it as `pump`. The daemon itself replies to
    /// lines: the device at the port receives nothing.
    private struct Bench {
        let device: ScriptedDevice
        let port: SerialPort
        let daemon: FakeDaemon

        var environment: [String: String] { ["PUMPCTLD_SOCKET": daemon.socketPath] }
        /// Lets pumpctl wait long for the daemon: the daemon is in this process, and slow on a busy machine.
        static let patience = ["--wait", "10m"]

        init(_ answer: @escaping @Sendable (String) -> String? = DaemonTests.pump) async throws {
            device = try await ScriptedDevice()
            port = try SerialPort(path: device.port)
            daemon = try await FakeDaemon([
                FakeDaemon.Device(
                    "pump", family: "pump", endpoint: device.port, deviceID: DeviceID.serialPort(at: device.port),
                    answer: answer)
            ])
        }

        func run(_ arguments: String...) async throws -> ChildProcess.Ending {
            try await Pumpctl.start(["-p", device.port] + Self.patience + arguments, environment: environment).ending()
        }

        func close() async {
            await daemon.close()
            await port.channel().close()
            await device.close()
        }
    }

    @Test(
        "Through pumpctld, every command has the same output and exit status as at a port of its own",
        arguments: [
            ["status"], ["--json", "status"], ["temp"], ["on"], ["off"], ["--json", "off"], ["speed", "128"],
            ["speed", "7"], ["send", "STATUS"], ["--json", "send", "TEMP"],
        ])
    func sameOutput(words: [String]) async throws {
        let own = try await ScriptedDevice(Self.pump)
        let direct = try await Pumpctl.start(["-p", own.port] + words).ending()
        let bench = try await Bench()
        for endpoint in [bench.device.port, "shared:pump"] {
            let through = try await Pumpctl.start(
                ["-p", endpoint] + Bench.patience + words, environment: bench.environment
            ).ending()
            func plain(_ text: String, _ endpoint: String) -> String { text.replacing(endpoint, with: "PORT") }
            #expect(through.status == direct.status, "\(through)")
            #expect(plain(through.output, endpoint) == plain(direct.output, own.port))
            #expect(plain(through.errors, endpoint) == plain(direct.errors, own.port))
        }
        #expect(bench.device.heard.state.text == "")
        await own.close()
        await bench.close()
    }

    @Test("-v reports that pumpctl goes through pumpctld")
    func verbose() async throws {
        let bench = try await Bench()
        let ending = try await bench.run("-v", "status")
        let trace = "* pumpctld has the device: connecting through pumpctld\n* \(bench.device.port) is open\n"
        #expect(ending.errors.hasPrefix(trace), "\(ending)")
        await bench.close()
    }

    @Test("A console works through pumpctld")
    func console() async throws {
        let bench = try await Bench()
        let program = try await Pumpctl.start(
            ["-p", bench.device.port] + Bench.patience + ["console"], environment: bench.environment)
        try await program.write("TEMP\n")
        try await program.output.text(upTo: "34.5")
        await program.closeInput()
        #expect(try await program.ending().status == 0)
        await bench.close()
    }

    @Test("monitor waits for a device that pumpctld has lost")
    func monitor() async throws {
        let bench = try await Bench()
        let program = try await Pumpctl.start(
            ["-p", "shared:pump"] + Bench.patience + ["--json", "monitor", "--interval", "0.5"],
            environment: bench.environment)
        #expect(try await program.output.line().contains("\"link\":\"up\""))
        bench.daemon.devices.update { $0[0].isUp = false }
        await bench.daemon.hangUp()
        try await program.output.text(upTo: "\"link\":\"lost\"")
        bench.daemon.devices.update { $0[0].isUp = true }
        try await program.output.text(upTo: "\"link\":\"up\"")
        program.send(signal: SIGINT)
        #expect(try await program.ending().status == 130)
        await bench.close()
    }

    @Test("After the end of pumpctld, monitor opens the device itself")
    func monitorWithoutDaemon() async throws {
        let bench = try await Bench()
        let program = try await Pumpctl.start(
            ["-p", "shared:pump"] + Bench.patience + ["--json", "monitor", "--interval", "0.5"],
            environment: bench.environment)
        #expect(try await program.output.line().contains("\"link\":\"up\""))
        await bench.port.channel().close()
        await bench.daemon.close()
        try await program.output.text(upTo: "\"link\":\"lost\"")
        try await bench.device.heard.text(upTo: "TEMP\n")
        program.send(signal: SIGINT)
        #expect(try await program.ending().status == 130)
        await bench.device.close()
    }

    @Test("If pumpctld dies during a command, the outcome is unknown")
    func lost() async throws {
        let bench = try await Bench { line in line == "ON" ? nil : Self.pump(line) }
        let ending = try await bench.run("--json", "on")
        expectFailure(ending, 74, saying: "whether it was carried out is unknown", hint: "pumpctl status")
        #expect(try ending.object()["outcome"] as? String == "unknown")
        #expect(ending.errors.contains("pumpctld closed the connection"))
        await bench.close()
    }

    @Test("OFF lost with the connection to pumpctld is sent again")
    func offAgain() async throws {
        let count = Watched(0)
        let bench = try await Bench { line in
            guard line == "OFF" else { return Self.pump(line) }
            return count.update { count in
                count += 1
                return count
            } == 1 ? nil : Self.pump(line)
        }
        let ending = try await bench.run("off")
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.output == "pump off\n")
        #expect(ending.errors.contains("reopening the link"))
        await bench.close()
    }

    @Test("An unknown name, another family and an absent device are refused with a hint")
    func refused() async throws {
        let bench = try await Bench()
        func run(_ words: String...) async throws -> ChildProcess.Ending {
            try await Pumpctl.start(Bench.patience + words, environment: bench.environment).ending()
        }
        expectFailure(
            try await run("-p", "shared:led", "led", "get"), 66, saying: "shared:led", hint: "shared:pump")
        expectFailure(
            try await run("-p", "shared:pump", "led", "on"), 64, saying: "a pump (family pump)",
            hint: "--family pump")
        bench.daemon.devices.update { $0[0].isUp = false }
        let away = try await run("-p", "shared:pump", "--json", "off")
        expectFailure(away, 66, saying: "pumpctld is waiting for the device", "the pump may be on")
        #expect(try away.object()["outcome"] as? String == "not_sent")
        await bench.close()
        expectFailure(
            try await Pumpctl.run(
                "-p", "shared:pump", "status", environment: ["PUMPCTLD_SOCKET": "/proc/nowhere/socket"]),
            69, saying: "no pumpctld listens at /proc/nowhere/socket", hint: "start pumpctld")
    }

    @Test("doctor reports that pumpctld shares the device")
    func doctor() async throws {
        let bench = try await Bench()
        for words in [["doctor", bench.device.port], ["doctor", "shared:pump"]] {
            let ending = try await Pumpctl.start(words, environment: bench.environment).ending()
            #expect(ending.output.contains("ok    \(bench.device.port): open in pumpctld, which shares it as pump\n"))
            #expect(ending.output.contains("→ use the port as before: pumpctl connects through pumpctld"), "\(ending)")
        }
        await bench.close()
    }

    @Test("The port table marks a port of pumpctld")
    func ports() throws {
        let info = SerialPortInfo(path: "/dev/null")
        let device = DaemonDevice(
            name: "pump", family: "pump", endpoint: "/dev/null", isUp: true,
            deviceID: DeviceID.serialPort(at: "/dev/null"))
        let seen = SeenPort(info, Daemons(devices: [device]))
        #expect(seen.shared == "shared:pump")
        #expect(PortTable.text([seen]).hasSuffix("shared:pump"))
        #expect(SeenPort(info, Daemons()).shared == nil)
    }
}
