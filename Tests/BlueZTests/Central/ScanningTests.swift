import DBus
import DeviceTestKit
import FakeBlueZ
import TestSupport
import Testing

@testable import BlueZ

@Suite("BLE scans", .timeLimit(.minutes(5)))
struct ScanningTests {
    @Test func `A scan reports devices that are found, changed and lost: bleak#1176`() async throws {
        try await withBench { bench in
            let scan = try await bench.bluez.scan()
            let radio = await bench.addModule()
            guard case .found(let report)? = try await scan.next() else {
                Issue.record("nothing was found")
                return
            }
            // The name and the signal strength follow immediately.
            #expect(report.address == module)
            var latest = report
            while latest.rssi != -60 || latest.name != "HMSoft" || latest.services != ["FFE0"] {
                guard case .changed(let report)? = try await scan.next() else { break }
                latest = report
            }
            #expect(latest.name == "HMSoft" && latest.services == ["FFE0"])

            await setStrength(of: radio, -40)
            guard case .changed(let nearer)? = try await scan.next() else {
                Issue.record("nothing has changed")
                return
            }
            #expect(nearer.rssi == -40)

            await bench.fake.remove(radio)
            await bench.clock.untilSomebodySleeps(until: .seconds(30))
            bench.clock.advance(by: .seconds(30))
            var last: ScanEvent?
            repeat {
                last = try await scan.next()
            } while last.map { if case .changed = $0 { true } else { false } } ?? false
            #expect(last == .lost(module))
        }
    }

    @Test func `A scan applies its own filter, as bluetoothd merges the filters of all clients`() async throws {
        try await withBench { bench in
            let other = try await bench.otherClient()
            let everything = try await other.scan()
            let scan = try await bench.bluez.scan(for: ScanFilter(services: ["FFF0"]))
            _ = await bench.addModule()
            #expect(try await everything.next()?.text.hasPrefix("found") == true)
            await bench.addLamp()
            guard case .found(let report)? = try await scan.next() else {
                Issue.record("nothing was found")
                return
            }
            #expect(report.services == ["FFF0"])
            await other.close()
        }
    }

    @Test func `Scans share one discovery, which ends with the last of them`() async throws {
        try await withBench { bench in
            let first = try await bench.bluez.scan(for: ScanFilter(services: ["FFF0"]))
            let second = try await bench.bluez.scan()
            #expect(await bench.calls(of: "StartDiscovery") == 1)
            #expect(await bench.calls(of: "SetDiscoveryFilter") == 2)
            #expect(await bench.adapter.isDiscovering)
            first.cancel()
            first.cancel()
            #expect(try await first.next() == nil)
            try await bench.settle()
            #expect(await bench.calls(of: "StopDiscovery") == 0)
            second.cancel()
            try await bench.untilCalled("StopDiscovery")
            let third = try await bench.bluez.scan()
            #expect(await bench.calls(of: "StartDiscovery") == 2)
            third.cancel()
        }
    }

    @Test func `A scan starts although bluetoothd answers only a simultaneous request of another client`() async throws
    {
        try await withBench { bench in
            await slowDown(bench.adapter, by: .seconds(1))
            let other = try await bench.otherClient()
            // The second scan starts when the first client's call has arrived: the bus does not keep the order of calls
            // from different connections. bluetoothd then answers only the second client.
            async let first = bench.bluez.scan()
            try await bench.untilCalled("StartDiscovery")
            async let second = other.scan()
            try await bench.untilCalled("StartDiscovery", times: 2)
            await bench.clock.untilSomebodySleeps(until: .seconds(1))
            bench.clock.advance(by: .seconds(1))
            let (scan, others) = try await (first, second)
            _ = await bench.addModule()
            #expect(try await scan.next()?.text.hasPrefix("found") == true)
            #expect(try await others.next()?.text.hasPrefix("found") == true)
            others.cancel()
            try await bench.untilCalled("StopDiscovery")
            // bluetoothd refuses a StopDiscovery of the client that it has not answered. That client's discovery ends
            // only when it leaves the bus.
            scan.cancel()
            try await bench.untilNobodyScans()
            await other.close()
        }
    }

    @Test func `A scan starts beside a running discovery although bluetoothd answers only a third client`() async throws
    {
        try await withBench { bench in
            let (other, third) = (try await bench.otherClient(), try await bench.otherClient())
            let others = try await other.scan()
            await slowDown(bench.adapter, by: .seconds(1))
            async let first = bench.bluez.scan(for: ScanFilter(services: ["FFE0"]))
            try await bench.untilCalled("StartDiscovery", times: 2)
            async let second = third.scan(for: ScanFilter(services: ["FFF0"]))
            try await bench.untilCalled("StartDiscovery", times: 3)
            let scan = try await first
            await bench.clock.untilSomebodySleeps(until: .seconds(1))
            bench.clock.advance(by: .seconds(1))
            let thirds = try await second
            _ = await bench.addModule()
            #expect(try await scan.next()?.text.hasPrefix("found") == true)
            for scan in [others, thirds] { scan.cancel() }
            await other.close()
            await third.close()
        }
    }

    @Test func `A scan first reports a device that is already connected`() async throws {
        try await withBench { bench in
            _ = await bench.addModule(manners: LinkManners { $0.isConnectedAlready = true })
            try await bench.untilConnected()
            let scan = try await bench.bluez.scan(for: ScanFilter(address: module))
            guard case .found(let report)? = try await scan.next() else {
                Issue.record("nothing was found")
                return
            }
            #expect(report.isConnected && report.isInSight)
        }
    }

    @Test func `Switching the adapter off ends a scan, and a new one is refused until it is on`() async throws {
        try await withBench { bench in
            let scan = try await bench.bluez.scan()
            await setPower(of: bench.adapter, false)
            #expect(try await failure { () throws(BLEError) in try await scan.iterate() }?.code == .adapterOff)
            let refused = try await failure { () throws(BLEError) in try await bench.bluez.scan() }
            #expect(refused?.code == .adapterOff)
            #expect(refused?.hint?.contains("rfkill") == true)
            await setPower(of: bench.adapter, true)
            try await bench.settle()
            _ = try await bench.bluez.scan()
        }
    }

    @Test func `A scan fails when bluetoothd stops, and a new one works after its return`() async throws {
        try await withBench { bench in
            let scan = try await bench.bluez.scan()
            try await bench.fake.restart {
                // The stand-in just exits. A real bluetoothd first removes its adapters, if there is time.
                let error = try await failure { () throws(BLEError) in try await scan.iterate() }
                #expect([.notRunning, .noAdapter, .adapterOff].contains(error?.code))
                try await bench.untilGone()
                // State of the previous bluetoothd must not be taken as current.
                #expect(await bench.bluez.adapters.isEmpty)
                #expect(try await failure { () throws(BLEError) in try await bench.bluez.scan() }?.code == .notRunning)
            }
            try await bench.untilBack()
            try await bench.settle()
            _ = await bench.addModule()
            let again = try await bench.bluez.scan()
            #expect(try await again.next()?.text.hasPrefix("found") == true)
        }
    }

    @Test func `A scan ends as closed when its own connection is closed`() async throws {
        try await withBench { bench in
            let scan = try await bench.bluez.scan()
            await bench.bluez.close()
            let error = try await failure { () throws(BLEError) in try await scan.iterate() }
            #expect(error?.code == .closed)
        }
    }

    @Test func `A scan fails when the bus stops, and a new one works after its return`() async throws {
        try await withBench { bench in
            let scan = try await bench.bluez.scan()
            try await bench.bus.restart {
                let error = try await failure { () throws(BLEError) in try await scan.iterate() }
                #expect(error?.code == .noBus && error?.reason == "the system bus has gone")
                #expect(await bench.bluez.adapters.isEmpty)
                #expect(try await failure { () throws(BLEError) in try await bench.bluez.scan() }?.code == .noBus)
                // The client tries to reconnect after 250 ms, and then after twice the previous pause each time.
                await bench.clock.untilSomebodySleeps(until: .milliseconds(250))
                bench.clock.advance(by: .milliseconds(250))
                await bench.clock.untilSomebodySleeps(until: .milliseconds(750))
            }
            bench.clock.advance(by: .milliseconds(500))
            try await bench.fake.restart()
            try await bench.untilBack()
            try await bench.settle()
            _ = await bench.addModule()
            let again = try await bench.bluez.scan()
            #expect(try await again.next()?.text.hasPrefix("found") == true)
            again.cancel()
            let device = try await bench.bluez.device(module).connect()
            #expect(device.services.map(\.uuid) == ["FFE0"])
        }
    }

    @Test func `Closing the client ends the attempts to reconnect to the bus`() async throws {
        try await withBench { bench in
            bench.bus.kill()
            try await bench.untilGone()
            await bench.clock.untilSomebodySleeps(until: .milliseconds(250))
            await bench.bluez.close()
            bench.clock.advance(by: .milliseconds(250))
            await settle()
            #expect(bench.clock.deadlines.isEmpty)
        }
    }

    @Test func `Removing the adapter ends a scan with an error`() async throws {
        try await withBench { bench in
            let scan = try await bench.bluez.scan()
            await bench.fake.remove(bench.adapter)
            // bluetoothd reports the adapter as off before it removes it.
            #expect(try await failure { () throws(BLEError) in try await scan.iterate() } != nil)
            try await bench.settle()
            let error = try await failure { () throws(BLEError) in try await bench.bluez.scan() }
            #expect(error?.code == .noAdapter)
        }
    }
}

@Radio private func setStrength(of radio: RadioDevice, _ strength: Int16) { radio.signalStrength = strength }
@Radio private func slowDown(_ adapter: FakeAdapter, by delay: Duration) { adapter.discoveryDelay = delay }
@Radio private func setPower(of adapter: FakeAdapter, _ isOn: Bool) { adapter.isPowered = isOn }

extension Bench {
    /// Adds a second advertising device, with the service FFF0.
    func addLamp() async {
        let lamp = await RadioDevice("C0:FF:EE:00:00:01", Advertisement(name: "Lamp", services: ["FFF0"]))
        await fake.add(lamp)
    }
}

extension Bench {
    /// Waits until the client knows that no discovery is running.
    func untilNobodyScans() async throws { try await bluez.waitUntilNobodyScans() }
}

extension BlueZ {
    fileprivate func waitUntilNobodyScans() async throws {
        let path = try adapter().path
        // The limit of 600 s counts on the bench's clock, which stands still meanwhile.
        try await wait(.seconds(600), activity: "waiting for the end") { [keeper] () -> Result<Void, BLEError>? in
            keeper.mirror[path, BlueZName.adapter]?["Discovering"]?.boolean == false ? .success(()) : nil
        }
    }
}

extension BLESequence {
    /// Reads until the end of the sequence, and drops its elements.
    func iterate() async throws(BLEError) {
        var iterator = makeAsyncIterator()
        while try await iterator.next() != nil {}
    }
}
