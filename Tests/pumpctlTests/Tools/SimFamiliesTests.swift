import Foundation
import Glibc
import TestSupport
import Testing

@Suite("pumpctl sim --with", .timeLimit(.minutes(5)))
struct SimFamiliesTests {
    @Test("Each device has a pseudo-terminal of its own, and all share one control socket")
    func lines() async throws {
        let folder = TemporaryFolder()
        let (link, control) = (folder.path("pump"), folder.path("control"))
        let sim = try await Pumpctl.start([
            "sim", "pump", "--unpaced", "--link", link, "--with", "led?lit", "--with", "storm?seed=7&rows=10",
            "--control", control,
        ])
        var ports: [String: String] = [:]
        for _ in 1...3 {
            let words = try await sim.output.line().split(separator: " ").map(String.init)
            #expect(words.count == 3 && words[1] == "PTY")
            ports[words[0]] = words.last
        }
        #expect(ports["pump"] == link)
        let (board, sensor) = (try #require(ports["led"]), try #require(ports["storm"]))
        #expect(try await Pumpctl.run("-p", link, "on").status == 0)
        #expect(try await Pumpctl.run("-p", board, "led", "get").output == "led on\n")
        let log = try await Pumpctl.run("-p", sensor, "storm", "log", "get", "--quiet", "100ms").output
        let expected = try await Pumpctl.run(
            "-p", "sim:storm?seed=7&rows=10&interval=off", "storm", "log", "get", "--quiet", "100ms"
        ).output
        // The served sensor measures while the test runs, so its log may have further rows.
        #expect(log.hasPrefix(expected) && !expected.isEmpty)
        #expect(try await Pumpctl.run("sim", "ctl", control, "--device", "2", "light", "off").status == 0)
        #expect(try await Pumpctl.run("-p", board, "led", "get").output == "led off\n")
        let unclear = try await Pumpctl.run("sim", "ctl", control, "state")
        expectFailure(unclear, 64, saying: "3 devices", hint: "1 to 3")
        expectFailure(
            try await Pumpctl.run("sim", "ctl", control, "--device", "3", "light", "on"), 64, saying: "light",
            hint: "measure")
        #expect(try await Pumpctl.run("sim", "ctl", control, "stop").status == 0)
        #expect(try await sim.ending().status == 0)
    }

    @Test("--json reports the number, the family and the TCP port of each device")
    func records() async throws {
        let sim = try await Pumpctl.start(["sim", "led", "--tcp", "0", "--with", "pump", "--json"])
        var families: [Int: String] = [:]
        for _ in 1...2 {
            let line = try await sim.output.line()
            let record = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? NSDictionary)
            #expect((record["port"] as? String)?.hasPrefix("tcp:127.0.0.1:") == true)
            families[try #require(record["number"] as? Int)] = record["family"] as? String
        }
        #expect(families == [1: "led", 2: "pump"])
        sim.send(signal: SIGTERM)
        #expect(try await sim.ending().status == 143)
    }

    @Test("--run sets a variable with the port of each device, named by the family")
    func variables() async throws {
        let ending = try await Pumpctl.run(
            "sim", "pump", "--unpaced", "--with", "led?lit", "--with", "led", "--run", "--", "sh", "-c",
            """
            [ "$PUMPCTL_PORT" = "$PUMPCTL_PORT_PUMP" ] && "$0" status && "$0" -p "$PUMPCTL_PORT_LED" led get \
            && "$0" -p "$PUMPCTL_PORT_LED_2" led get
            """, Executable.pumpctl)
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.output.contains("off"))
        #expect(ending.output.hasSuffix("led on\nled off\n"))
    }

    @Test(
        "An unknown device, invalid options of a device, conflicting options and too many TCP ports are refused",
        arguments: [
            (["--with", "kettle"], "--with 'kettle': name one of: pump, storm"), (["--with", ""], "--with ''"),
            (["--with", "led?dim"], "dim"), (["--with", "storm?rows=many"], "rows"),
            (["--with", "led?name=x"], "name"), (["--ble", "--with", "led"], "--with"),
            (["--tcp", "65535", "--with", "led"], "65535"),
        ])
    func refusals(options: [String], text: String) async throws {
        expectFailure(try await Pumpctl.start(["sim", "pump"] + options).ending(), 64, saying: text)
    }
}
