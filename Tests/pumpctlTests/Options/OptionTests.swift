import ArgumentParser
import Foundation
import Glibc
import Testing
import TestSupport

@testable import pumpctl

@Suite("Shared options and the choice of the port")
struct OptionTests {
    @Test(
        "Shared options are accepted before and after the command's name",
        arguments: [
            ["-p", "PORT", "--json", "status"], ["status", "-p", "PORT", "--json"],
            ["--json", "status", "--port=PORT"],
        ])
    func places(arguments: [String]) throws {
        let command = try #require(try CommandLine(arguments).parsed() as? any ContextCommand)
        let options = command.shared
        #expect(options.port == "PORT" && options.json)
    }

    @Test("A different second endpoint is refused, the same one twice is accepted")
    func twoEndpoints() async throws {
        let pump = try await BenchPump()
        #expect(try await Pumpctl.run("-p", "/proc/nowhere", "on", "-p", pump.port).status == 64)
        #expect(try await Pumpctl.run("-p", pump.port, "off", "-p", "sim:pump").status == 64)
        #expect(try await Pumpctl.run("-p", pump.port, "status", "-p", pump.port).status == 0)
        await pump.close()
    }

    @Test(
        "A wrong command line of off says that OFF was not sent",
        arguments: [["--bogus"], ["-p", "sim:storm"], ["off"], ["--family", "led"]])
    func wrongOff(words: [String]) async throws {
        let ending = try await Pumpctl.start(["--json", "-p", "sim:pump", "off"] + words).ending()
        expectFailure(ending, 64, saying: "OFF was not sent: the pump may be on")
        #expect(try ending.object()["outcome"] as? String == "not_sent")
    }

    @Test("PUMPCTL_PORT names the port, and --port overrides it")
    func variable() async throws {
        let pump = try await BenchPump()
        #expect(try await Pumpctl.run("status", environment: ["PUMPCTL_PORT": pump.port]).status == 0)
        let named = try await Pumpctl.run("-p", pump.port, "status", environment: ["PUMPCTL_PORT": "/proc/nowhere"])
        #expect(named.status == 0)
        await pump.close()
    }

    @Test("The configuration file names the port, and PUMPCTL_PORT overrides it")
    func configuration() async throws {
        let pump = try await BenchPump()
        let folder = TemporaryFolder()
        try folder.makeFolder("pumpctl")
        try folder.makeFolder(".config")
        try folder.makeFolder(".config/pumpctl")
        _ = folder.write("{\"port\": \"\(pump.port)\"}", to: "pumpctl/config.json")
        _ = folder.write("{\"port\": \"\(pump.port)\"}", to: ".config/pumpctl/config.json")
        #expect(try await Pumpctl.run("status", environment: ["XDG_CONFIG_HOME": folder.path]).status == 0)
        #expect(try await Pumpctl.run("status", environment: ["HOME": folder.path]).status == 0)
        let variable = try await Pumpctl.run(
            "status", environment: ["HOME": folder.path, "PUMPCTL_PORT": "/proc/nowhere"])
        #expect(variable.status == 66)
        await pump.close()
    }

    @Test("An invalid configuration file is reported once", arguments: [["status"], ["--json", "status"]])
    func brokenConfiguration(words: [String]) async throws {
        let folder = TemporaryFolder()
        try folder.makeFolder("pumpctl")
        let path = folder.write("port = /dev/ttyUSB0", to: "pumpctl/config.json")
        let environment = ["XDG_CONFIG_HOME": folder.path]
        let ending = try await Pumpctl.start(words, environment: environment).ending()
        expectFailure(ending, 64, saying: path, hint: "JSON")
        #expect(ending.errors.split(separator: "\n").count == 2, "\(ending.errors)")
        #expect(ending.output.isEmpty == (words.count == 1))
    }

    @Test("A configuration file that can't be read is reported with the reason", arguments: [false, true])
    func unreadableConfiguration(isPipe: Bool) async throws {
        let folder = TemporaryFolder()
        try folder.makeFolder("pumpctl")
        let path = folder.path("pumpctl/config.json")
        if isPipe { #expect(mkfifo(path, 0o600) == 0) } else { try folder.makeFolder("pumpctl/config.json") }
        let ending = try await Pumpctl.start(["status"], environment: ["XDG_CONFIG_HOME": folder.path]).ending()
        #expect(ending.status == (isPipe ? 64 : 66), "\(ending)")
        #expect(ending.errors.contains("\(path): \(isPipe ? "not a JSON object" : "Is a directory")"), "\(ending)")
    }

    @Test("-v shows the traffic on standard error")
    func verbose() async throws {
        let pump = try await BenchPump()
        let ending = try await Pumpctl.run("-v", "-p", pump.port, "off")
        #expect(ending.output == "pump off\n")
        for part in ["OFF", "< OK", "PUMP:OFF", pump.port] {
            #expect(ending.errors.contains(part), "\(ending.errors)")
        }
        await pump.close()
    }

    @Test(
        "A port has the baud rate of its family, unless the endpoint names one",
        arguments: [
            (["-p", "PORT", "storm", "log", "live"], B115200),
            (["-p", "serial:PORT?baud=19200", "storm", "log", "live"], B19200),
            (["-p", "PORT", "monitor"], B9600), (["-p", "PORT", "--family", "led", "console"], B115200),
            (["-p", "PORT", "peer", "listen"], B115200),
            (["-p", "PORT", "--family", "rescue", "console"], B115200),
        ] as [([String], Int32)])
    func baudRate(words: [String], rate: Int32) async throws {
        let device = try await ScriptedDevice()
        let program = try await Pumpctl.start(["-v"] + words.map { $0.replacing("PORT", with: device.port) })
        #expect(try await program.errors.line().hasSuffix("is open"))
        let descriptor = open(device.port, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        var settings = termios()
        #expect(tcgetattr(descriptor, &settings) == 0)
        #expect(cfgetospeed(&settings) == speed_t(rate))
        Glibc.close(descriptor)
        program.send(signal: SIGTERM)
        _ = try await program.ending()
        await device.close()
    }

    @Test("sim:pump needs no port")
    func simulated() async throws {
        let ending = try await Pumpctl.run("-p", "sim:pump?thermistors=1", "--json", "temp")
        #expect(ending.status == 0)
        #expect(try ending.object()["temp_c"] is Double)
    }
}
