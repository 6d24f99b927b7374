import BlueZ
import DeviceTestKit
import FakeBlueZ
import FirmwareSim
import PeripheralSim
import TestSupport

/// A device with faults on a fake bluetoothd, with the time of a manual clock.
@Radio
final class FaultyRadio<Device: SimulatedPeripheral> {
    /// The transmission time of the next notification. Each notification takes 7 ns longer than the previous one, so
    /// that none arrives at the exact moment of a host's time-out.
    private var flightTime = Duration.microseconds(53)
    /// The time after which bluetoothd gives up on a device that does not respond (Bluetooth Core 5.3, Vol 3, Part F,
    /// 3.3.3).
    private static var transactionTime: Duration { .seconds(30) }

    let radio: RadioDevice
    private let tape: Tape
    private let clock: ManualClock
    /// The clock's time at the beginning of the device's time.
    private let start: Duration
    private var device: FaultyDevice<Device>
    private var characteristics: [UInt128: RadioCharacteristic] = [:]
    /// The characteristics to which the host has subscribed.
    private var subscribed: Set<UInt128> = []
    /// The notifications in flight, with their arrival times.
    private var outbox: [(arrival: Duration, emission: Emission)] = []
    /// The events of the radio link that faults have caused and that are not due yet.
    private var events: [CarrierEvent] = []

    /// - Parameter mtu: The MTU of the central's connection.
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
            if device.isSilent(at: now) { try await giveUp(request.link) }
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
        if isLost { try await giveUp(request.link) }
        tape.add(.confirmed)
    }

    /// Waits as long as bluetoothd waits for the device's response, which never comes, and drops the link.
    private func giveUp(_ link: RadioLink) async throws {
        try await clock.sleep(for: Self.transactionTime)
        link.drop()
        throw CancellationError()
    }

    // MARK: Time

    /// Runs the device until a notification or an event of the link is due, at most up to `limit`.
    ///
    /// - Returns: The time at which it is due; nil if nothing is due up to `limit`.
    func nextMoment(by limit: Duration?) -> Duration? {
        // Without a limit: a device that is silent for 100 s stays silent.
        let limit = limit.map { $0 - start } ?? now + .seconds(100)
        while outbox.isEmpty, events.isEmpty, let next = device.nextActivity, next <= limit {
            live(until: max(next, now))
        }
        let moments = [outbox.first?.arrival, events.first?.time].compactMap { $0 }
        return moments.min().flatMap { $0 <= limit ? max($0, now) + start : nil }
    }

    /// Runs the device until this time, and queues its notifications and events.
    private func live(until instant: Duration) {
        for emission in device.advance(to: instant) {
            outbox.append((instant + flightTime, emission))
            flightTime += .nanoseconds(7)
        }
        events += device.takeCarrierEvents()
    }

    /// Delivers the notifications, and carries out the events, that are due by now.
    func attend() {
        live(until: now)
        while let (arrival, emission) = outbox.first, arrival <= now {
            outbox.removeFirst()
            notify(emission.bytes, by: emission.output)
        }
        while let event = events.first, event.time <= now {
            events.removeFirst()
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

    /// Calls `body` with the device behind the faults.
    func look<Value: Sendable>(_ body: (Device) -> Value) -> Value { body(device.device) }
}
