import FakeBlueZ
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("pumpctl module and sim module", .timeLimit(.minutes(5)))
struct ModuleCommandTests {
    private static let dialects = ["hm-10", "cc41-a", "mlt-bt05"]

    /// Runs `pumpctl sim` with these arguments, and calls `body` with the device's port and its control socket.
    private func simulating(
        _ arguments: String..., body: (_ port: String, _ control: String) async throws -> Void
    ) async throws {
        let folder = TemporaryFolder()
        let (port, control) = (folder.path("port"), folder.path("control"))
        let sim = try await Pumpctl.start(["sim"] + arguments + ["--link", port, "--control", control])
        #expect(try await sim.output.line() == "PTY \(port)")
        try await body(port, control)
        sim.send(signal: SIGTERM)
        #expect(try await sim.ending().status == 143)
    }

    @Test("info prints the dialect and settings of a module")
    func info() async throws {
        let dialect = "cc41-a"
        try await simulating("module", "--dialect", dialect, "--name", "Bench") { port, _ in
            let shown = try await Pumpctl.run("-p", port, "module", "info")
            #expect(shown.status == 0, "\(shown)")
            let lines = shown.output.split(separator: "\n").map {
                $0.split(separator: " ", maxSplits: 1).map(String.init)
            }
            #expect(lines.map(\.first) == ["dialect", "version", "name", "baud", "role", "address"])
            #expect(shown.output.contains("dialect  \(dialect): "))
            #expect(shown.output.contains("name     Bench\n"))
            let record = try await Pumpctl.run("-p", port, "--json", "module", "info").object()
            #expect(record["ok"] as? Bool == true && record["dialect"] as? String == dialect)
            #expect(record["name"] as? String == "Bench" && record["baud"] as? Int == 9600)
            #expect(record["role"] as? String == "peripheral")
            #expect(record["address"] as? String == "00:15:83:00:00:10")
        }
    }

    @Test("name and baud change a module's settings")
    func setting() async throws {
        try await simulating("module", "--dialect", "hm-10") { port, control in
            #expect(try await Pumpctl.run("-p", port, "module", "name", "pump1").output == "name pump1\n")
            let baud = try await Pumpctl.run("-p", port, "--json", "module", "baud", "115200").object()
            #expect(baud["ok"] as? Bool == true && baud["baud"] as? Int == 115_200)
            let state = try await Pumpctl.run("--json", "sim", "ctl", control, "state").object()
            #expect(state["name"] as? String == "pump1" && state["baud"] as? Int == 115_200)
        }
    }

    @Test("-v shows the baud rates and commands that are tried")
    func verbose() async throws {
        try await simulating("module", "--dialect", "cc41-a") { port, _ in
            let shown = try await Pumpctl.run("-v", "-p", port, "module", "info", "--dialect", "cc41-a")
            #expect(shown.status == 0, "\(shown)")
            #expect(shown.errors.contains("* looking for a module at 9600 baud\n"))
            #expect(shown.errors.contains(#"> AT\x0d\x0a"#))
            let endpoint = "serial:\(port)?baud=19200"
            let named = try await Pumpctl.run("-v", "-p", endpoint, "module", "info")
            #expect(named.errors.contains("* looking for a module at 19200 baud\n"))
        }
    }

    @Test("A pump on the port is recognised, and keeps its state")
    func pump() async throws {
        try await simulating("pump") { port, control in
            #expect(try await Pumpctl.run("-p", port, "on").status == 0)
            for arguments in [["info"], ["name", "x"], ["baud", "19200"], ["info", "--dialect", "hm-10"]] {
                let ending = try await Pumpctl.start(["-p", port, "module"] + arguments).ending()
                expectFailure(ending, 76, saying: "a pump answers, not a module", hint: "take the module off the board")
            }
            #expect(
                try await Pumpctl.run("--json", "sim", "ctl", control, "state").object()["state"] as? String == "on")
        }
    }

    @Test("If a central is connected to the module, info disconnects it and says so")
    func connected() async throws {
        try await simulating("module", "--dialect", "hm-10", "--notices") { port, control in
            #expect(try await Pumpctl.run("sim", "ctl", control, "connect").status == 0)
            let shown = try await Pumpctl.run("-p", port, "module", "info")
            #expect(shown.status == 0, "\(shown)")
            #expect(shown.errors.contains("has disconnected its central"))
            let state = try await Pumpctl.run("--json", "sim", "ctl", control, "state").object()
            #expect(state["connected"] as? Bool == false)
        }
    }

    @Test("Each failure of module has an exit status, a cause and a hint")
    func failures() async throws {
        try await simulating("module", "--dialect", "hm-10") { port, _ in
            let long = try await Pumpctl.run("-p", port, "module", "name", "thirteenbytes")
            expectFailure(long, 64, saying: "13 bytes", "maximum is 12", hint: "choose another name")
            let rate = try await Pumpctl.run("-p", port, "--json", "module", "baud", "1200")
            expectFailure(rate, 64, saying: "does not support this baud rate", hint: "choose one of: 2400, ")
            let record = try rate.object()
            #expect(record["error"] as? String == "unsupported_rate" && record["outcome"] as? String == "not_sent")
        }
        expectFailure(
            try await Pumpctl.run("-p", "sim:led", "module", "info"), 75, saying: "no module answers",
            hint: "check its wiring")
        expectFailure(
            try await Pumpctl.run("-p", "sim:module", "module", "baud", "9600"), 64, saying: "needs a serial port",
            hint: "connect the module")
        expectFailure(
            try await Pumpctl.run("module", "info"), 64, saying: "no port is named", hint: "--port /dev/ttyUSB0")
        expectFailure(
            try await Pumpctl.run("-p", "ble:HMSoft", "module", "info"), 64, saying: "at its UART", hint: "USB adapter")
        expectFailure(try await Pumpctl.run("-p", "/nonexistent", "module", "info"), 66, saying: "/nonexistent")
        expectFailure(
            try await Pumpctl.run("-p", "sim:module", "module", "info", "--dialect", "hc-05"), 64, saying: "hc-05")
        expectFailure(
            try await Pumpctl.run("-p", "sim:module", "module", "info", "--timeout", "2"), 64, saying: "--timeout")
    }

    @Test("A sim: endpoint simulates a module of each dialect", arguments: dialects)
    func endpoint(dialect: String) async throws {
        let shown = try await Pumpctl.run("-p", "sim:module?dialect=\(dialect)&name=X", "module", "info", "--json")
        #expect(try shown.object()["name"] as? String == "X")
    }

    // MARK: Over Bluetooth

    @Test(
        "sim module --ble passes lines between a central and the port",
        arguments: ["hm-10", "cc41-a"])
    func radio(dialect: String) async throws {
        try await withRadioBench(mtu: 23) { bench in
            let folder = TemporaryFolder()
            let port = folder.path("port")
            let sim = try await bench.start([
                "sim", "module", "--dialect", dialect, "--notices", "--link", port, "--ble", "--adapter", "hci1",
            ])
            #expect(try await sim.output.line().hasPrefix("BLE \(dialect == "hm-10" ? "HMSoft" : "BT05") on hci1 ("))
            #expect(try await sim.output.line() == "PTY \(port)")
            let info = try await Pumpctl.run("-p", port, "--json", "module", "info").object()
            #expect(info["dialect"] as? String == dialect)
            let console = try await Pumpctl.start(["-p", port, "console", "--quiet", "60"])
            let central = try await bench.central()
            try await central.subscribe("FFE1")
            try await console.write("STATUS\n")
            #expect(try await central.hears("STATUS\n", of: "FFE1").hasSuffix("STATUS\n"))
            try await central.write(Array("hello\n".utf8), to: "FFE1", type: "command")
            try await console.output.text(upTo: "hello\n")
            try await central.disconnect()
            try await console.output.text(upTo: "OK+LOST")
            await central.close()
            console.send(signal: SIGTERM)
            _ = try await console.ending()
            sim.send(signal: SIGTERM)
            #expect(try await sim.ending().status == 143)
        }
    }

    @Test("sim pump --ble accepts a dialect, which needs --ble")
    func pumpDialect() async throws {
        try await withRadioBench(mtu: 23) { bench in
            let sim = try await bench.start([
                "sim", "pump", "--ble", "--adapter", "hci1", "--dialect", "cc41-a", "--notices", "--unpaced",
            ])
            _ = try await sim.output.line()
            let central = try await bench.central()
            try await central.subscribe("FFE1")
            // The module has passed its notice OK+CONN with a line end to the pump, which replies with an error first.
            try await central.write(Array("TEMP\n".utf8), to: "FFE1", type: "command")
            #expect(try await central.hears("C}\r\n", of: "FFE1").contains("TEMP:{"))
            await central.close()
            sim.send(signal: SIGTERM)
            _ = try await sim.ending()
        }
        expectFailure(
            try await Pumpctl.run("sim", "pump", "--dialect", "hm-10"), 64, saying: "--dialect needs --ble")
    }
}
