import BlueZ
import DBus
import DeviceTestKit
import FakeBlueZ
import TestSupport
import Testing

@Suite("Connected devices", .timeLimit(.minutes(5)))
struct ConnectedDeviceTests {
    /// A connected module and its characteristic FFE1, as the client under test sees them (`device`, `line`), and as
    /// the simulated module itself (`radio`, `far`).
    private struct Rig {
        let bench: Bench
        let radio: RadioDevice
        let device: ConnectedDevice
        let line: GATTCharacteristic
        let far: RadioCharacteristic
    }

    /// Calls `body` with a connected module whose characteristic has the flags and whose link has the manners.
    private func withModule(
        _ flags: [RadioCharacteristic.Flag] = [.read, .writeWithoutResponse, .notify],
        _ manners: LinkManners = LinkManners(), _ body: (Rig) async throws -> Void
    ) async throws {
        try await withBench { bench in
            let radio = await bench.addModule(flags, manners: manners)
            let device = try await bench.bluez.device(module).connect()
            let line = try device.characteristic("FFE1", of: "FFE0")
            let far = try #require(await radio.characteristic("FFE1"))
            try await body(Rig(bench: bench, radio: radio, device: device, line: line, far: far))
        }
    }

    // MARK: Notifications

    @Test func `A notification before the subscription is confirmed is not lost: bleak#374, bleak#1885`()
        async throws
    {
        try await withModule([.notify], LinkManners { $0.subscribeDelay = .seconds(2) }) { rig in
            let subscribing = Task { try await rig.device.notifications(of: rig.line) }
            await rig.bench.clock.untilSomebodySleeps(until: .seconds(2))
            await rig.far.notify(Array("early".utf8))
            rig.bench.clock.advance(by: .seconds(2))
            let values = try await subscribing.value
            await rig.far.notify(Array("later".utf8))
            #expect(try await values.next() == Array("early".utf8))
            #expect(try await values.next() == Array("later".utf8))
        }
    }

    @Test func `All notifications are received in order`() async throws {
        try await withModule { rig in
            let values = try await rig.device.notifications(of: rig.line)
            for number in 0..<1000 { await rig.far.notify([UInt8(number / 256), UInt8(number % 256)]) }
            var iterator = values.makeAsyncIterator()
            for number in 0..<1000 {
                let value = try await iterator.next()
                guard value == [UInt8(number / 256), UInt8(number % 256)] else {
                    Issue.record("\(number) was \(String(describing: value))")
                    return
                }
            }
            values.cancel()
            try await rig.bench.untilCalled("StopNotify")
            #expect(try await iterator.next() == nil)
        }
    }

    @Test
    func `A new connection gets each notification once: bleak#83, bleak#2002`()
        async throws
    {
        try await withModule { rig in
            _ = try await rig.device.notifications(of: rig.line)
            await rig.radio.dropLinks()
            await rig.bench.bluez.close()
            let again = try await rig.bench.otherClient()
            let device = try await again.device(module).connect()
            let values = try await device.notifications(of: try device.characteristic("FFE1", of: "FFE0"))
            await rig.far.notify([1])
            await rig.far.notify([2])
            #expect(try await values.next() == [1])
            #expect(try await values.next() == [2])
            await again.close()
        }
    }

    @Test func `Subscribing to a characteristic without notify is refused`() async throws {
        try await withModule([.read, .write]) { rig in
            let error = try await failure { () throws(BLEError) in try await rig.device.notifications(of: rig.line) }
            #expect(error?.code == .unsupported)
        }
    }

    // MARK: Reading and writing

    @Test func `A connected device is read, and written with and without response`() async throws {
        try await withModule([.read, .write, .writeWithoutResponse]) { rig in
            try await rig.device.write([1, 2], to: rig.line, .request)
            #expect(try await rig.device.read(rig.line) == [1, 2])
            try await rig.device.write([3], to: rig.line, .command)
            #expect(try await rig.device.read(rig.line) == [3])
        }
    }

    @Test func `Writes are sent one after another, so that bluetoothd does not answer InProgress`() async throws {
        try await withModule([.write], LinkManners { $0.writeDelay = .seconds(1) }) { rig in
            let log = Watched<[UInt8]>([])
            await record(rig.far, log)
            let writes = (0..<3).map { number in
                Task { try await rig.device.write([UInt8(number)], to: rig.line, .request) }
            }
            for second in 1...3 {
                await rig.bench.clock.untilSomebodySleeps(until: .seconds(second))
                #expect(await rig.bench.calls(of: "WriteValue") == second)
                rig.bench.clock.advance(by: .seconds(1))
            }
            for write in writes { try await write.value }
            #expect(log.state.sorted() == [0, 1, 2])
        }
    }

    @Test func `A write is retried while another program's write is in progress`() async throws {
        try await withModule([.write], LinkManners { $0.writeDelay = .milliseconds(15) }) { rig in
            let other = try await rig.bench.otherClient()
            let theirs = try await other.device(module).connect()
            let line = try theirs.characteristic("FFE1", of: "FFE0")
            let first = Task { try await theirs.write([1], to: line, .request) }
            await rig.bench.clock.untilSomebodySleeps(until: .milliseconds(15))
            let second = Task { try await rig.device.write([2], to: rig.line, .request) }
            let clock = rig.bench.clock
            // The refused write retries after 10 ms, is refused again, and retries after 20 ms. The first write has
            // then ended at 15 ms, so the second one is accepted at 30 ms and takes until 45 ms.
            await clock.untilSomebodySleeps(until: .milliseconds(10))
            clock.advance(by: .milliseconds(10))
            await clock.untilSomebodySleeps(until: .milliseconds(30))
            clock.advance(by: .milliseconds(5))
            try await first.value
            clock.advance(by: .milliseconds(15))
            await clock.untilSomebodySleeps(until: .milliseconds(45))
            clock.advance(by: .milliseconds(15))
            try await second.value
            await other.close()
        }
    }

    @Test func `A cancelled write completes before the next one starts`() async throws {
        try await withModule([.write], LinkManners { $0.writeDelay = .seconds(1) }) { rig in
            let first = Task {
                try await failure { () throws(BLEError) in try await rig.device.write([1], to: rig.line, .request) }
            }
            await rig.bench.clock.untilSomebodySleeps(until: .seconds(1))
            first.cancel()
            #expect(try await first.value?.code == .cancelled)
            let second = Task { try await rig.device.write([2], to: rig.line, .request) }
            rig.bench.clock.advance(by: .seconds(1))
            await rig.bench.clock.untilSomebodySleeps(until: .seconds(2))
            rig.bench.clock.advance(by: .seconds(1))
            try await second.value
            #expect(await rig.far.value == [2])
        }
    }

    @Test func `A write type that the flags do not allow is refused; bluetoothd does not check`() async throws {
        try await withModule { rig in
            let error = try await failure { () throws(BLEError) in
                try await rig.device.write([1], to: rig.line, .request)
            }
            #expect(error?.code == .unsupported)
            #expect(await rig.bench.calls(of: "WriteValue") == 0)
        }
    }

    @Test func `The MTU is read from bluetoothd each time`() async throws {
        let manners = LinkManners {
            $0.mtu = 247
            $0.staleMTU = 23
            $0.mtuDelay = .seconds(1)
        }
        try await withModule(manners: manners) { rig in
            #expect(await rig.device.mtu(of: rig.line) == 23)
            rig.bench.clock.advance(by: .seconds(1))
            try await rig.bench.settle()
            #expect(await rig.device.mtu(of: rig.line) == 247)
        }
    }

    @Test func `The MTU is 23 if bluetoothd does not report one, as before 5.62`() async throws {
        try await withBench { bench in
            await hideMTU(bench.fake)
            _ = await bench.addModule(manners: LinkManners { $0.mtu = 247 })
            let device = try await bench.bluez.device(module).connect()
            #expect(await device.mtu(of: try device.characteristic("FFE1", of: "FFE0")) == 23)
        }
    }

    @Test func `If a bluetoothd plugin has claimed a service, the error says so`() async throws {
        try await withModule(manners: LinkManners { $0.claimedServices = ["FFE0"] }) { rig in
            let error = try await failure { () throws(BLEError) in
                try await rig.device.write([1], to: rig.line, .command)
            }
            #expect(error?.code == .notPermitted && error?.hint?.contains("plugin") == true)
        }
    }

    @Test func `A write that needs pairing is refused, and works after pairing without a PIN`() async throws {
        try await withModule([.write], LinkManners { $0.needsPairing = true }) { rig in
            let write = { () async throws(BLEError) in try await rig.device.write([1], to: rig.line, .request) }
            let error = try await failure(write)
            #expect(error?.code == .notPaired && error?.hint?.contains("pair") == true)
            try await rig.bench.bluez.device(module).pair()
            try await rig.bench.bluez.device(module).pair()
            try await write()
        }
    }

    @Test(arguments: [0x05, 0x0C, 0x0E, 0x0F] as [UInt8])
    func `Every request reports a missing pairing for the ATT errors that mean it`(code: UInt8) async throws {
        let manners = LinkManners {
            $0.needsPairing = true
            $0.pairingError = BlueZError.attribute(code)
        }
        try await withModule([.read, .write, .notify], manners) { rig in
            let errors = [
                try await failure { () throws(BLEError) in try await rig.device.read(rig.line) },
                try await failure { () throws(BLEError) in try await rig.device.write([1], to: rig.line, .request) },
                // A long write, which takes several parts.
                try await failure { () throws(BLEError) in
                    try await rig.device.write([UInt8](repeating: 1, count: 200), to: rig.line, .request)
                },
                try await failure { () throws(BLEError) in try await rig.device.notifications(of: rig.line) },
                try await failure { () throws(BLEError) in try await rig.device.confirmConnection() },
            ]
            for error in errors {
                #expect(error?.code == .notPaired)
                #expect(error?.hint?.contains("bluetoothctl pair") == true)
            }
        }
    }

    @Test func `ATT error 0x0E of a paired device does not count as a missing pairing, but 0x0F does`() async throws {
        try await withModule([.read]) { rig in
            try await rig.bench.bluez.device(module).pair()
            await Radio.run { rig.far.onRead = { _ in throw BlueZError.attribute(0x0E) } }
            let error = try await failure { () throws(BLEError) in try await rig.device.read(rig.line) }
            #expect(error?.code == .failed)
            await Radio.run { rig.far.onRead = { _ in throw BlueZError.attribute(0x0F) } }
            let other = try await failure { () throws(BLEError) in try await rig.device.read(rig.line) }
            #expect(other?.code == .notPaired)
        }
    }

    @Test func `The hint to remove a device mentions pairing again only if the device is paired`() async throws {
        try await withModule([.read]) { rig in
            await Radio.run { rig.far.onRead = { _ in throw BlueZError.attribute(0x01) } }
            let stranger = try await failure { () throws(BLEError) in try await rig.device.read(rig.line) }
            #expect(stranger?.hint?.contains("bluetoothctl remove") == true)
            #expect(stranger?.hint?.contains("pair") == false)
            try await rig.bench.bluez.device(module).pair()
            let paired = try await failure { () throws(BLEError) in try await rig.device.read(rig.line) }
            #expect(paired?.hint?.contains("; then pair with it again: bluetoothctl pair ") == true)
        }
    }

    @Test func `A write refused as InProgress behind an unanswered one times out`()
        async throws
    {
        try await withModule([.write], LinkManners { $0.writeDelay = .seconds(3600) }) { rig in
            let clock = rig.bench.clock
            let first = Task {
                try await failure { () throws(BLEError) in try await rig.device.write([1], to: rig.line, .request) }
            }
            await clock.untilSomebodySleeps(until: .seconds(3600))
            // The time-out of a call over D-Bus.
            clock.advance(by: .seconds(25))
            #expect(try await first.value?.code == .timedOut)
            let second = Task {
                try await failure { () throws(BLEError) in try await rig.device.write([2], to: rig.line, .request) }
            }
            // The client tries again after 10 ms, and then after twice the previous pause each time; it gives up after
            // eight pauses.
            var pause = Duration.milliseconds(10)
            for _ in 0..<8 {
                let deadline = clock.now.offset + pause
                await clock.untilSomebodySleeps(until: deadline)
                clock.advance(by: pause)
                pause *= 2
            }
            let error = try await second.value
            #expect(error?.code == .timedOut)
            #expect(error?.hint?.contains("bluetoothctl pair") == true)
        }
    }

    @Test func `Pairing that needs a number to be confirmed is refused`() async throws {
        try await withModule(manners: LinkManners { $0.pairing = .confirmation(123_456) }) { rig in
            let error = try await failure { () throws(BLEError) in try await rig.bench.bluez.device(module).pair() }
            #expect(error?.code == .notPaired)
        }
    }

    // MARK: The end

    @Test func `Losing the device during a write ends writes, subscriptions and observers`() async throws {
        try await withModule([.write, .notify], LinkManners { $0.writesUntilLoss = 1 }) { rig in
            let ends = Watched<[BLEError.Code]>([])
            await rig.device.onEnd { error in ends.update { $0.append(error.code) } }
            let values = try await rig.device.notifications(of: rig.line)
            try await rig.device.write([1], to: rig.line, .request)
            let error = try await failure { () throws(BLEError) in
                try await rig.device.write([2], to: rig.line, .request)
            }
            #expect(error?.code == .disconnected)
            #expect(try await failure { () throws(BLEError) in try await values.iterate() }?.code == .disconnected)
            let later = try await failure { () throws(BLEError) in
                try await rig.device.write([3], to: rig.line, .request)
            }
            #expect(later?.code == .disconnected)
            await rig.device.disconnect()
            #expect(ends.state == [.disconnected])
        }
    }

    @Test func `Confirming the connection does not overtake notifications; a refused read also confirms`() async throws
    {
        try await withModule { rig in
            let values = try await rig.device.notifications(of: rig.line)
            await rig.far.notify([1])
            try await rig.device.confirmConnection()
            values.cancel()
            #expect(try await values.next() == [1])
            await Radio.run { rig.radio.manners.descriptorError = BlueZError.notPermitted("Read not permitted") }
            try await rig.device.confirmConnection()
        }
    }

    @Test func `InProgress does not confirm the connection`() async throws {
        try await withModule { rig in
            await Radio.run { rig.radio.manners.descriptorError = BlueZError.inProgress }
            let error = try await failure { () throws(BLEError) in try await rig.device.confirmConnection() }
            #expect(error?.code == .busy)
        }
    }

    @Test func `Confirming the connection fails if the link is lost`() async throws {
        try await withModule(manners: LinkManners { $0.readDelay = .seconds(3600) }) { rig in
            let asking = Task { try await failure { () throws(BLEError) in try await rig.device.confirmConnection() } }
            await rig.bench.clock.untilSomebodySleeps(until: .seconds(3600))
            await rig.radio.dropLinks()
            let error = try await asking.value
            #expect(error?.code == .disconnected)
        }
    }

    @Test func `A connection ends when bluetoothd stops, and can be made again once bluetoothd is back`() async throws {
        try await withModule { rig in
            let values = try await rig.device.notifications(of: rig.line)
            try await rig.bench.fake.restart {
                let error = try await failure { () throws(BLEError) in try await values.iterate() }
                #expect([.disconnected, .notRunning].contains(error?.code))
                try await rig.bench.untilGone()
            }
            try await rig.bench.untilBack()
            try await rig.bench.settle()
            _ = try await rig.bench.bluez.device(module).connect()
        }
    }

    @Test func `Withdrawing the subscribed service ends the subscription and disconnects`() async throws {
        try await withModule { rig in
            let values = try await rig.device.notifications(of: rig.line)
            // A change of the module's other services ends nothing.
            let other = await RadioService("FFF0", [RadioCharacteristic("FFF1", [.notify])])
            await Radio.run { rig.radio.services.append(other) }
            await Radio.run { rig.radio.services.removeAll { $0 === other } }
            try await rig.bench.settle()
            await rig.far.notify([1])
            #expect(try await values.next() == [1])
            await Radio.run { rig.radio.services = [] }
            let error = try await failure { () throws(BLEError) in try await values.iterate() }
            #expect(error?.code == .disconnected)
            try await rig.bench.untilCalled("Disconnect")
        }
    }

    @Test func `Disconnecting calls bluetoothd even in a cancelled task`() async throws {
        try await withModule { rig in
            let device = rig.device
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                await device.disconnect()
            }
            await task.value
            #expect(await rig.bench.calls(of: "Disconnect") == 1)
        }
    }

    @Test func `Disconnecting returns only after bluetoothd reports the device as disconnected`() async throws {
        try await withModule { rig in
            #expect(await rig.device.disconnect())
            let report = try await rig.bench.bluez.device(module).report
            #expect(report?.isConnected == false)
            #expect(await rig.device.disconnect())
        }
    }

    @Test func `A disconnect can be started without waiting and awaited later`() async throws {
        try await withModule(manners: LinkManners { $0.disconnectDelay = .seconds(2) }) { rig in
            let values = try await rig.device.notifications(of: rig.line)
            await rig.device.beginDisconnecting()
            #expect(try await values.next() == nil)
            await rig.bench.clock.untilSomebodySleeps(until: .seconds(2))
            let device = try await rig.bench.bluez.device(module)
            #expect(await rig.radio.links.count == 1)
            let waiting = Task { await device.waitUntilDisconnected(within: .seconds(5)) }
            await rig.bench.clock.untilSomebodySleeps(until: .seconds(5))
            rig.bench.clock.advance(by: .seconds(2))
            #expect(await waiting.value)
        }
    }

    @Test func `A client sees another client's subscription, and can leave the link open for it`() async throws {
        try await withModule { rig in
            let other = try await rig.bench.otherClient()
            let same = try await other.device(module).connect()
            let line = try same.characteristic("FFE1", of: "FFE0")
            let values = try await same.notifications(of: line)
            _ = try await rig.bench.settle()
            #expect(await rig.device.isHeardElsewhere(rig.line))
            #expect(await !same.isHeardElsewhere(line))
            await rig.device.leave()
            #expect(await rig.radio.links.count == 1)
            await rig.far.notify([1])
            #expect(try await values.next() == [1])
            await other.close()
        }
    }

    @Test func `A device is disconnected when the last reference to it is released`() async throws {
        try await withBench { bench in
            let radio = await bench.addModule()
            var device: ConnectedDevice? = try await bench.bluez.device(module).connect()
            #expect(await radio.links.count == 1)
            #expect(device != nil)
            device = nil
            try await bench.untilCalled("Disconnect")
        }
    }

    private func withModule(manners: LinkManners, _ body: (Rig) async throws -> Void) async throws {
        try await withModule([.read, .writeWithoutResponse, .notify], manners, body)
    }
}

@Radio private func hideMTU(_ fake: FakeBlueZ) { fake.showsMTU = false }

@Radio private func record(_ characteristic: RadioCharacteristic, _ log: Watched<[UInt8]>) {
    characteristic.onWrite = { bytes, _ in log.update { $0 += bytes } }
}
