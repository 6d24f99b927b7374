import DescriptorIO
import FirmwareSim
import Foundation
import Glibc
import Latency
import TestSupport
import Testing

@testable import pumpctl

@Suite("pumpctl latency", .timeLimit(.minutes(3)))
struct LatencyCommandTests {
    /// The arguments for a short measurement.
    private static let few = ["latency", "--count", "12", "--interval", "20ms"]

    @Test("A measurement with mostly unanswered queries fails", arguments: [false, true])
    func mostlyUnanswered(isJSON: Bool) async throws {
        let count = Watched(0)
        // Replies to the query before the measurement, and to the first of the three measured queries.
        let device = try await ScriptedDevice { line in
            let number = count.update { count in
                if line == "LED" { count += 1 }
                return count
            }
            return line == "LED" && number <= 2 ? "LED:1\r\n" : ""
        }
        let ending = try await Pumpctl.start(
            (isJSON ? ["--json"] : []) + ["--timeout", "2", "--family", "led", "--port", device.port]
                + ["latency", "--count", "3", "--interval", "5ms"]
        ).ending()
        await device.close()
        expectFailure(ending, 75, saying: "2 of 3 questions had no answer", hint: "--timeout")
        guard isJSON else {
            #expect(ending.output.contains("1 answer to LED; 2 not answered in time\n"), "\(ending)")
            return
        }
        let object = try ending.object()
        #expect(object["ok"] as? Bool == false && object["exit_code"] as? Int == 75)
        #expect(object["error"] as? String == "mostly_unanswered" && object["unanswered"] as? Int == 2)
    }

    @Test("A simulated device is measured, with a consistent JSON report", arguments: ["pump", "led"])
    func simulated(family: String) async throws {
        let ending = try await Pumpctl.start(["--json", "--port", "sim:\(family)"] + Self.few).ending()
        #expect(ending.status == 0, "\(ending)")
        let object = try #require(try ending.objects().first)
        #expect(object["ok"] as? Bool == true && object["family"] as? String == family)
        #expect(object["answers"] as? Int == 12 && object["carrier"] as? String == "simulation")
        let parts = try #require(object["parts"] as? [[String: Any]])
        let shares = parts.compactMap { $0["share"] as? Double }
        #expect(shares.count == parts.count && abs(shares.reduce(0, +) - 1) < 0.01)
        let trip = try #require(object["round_trip_ms"] as? [String: Double])
        let means = parts.compactMap { ($0["times_ms"] as? [String: Double])?["mean"] }
        // The sums may differ, because each figure is rounded.
        #expect(abs(means.reduce(0, +) - (trip["mean"] ?? 0)) < 0.05)
        let histogram = try #require(object["histogram"] as? [[String: Any]])
        #expect(histogram.compactMap { $0["count"] as? Int }.reduce(0, +) == 12)
        #expect(Set(parts.flatMap { $0["causes"] as? [String] ?? [] }).contains("firmware"))
    }

    @Test("The text report has a table and a histogram")
    func text() async throws {
        let ending = try await Pumpctl.start(["--port", "sim:pump"] + Self.few).ending()
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.output.hasPrefix("sim:pump: 12 answers to TEMP\n\nms "))
        #expect(ending.output.contains("\nround trip, ms\n") && ending.output.contains("#"))
        #expect(ending.errors.isEmpty, "\(ending.errors)")
    }

    @Test("A single answer is reported in the singular")
    func one() async throws {
        let ending = try await Pumpctl.run("--port", "sim:led", "latency", "--count", "1", "--interval", "5ms")
        #expect(ending.output.hasPrefix("sim:led: 1 answer to LED\n"), "\(ending)")
    }

    @Test("A pump on a pseudo-terminal has no wire time, and its state does not change", arguments: [false, true])
    func terminal(isOn: Bool) async throws {
        let pump = try await BenchPump(isOn: isOn)
        let ending = try await Pumpctl.start(["--json", "--port", pump.port] + Self.few).ending()
        #expect(await pump.duty() == (isOn ? 180 : nil))
        await pump.close()
        #expect(ending.status == 0, "\(ending)")
        let object = try #require(try ending.objects().first)
        #expect(object["carrier"] as? String == "terminal")
        #expect((object["remarks"] as? [String])?.contains("no_line_rate") == true)
        let causes = (object["parts"] as? [[String: Any]])?.flatMap { $0["causes"] as? [String] ?? [] }
        #expect(causes?.contains("wire") == false)
    }

    @Test("A pump behind a BLE module is measured")
    func radio() async throws {
        let pump = try await BLEPump()
        let ending = try await pump.run(
            "--json", "--port", "ble:HMSoft", "latency", "--count", "5", "--interval", "5ms")
        #expect(ending.status == 0, "\(ending)")
        let object = try #require(try ending.objects().first)
        #expect(object["answers"] as? Int == 5 && object["carrier"] as? String == "radio")
        // Five replies are too few to find an interval, so none is reported.
        #expect(object["connection_interval_ms"] == nil && object["loop_period_ms"] == nil)
        let parts = try #require(object["parts"] as? [[String: Any]])
        #expect(parts.contains { $0["causes"] as? [String] == ["carrier", "firmware"] })
        #expect(await pump.duty() == nil)
    }

    @Test("A device at a TCP server is measured with network as its carrier")
    func network() async throws {
        let sim = try await Pumpctl.start(["sim", "pump", "--tcp", "0"])
        let port = String(try #require(try await sim.output.line().split(separator: " ").last))
        let ending = try await Pumpctl.start(["--json", "--port", port] + Self.few).ending()
        sim.send(signal: SIGTERM)
        _ = try await sim.ending()
        let object = try #require(try ending.objects().first)
        #expect(object["carrier"] as? String == "network")
    }

    @Test("Another program's OFF is sent during a measurement, and ends it")
    func stopped() async throws {
        let pump = try await BenchPump(isOn: true)
        let measuring = try await Pumpctl.start(["-v", "--port", pump.port, "latency", "--count", "100000"])
        for _ in 1...3 { try await measuring.errors.text(upTo: "< TEMP") }
        let off = try await Pumpctl.run("--port", pump.port, "off")
        #expect(off.status == 0, "\(off)")
        #expect(await pump.state() == .off)
        let ending = try await measuring.ending()
        await pump.close()
        expectFailure(ending, 1, saying: "another pumpctl has asked for OFF", hint: "find out which program sent OFF")
        #expect(ending.output.isEmpty)
    }

    @Test("An interrupted measurement prints no report", arguments: [SIGINT, SIGTERM])
    func interrupted(signal: Int32) async throws {
        let pump = try await BenchPump()
        let measuring = try await Pumpctl.start(["-v", "--port", pump.port, "latency", "--count", "100000"])
        for _ in 1...3 { try await measuring.errors.text(upTo: "< TEMP") }
        measuring.send(signal: signal)
        let ending = try await measuring.ending()
        await pump.close()
        #expect(ending.status == 128 + signal && ending.output.isEmpty, "\(ending)")
    }

    @Test("The measurement of a silent device, or of a device of another family, fails")
    func noAnswer() async throws {
        let mute = try await ScriptedDevice()
        let silence = try await Pumpctl.run("--timeout", "0.2", "--port", mute.port, "latency")
        #expect(mute.heard.state.bytes.allSatisfy { Array("TEMP\n".utf8).contains($0) })
        await mute.close()
        expectFailure(silence, 75, saying: "no answer to TEMP", hint: "raise --timeout")
        let other = try await ScriptedDevice { _ in "LED:1\r\n" }
        // Within 2 s, the query is sent twice and gets the wrong reply each time, even on a busy machine.
        let foreign = try await Pumpctl.run("--timeout", "2", "--port", other.port, "latency")
        await other.close()
        expectFailure(foreign, 76, saying: "unexpected reply to TEMP: LED:1", hint: "led")
    }

    @Test("A family without a harmless query is refused before anything is sent")
    func usage() async throws {
        for family in ["peer", "rescue"] {
            let ending = try await Pumpctl.run("--port", "sim:\(family)", "latency")
            expectFailure(ending, 64, saying: "no question that changes nothing", hint: "pump, storm, led")
        }
        #expect(try await Pumpctl.run("--port", "sim:pump", "latency", "--count", "0").status == 64)
    }

    @Test("The latency timer is read from the adapter's driver")
    func timer() throws {
        let folder = TemporaryFolder()
        let path = folder.path("ttyUSB7/device")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        // The port has a second path, a symbolic link.
        try FileManager.default.createDirectory(atPath: folder.path("ports"), withIntermediateDirectories: true)
        let port = folder.write("", to: "ports/ttyUSB7")
        symlink(port, folder.path("pump"))
        #expect(LatencyTimer.time(ofPort: port, in: folder.path) == nil)
        for (text, time) in [("16\n", 16), ("1\n", 1), ("0\n", 0), ("x\n", nil), ("-1\n", nil), ("", nil)] {
            try text.write(toFile: path + "/latency_timer", atomically: true, encoding: .utf8)
            let expected = time.map { Duration.milliseconds($0) }
            #expect(LatencyTimer.time(ofPort: port, in: folder.path) == expected, "\(text)")
            #expect(LatencyTimer.time(ofPort: folder.path("pump"), in: folder.path) == expected)
        }
    }
}
