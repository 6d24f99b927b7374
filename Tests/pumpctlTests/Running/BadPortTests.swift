import DeviceKit
import Foundation
import Glibc
import SerialPort
import Testing
import TestSupport

@testable import pumpctl

@Suite("Unusable ports")
struct BadPortTests {
    @Test("A missing port is reported with 66 and a hint")
    func noSuchPort() async throws {
        let ending = try await Pumpctl.run("-p", "/dev/ttyNONE7", "status")
        expectFailure(ending, 66, saying: "/dev/ttyNONE7", "no such port", hint: "/dev/serial/by-id")
        let asJSON = try await Pumpctl.run("-p", "/dev/ttyNONE7", "--json", "status")
        let object = try asJSON.object()
        #expect(object["error"] as? String == "not_found")
        #expect(object["exit_code"] as? Int == 66)
        #expect(object["hint"] as? String != nil)
    }

    @Test("A directory is refused as a port")
    func directory() async throws {
        expectFailure(try await Pumpctl.run("-p", "/tmp", "status"), 66, saying: "/tmp", hint: "directory")
    }

    @Test("A plain file is refused as a port and not changed")
    func plainFile() async throws {
        let folder = TemporaryFolder()
        let path = folder.write("OK\nPUMP:ON\n", to: "file")
        expectFailure(try await Pumpctl.run("-p", path, "on"), 66, saying: path, hint: "name a serial port")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "OK\nPUMP:ON\n")
    }

    @Test("A name without its folder is refused with the full path")
    func bareName() async throws {
        expectFailure(try await Pumpctl.run("-p", "ttyUSB0", "status"), 64, saying: "ttyUSB0", hint: "/dev/ttyUSB0")
    }

    @Test("An empty port name is refused")
    func emptyName() async throws {
        expectFailure(try await Pumpctl.run("-p", "", "status"), 64, saying: "endpoint", hint: "/dev/ttyUSB0")
    }

    @Test("A command waits up to --wait for a port that a short command has open")
    func busy() async throws {
        let device = try await ScriptedDevice { $0 == "TEMP" ? "TEMP:34.5\r\n" : "" }
        let holder = try await Pumpctl.start(["-p", device.port, "--timeout", "600", "status"])
        try await device.heard.text(upTo: "STATUS\n")
        let name = "pumpctl (pid \(holder.processID))"
        let ending = try await Pumpctl.run("-p", device.port, "--timeout", "0.1", "temp")
        expectFailure(ending, 69, saying: device.port, name, hint: "wait longer: --wait TIME")
        holder.send(signal: SIGSTOP)
        let stopped = try await Pumpctl.run("-p", device.port, "temp")
        expectFailure(stopped, 69, saying: device.port, name, hint: "resume it: kill -CONT \(holder.processID)")
        holder.send(signal: SIGCONT)
        let patient = try await Pumpctl.start(["-p", device.port, "--wait", "10m", "temp"])
        #expect(try await patient.errors.line() == "pumpctl: \(device.port): waiting for \(name)")
        holder.send(signal: SIGINT)
        #expect(try await holder.ending().status == 130)
        let late = try await patient.ending()
        #expect(late.status == 0, "\(late)")
        await device.close()
    }

    @Test("A port that a monitor has open is refused at once, with a hint on pumpctl serve")
    func watched() async throws {
        let device = try await ScriptedDevice()
        let holder = try await Pumpctl.start(["-p", device.port, "--timeout", "600", "monitor"])
        try await device.heard.text(upTo: "\n")
        let ending = try await Pumpctl.run("-p", device.port, "--timeout", "600", "status")
        expectFailure(
            ending, 69, saying: device.port, "pumpctl (pid \(holder.processID))", hint: "pumpctl serve")
        #expect(!ending.errors.contains("kill"))
        holder.send(signal: SIGINT)
        try await holder.ending()
        await device.close()
    }

    @Test("Ten commands at once take turns on the port")
    func crowd() async throws {
        let device = try await ScriptedDevice { $0 == "TEMP" ? "TEMP:34.5\r\n" : nil }
        try await withThrowingTaskGroup(of: ChildProcess.Ending.self) { group in
            for _ in 0..<10 {
                group.addTask { try await Pumpctl.run("-p", device.port, "--timeout", "120", "temp") }
            }
            for try await ending in group { #expect(ending.status == 0, "\(ending)") }
        }
        await device.close()
    }

    @Test("A port without permission is reported with 77 and a remedy")
    func notPermitted() async throws {
        let device = try await ScriptedDevice()
        chmod(device.port, 0o600)
        var program = [Executable.pumpctl]
        let folder = TemporaryFolder()
        if geteuid() == 0 {
            // Root may open any port, so pumpctl runs as nobody, who must be able to reach the program.
            chmod(folder.path, 0o755)
            // `cp` makes the copy. If this process did, a child of another test could inherit the file open for
            // writing, and the copy could not be executed (ETXTBSY).
            try await ChildProcess(["cp", Executable.pumpctl, folder.path("pumpctl")]).ending()
            program = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", folder.path("pumpctl")]
        } else {
            chmod(device.port, 0)
        }
        let ending = try await Pumpctl.start(["-p", device.port, "status"], program: program).ending()
        expectFailure(ending, 77, saying: device.port, "permi", hint: "sudo -u ")
        guard geteuid() == 0 else { return }
        // The port is now open to the group 5 (`tty` on Debian), which the hint may advise to join, unlike root's.
        #expect(chown(device.port, 0, 5) == 0 && chmod(device.port, 0o660) == 0)
        let group = try await Pumpctl.start(["-p", device.port, "status"], program: program).ending()
        expectFailure(group, 77, saying: device.port, hint: "sudo usermod -aG")
        await device.close()
    }

    @Test(
        "Without a named port and any USB port, the error asks for --port",
        .enabled(
            if: (try? SerialPortDiscovery.ports().allSatisfy { $0.usb == nil }) == true,
            "there are USB serial ports here"))
    func noPort() async throws {
        expectFailure(try await Pumpctl.run("status"), 66, saying: "no USB serial port", hint: "--port")
    }

    @Test("Without a named port several ports are listed, and none is chosen")
    func severalPorts() throws {
        let ports = try ["/dev/ttyUSB0", "/dev/ttyUSB1"].enumerated().map { index, path in
            var port = SerialPortInfo(path: path)
            port.usb = SerialPortInfo.USB(try #require(USBIdentifier("1a86:7523")), physicalPath: "1-\(index + 1)")
            return port
        }
        let error = try #require(throws: PortChoiceError.self) { try PortChoice.plausible(among: ports) }
        let failure = Failure(of: error)
        #expect(failure.status == .usage)
        #expect(failure.message.contains("/dev/ttyUSB0") && failure.message.contains("/dev/ttyUSB1"))
        #expect(failure.hint == "choose one: --port /dev/ttyUSB0")
    }

    @Test("An unknown endpoint scheme is refused with the known ones")
    func unknownScheme() async throws {
        expectFailure(
            try await Pumpctl.run("-p", "carrier:pigeon", "status"), 64, saying: "carrier:pigeon", hint: "tcp:")
    }

    @Test("An unknown endpoint option is refused with the known ones")
    func endpointOption() async throws {
        let ending = try await Pumpctl.run("-p", "serial:/dev/null?colour=red", "status")
        expectFailure(ending, 64, saying: "serial:/dev/null", hint: "baud")
    }
}
