import DescriptorIO
import DeviceTestKit
import FakeBlueZ
import FirmwareSim
import Glibc
import TestSupport
import Testing

@Suite("Two programs and one BLE device", .timeLimit(.minutes(5)))
struct BLEOwnershipTests {
    @Test func `While a monitor has the device, status fails and names the monitor's process`() async throws {
        let pump = try await BLEPump()
        let monitor = try await pump.start("-p", "ble:HMSoft", "monitor", "--interval", "0.5", "--json")
        _ = try await monitor.output.text(upTo: #""link":"up""#)
        let status = try await pump.run("-p", "ble:HMSoft", "status")
        expectFailure(status, 69, saying: "pumpctl (pid \(monitor.processID))", hint: "pumpctl serve")
        #expect(status.output == "")
        // The monitor continues undisturbed.
        #expect(await pump.module.radio.links.count == 1)
        monitor.send(signal: SIGINT)
        let ending = try await monitor.ending()
        #expect(!ending.output.contains("lost"), "\(ending)")
        let next = try await pump.run("-p", "ble:HMSoft", "status")
        #expect(next.status == 0, "\(next)")
    }

    @Test func `Two one-shot commands run one after another`() async throws {
        let clock = ManualClock()
        let pump = try await BLEPump(clock: clock)
        await Radio.run { pump.module.radio.manners.connectDelay = .seconds(1) }
        let first = try await pump.start("-p", "ble:HMSoft", "status")
        await clock.untilSomebodySleeps(until: .seconds(1))
        let second = try await pump.start("-p", "ble:HMSoft", "status")
        // Both programs have found the device by its name, and stopped their scans.
        try await pump.untilCalled("StopDiscovery", times: 2)
        clock.advance(by: .seconds(1))
        let one = try await first.ending()
        #expect(one.status == 0 && one.output.contains("off"), "\(one)")
        await clock.untilSomebodySleeps(until: .seconds(2))
        clock.advance(by: .seconds(1))
        let two = try await second.ending()
        #expect(two.status == 0 && two.output == one.output, "\(two)")
        #expect(await pump.clients(of: "Connect").count == 2)
    }

    @Test func `The first command does not wait for the disconnection, the second one does`() async throws {
        let clock = ManualClock()
        let pump = try await BLEPump(clock: clock)
        await Radio.run { pump.module.radio.manners.disconnectDelay = .seconds(2) }
        let first = try await pump.run("-p", "ble:HMSoft", "status")
        #expect(first.status == 0, "\(first)")
        #expect(await pump.module.radio.links.count == 1)
        let second = try await pump.start("-p", "ble:HMSoft", "status")
        try await pump.untilCalled("StartDiscovery", times: 2)
        #expect(await pump.clients(of: "Connect").count == 1)
        clock.advance(by: .seconds(2))
        let ending = try await second.ending()
        #expect(ending.status == 0 && ending.output == first.output, "\(ending)")
        // The second program has a link of its own, not the first one's, which was about to end.
        #expect(await pump.clients(of: "Connect").count == 2)
    }

    @Test func `A killed holder leaves the device to the next command`() async throws {
        let pump = try await BLEPump()
        let monitor = try await pump.start("-p", "ble:HMSoft", "monitor", "--interval", "0.5", "--json")
        _ = try await monitor.output.text(upTo: #""link":"up""#)
        monitor.send(signal: SIGKILL)
        _ = try await monitor.ending()
        let status = try await pump.run("-p", "ble:HMSoft", "status")
        #expect(status.status == 0, "\(status)")
    }

    @Test func `A device that a program other than pumpctl uses is refused, and its link is kept`() async throws {
        let pump = try await BLEPump()
        let bridge = try await TestCentral(on: pump.bus.address, for: "00:15:83:00:00:10")
        _ = try await bridge.find()
        try await bridge.connect()
        try await bridge.subscribe("FFE1")
        let status = try await pump.run("-p", "ble:HMSoft", "status")
        expectFailure(
            status, 69, saying: "another program is subscribed to FFE1",
            hint: "bluetoothctl disconnect 00:15:83:00:00:10")
        #expect(await pump.module.radio.links.count == 1)
        await bridge.close()
    }

    @Test func `OFF is sent although a program other than pumpctl has a link, which is kept`() async throws {
        let pump = try await BLEPump()
        await pump.module.host.change { pump, now in pump.pressButton(at: now) }
        await pump.module.host.advance(by: .seconds(1))
        #expect(await pump.duty() != nil)
        let bridge = try await TestCentral(on: pump.bus.address, for: "00:15:83:00:00:10")
        _ = try await bridge.find()
        try await bridge.connect()
        try await bridge.subscribe("FFE1")
        let off = try await pump.run("-p", "ble:HMSoft", "--timeout", "1", "off")
        // The pump's output arrives twice, packet by packet, so the state may not be readable from it.
        #expect(off.status == 0 || off.errors.contains("the pump may be on"), "\(off)")
        #expect(await pump.duty() == nil)
        #expect(await pump.module.radio.links.count == 1)
        await bridge.close()
    }

    @Test func `An interrupted off that was waiting reports that OFF was not sent`() async throws {
        let clock = ManualClock()
        let pump = try await BLEPump(clock: clock)
        await Radio.run { pump.module.radio.manners.connectDelay = .seconds(1) }
        let status = try await pump.start("-p", "ble:HMSoft", "status")
        await clock.untilSomebodySleeps(until: .seconds(1))
        let off = try await pump.start("-p", "ble:HMSoft", "off")
        // `off` has found the device by its name, too, and waits for the end of `status`.
        try await pump.untilCalled("StopDiscovery", times: 2)
        off.send(signal: SIGINT)
        expectFailure(try await off.ending(), 130, saying: "OFF was not sent: the pump may be on")
        clock.advance(by: .seconds(1))
        #expect(try await status.ending().status == 0)
    }

    @Test func `off reports its wait, and outlasts --timeout`() async throws {
        let clock = ManualClock()
        let pump = try await BLEPump(clock: clock)
        await Radio.run { pump.module.radio.manners.connectDelay = .seconds(20) }
        let off = try await pump.start("-p", "ble:HMSoft", "--timeout", "0.9", "off")
        try await off.errors.text(upTo: "pumpctl: ble:HMSoft: connecting to 00:15:83:00:00:10, for up to a minute\n")
        await clock.untilSomebodySleeps(until: .seconds(20))
        clock.advance(by: .seconds(20))
        let ending = try await off.ending()
        #expect(ending.output == "pump off\n", "\(ending)")
    }

    @Test func `A log reader excludes a second reader`() async throws {
        try await withBLEBench { bench in
            let sensor = await bench.addSensor()
            let reader = try await bench.start("-p", "ble:storm", "storm", "log", "live", "--raw")
            try await bench.untilCalled("StartNotify")
            #expect(await sensor.links.count == 1)
            let other = try await bench.run("-p", "ble:storm", "storm", "log", "get", "--quiet", "1s")
            expectFailure(other, 69, saying: "pumpctl (pid \(reader.processID))", hint: "pumpctl serve")
            #expect(other.output == "")
            reader.send(signal: SIGINT)
            _ = try await reader.ending()
        }
    }
}

extension BLEPump {
    /// The callers of a method of bluetoothd, one for each call.
    func clients(of member: String) async -> [String] {
        await fake.calls.state.filter { $0.member == member }.map(\.client)
    }

    /// Waits until a method of bluetoothd was called `times` times.
    func untilCalled(_ member: String, times: Int) async throws {
        _ = try await fake.calls.wait(for: "\(times) calls of \(member)") { calls in
            calls.count { $0.member == member } >= times ? true : nil
        }
    }
}

extension BLEBench {
    /// Adds a storm sensor that sends nothing.
    @Radio
    fileprivate func addSensor() -> RadioDevice {
        let service = "4FAFC201-1FB5-459E-8FCC-C5C9C331914B"
        let sensor = RadioDevice("C0:FF:EE:00:00:01", Advertisement(name: "storm", services: [service]))
        sensor.services = [
            RadioService(
                service,
                [
                    RadioCharacteristic("1C95D5E3-D8F7-413A-BF3D-7A2E5D7BE87E", [.notify]),
                    RadioCharacteristic("BEB5483E-36E1-4688-B7F5-EA07361B26A8", [.write, .notify]),
                ])
        ]
        fake.add(sensor)
        return sensor
    }
}
