import ArgumentParser
import DeviceKit
import Logging
import Sharing
import TestSupport
import Testing
import Transports

@testable import pumpctld

@Suite("Command line of pumpctld")
struct ServeOptionsTests {
    /// Parses the options in `line`, which are separated by blanks.
    private static func configuration(_ line: String) throws -> DaemonConfiguration {
        let words = line.split(separator: " ").map(String.init)
        let command = try #require(try PumpctldCommand.parseAsRoot(words) as? PumpctldCommand)
        return try command.options.configuration()
    }

    @Test("Options configure the daemon and one device")
    func device() throws {
        let configuration = try Self.configuration(
            "--port ble:Lamp -f led --name lamp --pty lamp --tcp 4000 --tcp [::1]:4000 --unix /run/lamp --record --idle 5s"
                + " --socket /run/s --verbose")
        #expect(configuration.daemon == DaemonSettings(socket: "/run/s", logLevel: .debug))
        #expect(
            configuration.devices == [
                SharedDeviceSettings(
                    name: "lamp", endpoint: try Endpoint("ble:Lamp").adapted(to: .led), family: .led,
                    shares: [
                        .terminal(link: "lamp"), .tcp(host: "127.0.0.1", port: 4000), .tcp(host: "::1", port: 4000),
                        .unix(path: "/run/lamp"),
                    ], holding: .whileUsed(idle: .seconds(5)), isRecorded: true)
            ])
    }

    @Test("A device without a name is named after its family")
    func name() throws {
        #expect(try Self.configuration("--port /dev/x").devices.map(\.name) == ["pump"])
        #expect(try Self.configuration("--port /dev/x --family led").devices.map(\.name) == ["led"])
    }

    @Test("A TCP address that other machines can reach is refused unless allowed")
    func insecure() throws {
        let failure = try #require(throws: DaemonFailure.self) {
            _ = try Self.configuration("--port /dev/x --tcp 0.0.0.0:4000")
        }
        #expect(failure.status == .usage)
        #expect(failure.message.contains("without a password: anyone who reaches the port controls the device"))
        #expect(failure.hint.contains("--insecure-listen"))
        let configuration = try Self.configuration("--port /dev/x --tcp 0.0.0.0:4000 --insecure-listen")
        #expect(configuration.devices[0].shares == [.tcp(host: "0.0.0.0", port: 4000)])
    }

    @Test(
        "--http adds a page to one device, and replaces the address of a file",
        arguments: [
            ("8080", "127.0.0.1:8080"), ("127.0.0.1:80", "127.0.0.1:80"), ("[::1]:80", "[::1]:80"),
            ("localhost:80", "localhost:80"), ("unix:/run/page", "unix:/run/page"),
        ])
    func page(address: String, passed: String) throws {
        let one = try Self.configuration("--port /dev/x --http \(address)")
        #expect(one.http?.arguments(for: "/s") == ["--http", passed, "--socket", "/s"])
        let folder = TemporaryFolder()
        let path = folder.write(
            """
            [http]
            listen = "9"
            hosts = "bench"
            captures = "/c"
            [device.x]
            endpoint = "/dev/x"
            tcp = "4000"
            """, to: "a.toml")
        #expect(try Self.configuration("--config \(path)").http?.address == .tcp(host: "127.0.0.1", port: 9))
        let several = try Self.configuration("--config \(path) --http \(address)")
        let words = ["--http", passed, "--socket", "/s", "--host", "bench", "--captures", "/c"]
        #expect(several.http?.arguments(for: "/s") == words)
        let failure = try #require(throws: DaemonFailure.self) {
            _ = try Self.configuration("--config \(path) --http 4000")
        }
        #expect(failure.message == "[device.x] tcp: 'tcp:127.0.0.1:4000' is in use by --http")
    }

    @Test(
        "Invalid options are a usage error with the reason",
        arguments: [
            ("--pty /tmp/a", "--port: missing"), ("--port /dev/x --config /etc/x", "cannot be combined with --port"),
            ("--port ttyUSB0", "--port: 'ttyUSB0'"), ("--port /dev/x --family x", "--family: unknown family 'x'"),
            ("--port /dev/x --name a/b", "--name: 'a/b'"), ("--port ble:x --idle 5", "--idle: '5'"),
            ("--port /dev/x --tcp x", "--tcp: 'x'"), ("--port /dev/x --http 0.0.0.0:80", "--http: '0.0.0.0:80'"),
            ("--port /dev/x --tcp 80 --http 80", "--tcp: 'tcp:127.0.0.1:80' is in use by --http"),
            ("--port /dev/x --pty a --unix a", "--unix: 'unix:a' is in use by --pty"),
        ])
    func mistakes(line: String, words: String) throws {
        let failure = try #require(throws: DaemonFailure.self) { _ = try Self.configuration(line) }
        #expect(failure.status == .usage)
        #expect(failure.message.contains(words), "\(failure)")
    }

    @Test("A named configuration file is read, and its mistakes are reported")
    func file() throws {
        let folder = TemporaryFolder()
        let file = folder.write("[device.x]\nendpoint = \"/dev/x\"\n", to: "pumpctld.toml")
        #expect(try Self.configuration("--config \(file)").devices.map(\.name) == ["x"])
        let bad = folder.write("[device.x]\n", to: "bad.toml")
        let failure = try #require(throws: DaemonFailure.self) { _ = try Self.configuration("--config \(bad)") }
        #expect(failure.message == "\(bad): [device.x] endpoint: missing")
        let missing = try #require(throws: DaemonFailure.self) { _ = try Self.configuration("--config /nowhere/x") }
        #expect(missing.status == .noInput)
        let folderAsFile = try #require(throws: DaemonFailure.self) { _ = try Self.configuration("--config /tmp") }
        #expect(folderAsFile.status == .noInput)
    }
}
