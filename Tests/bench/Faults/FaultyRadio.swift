import BlueZ
import FakeBlueZ
import FirmwareSim
import PeripheralSim
import TestSupport

/// A device with faults on the air of a fake bluetoothd, whose time is that of a manual clock.
@Radio
final class FaultyRadio<Device: SimulatedPeripheral> {
    /// After this time bluetoothd gives up a device that does not answer (Bluetooth Core 5.3, Vol 3, Part F, 3.3.3).
    private static var transactionTime: Duration { .seconds(30) }

    let radio: RadioDevice
    private let tape: Tape
    private let clock: ManualClock
    private let start: Duration
    private var device: FaultyDevice<Device>
    private var characteristics: [UInt128: RadioCharacteristic] = [:]
    private var subscribed: Set<UInt128> = []
    /// What the device has said that is not on the air yet.
    private var emissions: [Emission] = []

    /// - Parameter mtu: What the central's packets hold.
    init(
        _ device: Device, faults: [FaultOrder], seed: UInt64, address: String, mtu: Int, tape: Tape, clock: ManualClock
    ) {
        self.device = FaultyDevice(device, faults: faults, seed: seed)
        self.tape = tape
        self.clock = clock
        start = clock.now.offset
        let offered = device.offered
        radio = RadioDevice(
            address, Advertisement(name: offered.name, services: offered.services.map { "\($0.uuid)" }))
        radio.manners.mtu = mtu
        radio.services = offered.services.map { service in
            RadioService("\(service.uuid)", service.characteristics.map { characteristic($0) })
        }
        radio.onLinksChange = { [weak self] in self?.linksChanged() }
    }

    private func characteristic(_ offered: LocalCharacteristic) -> RadioCharacteristic {
        let flags = offered.flags.compactMap { RadioCharacteristic.Flag(rawValue: $0.rawValue) }
        let characteristic = RadioCharacteristic("\(offered.uuid)", flags.sorted { $0.rawValue < $1.rawValue })
        let uuid = offered.uuid
        characteristic.onWrite = { [weak self] in try await self?.write($0, $1, to: uuid) }
        characteristic.onRead = { [weak self] request in
            guard let self else { throw CancellationError() }
            let value = device.read(uuid, at: now) ?? []
            tape.add(.read(value))
            attend()
            return Array(value.dropFirst(request.offset))
        }
        characteristic.onSubscription = { [weak self] link, isWanted in
            guard let self else { return }
            if isWanted { subscribed.insert(uuid.bits) } else { subscribed.remove(uuid.bits) }
            device.setNotificationLength(link.payload)
            device.take(isWanted ? .subscribed(uuid) : .unsubscribed(uuid), at: now)
            attend()
        }
        characteristics[uuid.bits] = characteristic
        return characteristic
    }

    private var now: Duration { clock.now.offset - start }

    // MARK: Centrals

    private func linksChanged() {
        if radio.links.isEmpty {
            tape.add(.dropped)
            subscribed = []
            device.take(.disconnected, at: now)
        } else {
            tape.add(.opened)
            device.take(.connected, at: now)
        }
        attend()
    }

    private func write(
        _ bytes: [UInt8], _ request: RadioCharacteristic.Request, to uuid: BluetoothUUID
    ) async throws {
        tape.add(.sent(bytes))
        device.setNotificationLength(request.link.payload)
        device.take(.wrote(bytes, to: uuid, mtu: request.link.mtu), at: now)
        let isLost = device.hasLostWrite
        attend()
        guard request.wantsAnswer else { return }
        if isLost {
            try await clock.sleep(for: Self.transactionTime)
            request.link.drop()
            throw CancellationError()
        }
        tape.add(.confirmed)
    }

    // MARK: Time

    /// When the device next says something, or does something to its links, by `limit`; it has lived up to then.
    func nextMoment(by limit: Duration?) -> Duration? {
        // A device that says nothing for so long never will.
        let limit = limit.map { $0 - start } ?? now + .seconds(100)
        while emissions.isEmpty, let next = device.nextActivity, next <= limit {
            emissions = device.advance(to: max(next, now))
            let events = device.takeCarrierEvents()
            guard emissions.isEmpty, events.isEmpty else {
                self.events += events
                return max(next, now) + start
            }
        }
        return nil
    }

    private var events: [CarrierEvent] = []

    /// Sees to what the device has done by now.
    func attend() {
        let due = emissions + device.advance(to: now)
        emissions = []
        for emission in due { notify(emission.bytes, by: emission.output) }
        let happened = events + device.takeCarrierEvents()
        events = []
        for event in happened {
            switch event.action {
            case .hangUp: radio.dropLinks()
            case .notifyEarly(let bytes, let output): notify(bytes, by: output)
            case .unplug, .plugIn: break  // of a cable
            }
        }
    }

    private func notify(_ bytes: [UInt8], by output: UInt128?) {
        guard let output, subscribed.contains(output), let link = radio.links.first else { return }
        tape.add(.delivered(Array(bytes.prefix(link.payload))))
        characteristics[output]?.notify(bytes)
    }

    func look<Value: Sendable>(_ body: (Device) -> Value) -> Value { body(device.device) }
}
