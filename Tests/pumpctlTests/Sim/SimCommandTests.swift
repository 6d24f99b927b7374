import DescriptorIO
import Foundation
import Glibc
import Testing
import TestSupport

@Suite("sim pump, for other programs")
struct SimCommandTests {
    /// Runs a program with none of the descriptors that happen to be open here, and room for 20 in all.
    private static let withFewDescriptors = """
        for fd in /proc/$$/fd/*; do fd=${fd##*/}; if ((fd > 2)); then eval "exec $fd>&-"; fi; done
        ulimit -n 20; exec "$0" "$@"
        """

    @Test("Clients beyond its descriptors keep no later one out")
    func descriptorsUsedUp() async throws {
        let sim = try await Pumpctl.start(
            ["sim", "pump", "--tcp", "0", "--unpaced"],
            program: ["/bin/bash", "-c", Self.withFewDescriptors, Executable.pumpctl])
        let line = try await sim.output.line()
        let text = String(try #require(line.firstMatch(of: /tcp:127\.0\.0\.1:[0-9]+/)).output)
        let port = try #require(UInt16(text.split(separator: ":")[2]))
        var clients: [DescriptorChannel] = []
        for _ in 0..<20 {
            let address = SocketAddress.tcp(host: "127.0.0.1", port: port)
            clients.append(try await DescriptorChannel.connect(to: address, deadline: .now + .seconds(30)))
        }
        for client in clients { await client.close() }
        #expect(try await Pumpctl.run("-p", text, "status").status == 0)
        sim.send(signal: SIGTERM)
        _ = try await sim.ending()
    }

    @Test(
        "It serves under a link, and SIGTERM removes the link",
        arguments: [(SIGTERM, 143), (SIGINT, 130)] as [(CInt, Int32)])
    func link(signal: CInt, status: Int32) async throws {
        let folder = TemporaryFolder()
        let path = folder.path("pump")
        let sim = try await Pumpctl.start(["sim", "pump", "--pty", "--unpaced", "--link", path])
        #expect(try await sim.output.line() == "PTY \(path)")
        #expect(try await Pumpctl.run("-p", path, "on").status == 0)
        #expect(try await Pumpctl.run("-p", path, "speed", "200").output == "speed 200 (78 %)\n")
        let answer = try await Pumpctl.run("-p", path, "--json", "status").object()
        #expect(answer["speed_percent"] as? Int == 78)
        sim.send(signal: signal)
        #expect(try await sim.ending().status == status)
        #expect(access(path, F_OK) != 0)
        var entry = stat()
        #expect(lstat(path, &entry) != 0)
    }

    @Test("A second one leaves a path that is taken alone, and says so")
    func takenPath() async throws {
        let folder = TemporaryFolder()
        let path = folder.path("pump")
        let sim = try await Pumpctl.start(["sim", "pump", "--link", path])
        _ = try await sim.output.line()
        let second = try await Pumpctl.run("sim", "pump", "--link", path)
        expectFailure(second, 69, saying: path, "taken", hint: "choose another path")
        #expect(try await Pumpctl.run("-p", path, "status").status == 0)

        let file = folder.write("mine", to: "file")
        let third = try await Pumpctl.run("sim", "pump", "--link", file)
        expectFailure(third, 69, saying: file, hint: "choose another path")
        sim.send(signal: SIGTERM)
        _ = try await sim.ending()
    }

    @Test("A path in no folder is named")
    func noFolder() async throws {
        let ending = try await Pumpctl.run("sim", "pump", "--link", "/nonexistent/pump")
        expectFailure(ending, 66, saying: "/nonexistent/pump", hint: "folder")
    }

    @Test("What a killed one left behind is replaced")
    func staleLink() async throws {
        let folder = TemporaryFolder()
        let path = folder.path("pump")
        // As one that was killed leaves it, but for a number that another test's terminal can't be given.
        #expect(symlink("/dev/pts/999999", path) == 0)
        let second = try await Pumpctl.start(["sim", "pump", "--link", path])
        #expect(try await second.output.line() == "PTY \(path)")
        #expect(try await Pumpctl.run("-p", path, "status").status == 0)
        second.send(signal: SIGTERM)
        _ = try await second.ending()
    }

    @Test(
        "The knob's speed is taken a turn after the first ON; it stands half-way unless told otherwise",
        arguments: [([], 50), (["--knob", "716"], 70), (["--knob", "0"], 0), (["--knob=1023"], 100)])
    func knob(options: [String], percent: Int) async throws {
        let sim = try await Pumpctl.start(["sim", "pump", "--tcp", "0", "--unpaced"] + options)
        let line = try await sim.output.line()
        let port = String(try #require(line.firstMatch(of: /tcp:127\.0\.0\.1:[0-9]+/)).output)
        #expect(try await Pumpctl.run("-p", port, "on").status == 0)
        // Handled in a later turn than ON, in which the knob was read first.
        let status = try await Pumpctl.run("-p", port, "--json", "status").object()
        #expect(status["speed_percent"] as? Int == percent)
        sim.send(signal: SIGTERM)
        _ = try await sim.ending()
    }

    @Test("A simulated pump in the program has a knob as well", arguments: [("", 50), ("?knob=1023", 100)])
    func knobInside(options: String, percent: Int) async throws {
        let console = try await Pumpctl.start(["-p", "sim:pump\(options)", "console", "--quiet", "0.1"])
        try await console.write("ON\nSTATUS\n")
        await console.closeInput()
        let ending = try await console.ending()
        #expect(ending.output.contains("Speed:\(percent)%"), "\(ending)")
    }

    @Test("--tcp 0 takes a free port and says which")
    func tcp() async throws {
        let sim = try await Pumpctl.start(["sim", "pump", "--tcp", "0", "--thermistors", "1", "--json"])
        let line = try await sim.output.line()
        let port = try #require(line.firstMatch(of: /tcp:127\.0\.0\.1:[0-9]+/)).output
        #expect(try await Pumpctl.run("-p", String(port), "on").status == 0)
        let temperatures = try await Pumpctl.run("-p", String(port), "temp")
        #expect(temperatures.output.hasPrefix("temp  "))

        let number = String(port.split(separator: ":")[2])
        expectFailure(try await Pumpctl.run("sim", "pump", "--tcp", number), 69, saying: number, hint: "--tcp 0")
        sim.send(signal: SIGTERM)
        #expect(try await sim.ending().status == 143)
        expectFailure(
            try await Pumpctl.run("-p", String(port), "status"), 66, saying: String(port), hint: "start the server")
    }

    @Test(
        "Options that don't go together, or are out of range, are refused",
        arguments: [
            ["--tcp", "0", "--pty"], ["--tcp", "0", "--link", "/tmp/x"], ["--thermistors", "3"], ["--baud", "0"],
            ["--tcp", "70000"], ["--banner", "loud"], ["--knob", "1024"], ["--knob", "half"],
        ])
    func wrongOptions(options: [String]) async throws {
        expectFailure(
            try await Pumpctl.start(["sim", "pump"] + options).ending(), 64, saying: "Error: ", hint: "pumpctl sim")
    }
}
