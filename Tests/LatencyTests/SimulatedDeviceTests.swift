import DescriptorIO
import DeviceTestKit
import FirmwareSim
import LineProtocol
import TestSupport
import Testing

@testable import Latency

@Suite("Latency of simulated devices")
struct SimulatedDeviceTests {
    private static let port = LatencyCarrier(.port, byteTime: .seconds(10) / 9600)

    private static var pump: PumpFirmware {
        PumpFirmware(options: PumpFirmwareOptions(heat: .fixed(water: 12, skin: 34), potentiometer: 512))
    }

    @Test("A pump on a wire has a loop of 109 ms")
    func pumpOnWire() throws {
        let outcome = LatencyWorld(Self.pump).measure(.pump, count: 36)
        let record = try #require(outcome.record, "\(String(describing: outcome.error)) \(outcome.ending)")
        #expect(record.samples.count == 36 && record.disturbedCount == 0)
        let report = try #require(LatencyReport(record, .pump, over: Self.port))
        let loop = try #require(report.foundLoop)
        #expect(loop.basis == .phase)
        #expect(abs(loop.period - 109) < 0.1, "\(loop)")
        let bytes = Double(record.samples[0].questionLength + record.samples[0].arrivals.map(\.byteCount).reduce(0, +))
        #expect(abs(try #require(report.part(.wire)).times.median - bytes * 10 / 9.6) < 0.01)
        #expect(report.part(.wire)?.basis == .measured)
        // The wait for the next turn of the loop is distributed evenly over a turn, here with a mean of 54.5 ms.
        let firmware = try #require(report.part(.firmware)).times
        #expect(firmware.minimum >= -0.001 && firmware.maximum <= 109.01)
        #expect(abs(firmware.mean - 54.5) < 10)
        #expect(report.part(.adapter)?.times.maximum ?? 0 < 0.01)
    }

    @Test("A pump behind an adapter shows the steps of the adapter")
    func pumpBehindAdapter() throws {
        let outcome = LatencyWorld(Self.pump, over: .adapter(.milliseconds(16))).measure(.pump, count: 36)
        let record = try #require(outcome.record)
        let report = try #require(LatencyReport(record, .pump, over: Self.port))
        let step = try #require(report.adapterStep)
        #expect(abs(step - 16) < 0.01)
        #expect(abs(try #require(report.foundLoop).period - 109) < 1)
        let adapter = try #require(report.part(.adapter)).times
        #expect((0...16).contains(adapter.minimum) && adapter.maximum <= 16.01)
        #expect(abs(adapter.mean - 8) < 2.5)
        #expect(try #require(report.part(.firmware)).times.maximum <= 110.1)
    }

    @Test("A pump behind a BLE module shows the connection interval", arguments: [7.5, 30.0])
    func pumpBehindModule(interval: Double) throws {
        let outcome = LatencyWorld(Self.pump, over: .radio(.milliseconds(interval))).measure(.pump, count: 40)
        let record = try #require(outcome.record)
        let report = try #require(LatencyReport(record, .pump, over: LatencyCarrier(.radio)))
        #expect(report.connectionInterval == interval)
        let carrier = try #require(report.part(.carrier)).times
        #expect(carrier.maximum <= interval)
        #expect(abs(carrier.mean - interval / 2) < interval / 4)
        let loop = try #require(report.foundLoop)
        #expect(abs(loop.period - 109) < loop.tolerance && loop.tolerance < interval, "\(loop)")
    }

    @Test("A running pump gets only queries, and replies mixed with status lines are left out")
    func running() throws {
        var pump = Self.pump
        pump.receive(Array("ON\n".utf8), at: .zero)
        let world = LatencyWorld(pump)
        let outcome = world.measure(.pump, count: 60, seed: 4)
        let record = try #require(outcome.record)
        #expect(record.disturbedCount > 0)
        #expect(record.samples.count + record.disturbedCount == 60)
        #expect(Set(world.written) == ["TEMP\n"])
        #expect(world.device.isEnabled)
        let report = try #require(LatencyReport(record, .pump, over: Self.port))
        #expect(abs(try #require(report.foundLoop).period - 109) < 1)
    }

    @Test("An LED board replies at once in one chunk, so only the wire time is separate")
    func led() throws {
        let outcome = LatencyWorld(LEDFirmware()).measure(.led, count: 20)
        let record = try #require(outcome.record)
        let carrier = LatencyCarrier(.port, byteTime: .seconds(10) / 115_200)
        let report = try #require(LatencyReport(record, .led, over: carrier))
        #expect(abs(report.roundTrip.median - 11.0 * 10 / 115.2) < 0.001)
        #expect(report.part(.wire)?.basis == .computed)
        #expect(report.part(.firmware, .adapter)?.times.maximum ?? 1 < 0.001)
    }

    @Test("A storm sensor is queried again only after its log has ended", arguments: [false, true])
    func storm(echoes: Bool) throws {
        let options = StormFirmwareOptions(rows: 40, echoesCommand: echoes)
        let outcome = LatencyWorld(StormFirmware(options: options)).measure(.storm, count: 5)
        let record = try #require(outcome.record, "\(String(describing: outcome.error))")
        #expect(record.samples.count + record.disturbedCount == 5 && record.samples.count > 2)
    }

    // MARK: No reply

    @Test("A device that never replies is given up and gets only queries")
    func mute() {
        let world = LatencyWorld(Self.pump)
        world.onWrite = { _ in nil }
        let outcome = world.measure(.pump, count: 5)
        #expect(outcome.error as? LatencyError == .noAnswer(.seconds(2)))
        #expect(Set(world.written) == ["TEMP\n"])
    }

    @Test("A device that falls silent is given up after a few queries")
    func silent() {
        let world = LatencyWorld(Self.pump)
        world.onWrite = { [unowned world] in world.written.count > 10 ? nil : $0 }
        let outcome = world.measure(.pump, count: 40)
        #expect(outcome.error as? LatencyError == .noAnswer(.seconds(1)))
        #expect(world.written.count < 20)
    }

    @Test("Lost queries are counted, and the others are measured")
    func lossy() throws {
        let world = LatencyWorld(Self.pump)
        world.onWrite = { [unowned world] in world.written.count % 5 == 0 ? nil : $0 }
        let record = try #require(world.measure(.pump, count: 40).record)
        #expect(record.unansweredCount == 8 && record.samples.count == 32)
    }

    @Test("A NUL after each line end disturbs no query")
    func nuls() throws {
        let world = LatencyWorld(Self.pump)
        world.onWrite = { [unowned world] _ in
            world.loop.at(world.loop.now + .milliseconds(5)) { world.link.arrive(Array("TEMP:34.5\r\n\0".utf8)) }
            return nil
        }
        let record = try #require(world.measure(.pump, count: 5).record)
        #expect(record.samples.count == 5 && record.unansweredCount == 0)
    }

    @Test("An unexpected reply is reported as not understood")
    func foreign() {
        let world = LatencyWorld(Self.pump)
        world.onWrite = { _ in "FOO\n" }
        let error = world.measure(.pump, count: 5).error as? LatencyError
        #expect(error == .notUnderstood(Array("ERROR:UNKNOWN_COMMAND".utf8)))
    }

    @Test("A line that a terminal may have echoed is ended before the first query")
    func midLine() async throws {
        let link = ScriptedLink(mayBeMidLine: true) { sent in
            sent == "TEMP\n" ? "TEMP:34.5\r\n" : sent == "999\n" ? "ERROR:UNKNOWN_COMMAND\r\n" : nil
        }
        let measurement = LatencyMeasurement(
            .pump, over: link, clock: EventLoopClock(.shared), pauses: [.zero, .zero])
        let record = try await Task(executorPreference: link.executor) { try await measurement.run() }.value
        #expect(record.samples.count == 2)
        // The pump's line spoiler, which makes a begun line invalid.
        #expect(await link.nextSent() == "999\n")
        #expect(await link.nextSent() == "TEMP\n")
    }

    @Test("A lost link ends the measurement with its error")
    func lost() {
        let world = LatencyWorld(Self.pump)
        world.onWrite = { [unowned world] text in
            if world.written.count == 8 { world.link.drop() }
            return text
        }
        #expect((world.measure(.pump, count: 40).error as? LinkError)?.code == .disconnected)
        #expect(world.written.count == 8)
    }
}
