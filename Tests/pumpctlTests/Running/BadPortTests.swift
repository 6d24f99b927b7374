import DeviceKit
import Foundation
import Glibc
import SerialPort
import Testing
import TestSupport

@testable import pumpctl

@Suite("Ports that are none, or not to be had")
struct BadPortTests {
    @Test("No such port")
    func noSuchPort() async throws {
        let ending = try await Pumpctl.run("-p", "/dev/ttyNONE7", "status")
        expectFailure(ending, 66, saying: "/dev/ttyNONE7", "no such port", hint: "/dev/serial/by-id")
        let asJSON = try await Pumpctl.run("-p", "/dev/ttyNONE7", "--json", "status")
        let object = try asJSON.object()
        #expect(object["error"] as? String == "not_found")
        #expect(object["exit_code"] as? Int == 66)
        #expect(object["hint"] as? String != nil)
    }

    @Test("A directory")
    func directory() async throws {
        expectFailure(try await Pumpctl.run("-p", "/tmp", "status"), 66, saying: "/tmp", hint: "directory")
    }

    @Test("A plain file")
    func plainFile() async throws {
        let folder = TemporaryFolder()
        let path = folder.write("OK\nPUMP:ON\n", to: "file")
        expectFailure(try await Pumpctl.run("-p", path, "on"), 66, saying: path, hint: "name a serial port")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "OK\nPUMP:ON\n")
    }

    @Test("A name without its folder")
    func bareName() async throws {
        expectFailure(try await Pumpctl.run("-p", "ttyUSB0", "status"), 64, saying: "ttyUSB0", hint: "/dev/ttyUSB0")
    }

    @Test("No name at all")
    func emptyName() async throws {
        expectFailure(try await Pumpctl.run("-p", "", "status"), 64, saying: "endpoint", hint: "/dev/ttyUSB0")
    }

    @Test("A busy port, with its holder's name and process number")
    func busy() async throws {
        let device = try await ScriptedDevice()
        let holder = try await Pumpctl.start(["-p", device.port, "--timeout", "600", "send", "STATUS"])
        try await device.heard.text(upTo: "STATUS\n")
        let ending = try await Pumpctl.run("-p", device.port, "status")
        let name = "pumpctl (pid \(holder.processID))"
        expectFailure(ending, 69, saying: device.port, name, hint: "end it first: kill \(holder.processID)")
        holder.send(signal: SIGINT)
        #expect(try await holder.ending().status == 130)
        await device.close()
    }

    @Test("A port that this user may not use")
    func notPermitted() async throws {
        let device = try await ScriptedDevice()
        chmod(device.port, 0o600)
        var program = [Executable.pumpctl]
        let folder = TemporaryFolder()
        if geteuid() == 0 {
            // Root may do anything; nobody may not, but must be able to reach the program.
            chmod(folder.path, 0o755)
            // By a program of its own: a child of another test must not inherit a file that is being written.
            try await ChildProcess(["cp", Executable.pumpctl, folder.path("pumpctl")]).ending()
            program = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", folder.path("pumpctl")]
        } else {
            chmod(device.port, 0)
        }
        let ending = try await Pumpctl.start(["-p", device.port, "status"], program: program).ending()
        expectFailure(ending, 77, saying: device.port, "permi", hint: "udev")
        chmod(device.port, 0o660)
        guard geteuid() == 0 else { return }
        let group = try await Pumpctl.start(["-p", device.port, "status"], program: program).ending()
        expectFailure(group, 77, saying: device.port, hint: "sudo usermod -aG")
        await device.close()
    }

    @Test(
        "No port named, and none there",
        .enabled(
            if: (try? SerialPortDiscovery.ports().allSatisfy { $0.usb == nil }) == true,
            "there are USB serial ports here"))
    func noPort() async throws {
        expectFailure(try await Pumpctl.run("status"), 66, saying: "no USB serial port", hint: "--port")
    }

    @Test("No port named, and several there")
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

    @Test("An unknown kind of endpoint")
    func unknownScheme() async throws {
        expectFailure(
            try await Pumpctl.run("-p", "carrier:pigeon", "status"), 64, saying: "carrier:pigeon", hint: "tcp:")
    }

    @Test("An option of an endpoint that there is not")
    func endpointOption() async throws {
        let ending = try await Pumpctl.run("-p", "serial:/dev/null?colour=red", "status")
        expectFailure(ending, 64, saying: "serial:/dev/null", hint: "baud")
    }
}
