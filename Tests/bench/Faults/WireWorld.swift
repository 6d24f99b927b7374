import DeviceTestKit
import FirmwareSim
import LineProtocol
import TestSupport
import Transports

/// A device with faults at the far end of a wire, in simulated time. The same seed gives the same faults in every run.
final class WireWorld<Device: SimulatedDevice>: @unchecked Sendable {
    // @unchecked: used on the simulated loop's thread only.

    /// The time limit of a script, in simulated time.
    private static var longest: Duration { .seconds(900) }

    private let loop = SimulatedLoop()
    private let tape = Tape()
    private var device: FaultyDevice<Device>
    private var link: SimulatedLink?
    private var isUnplugged = false

    /// - Parameter hostRate: The host's baud rate, for the fault `baud`; nil if it is the device's rate, 38400.
    init(_ device: Device, faults: [FaultOrder], seed: UInt64, hostRate: Int? = nil) {
        self.device = FaultyDevice(device, faults: faults, seed: seed, lineRate: .baud(38400))
        if let hostRate { self.device.setHostBaudRate(hostRate) }
        loop.device = SimulatedLoop.Device(
            // The loop needs a time, also for a device without a next activity.
            next: { [unowned self] in self.device.nextActivity ?? loop.now + .seconds(3600) },
            step: { [unowned self] in live(until: $0) })
    }

    private func live(until instant: Duration) {
        for emission in device.advance(to: instant) {
            guard let link, link.isOpen else { continue }
            tape.add(.delivered(emission.bytes))
            link.arrive(emission.bytes)
        }
        attendToCable()
    }

    // MARK: The link

    private func open() throws(LinkError) -> SimulatedLink {
        guard !isUnplugged else { throw LinkError(.notFound, name: "sim:device", activity: "open") }
        let link = SimulatedLink(loop) { [unowned self] bytes in
            tape.add(.sent(bytes))
            device.receive(bytes, at: loop.now)
            attendToCable()
        } onEnd: { [unowned self] in
            tape.add(.dropped)
            device.lineLeft(at: loop.now)
        }
        self.link = link
        tape.add(.opened)
        device.hostCame(at: loop.now)
        return link
    }

    /// Unplugs the cable, or plugs it in, if a fault of the device wants that.
    private func attendToCable() {
        for event in device.takeCarrierEvents() {
            switch event.action {
            case .unplug: unplug()
            case .plugIn: isUnplugged = false
            case .hangUp, .notifyEarly: break  // of the radio
            }
        }
    }

    private func unplug() {
        isUnplugged = true
        link?.drop()
    }

    /// Unplugs the cable at a time for a duration.
    func unplug(at time: Duration, for length: Duration) {
        loop.at(time) { [unowned self] in unplug() }
        loop.at(time + length) { [unowned self] in isUnplugged = false }
    }

    // MARK: Running

    /// Runs a script; returns nil if it does not end.
    func run<Script: FaultScript>(
        _ script: Script.Type, seed: UInt64, truth: @escaping @Sendable (Device) -> Script.Truth
    ) throws -> [Outcome]? {
        let outcomes = Box()
        let bench = FaultBench<Script.Truth>(
            clock: SimulatedClock(loop: loop), executor: loop, tape: tape, seed: seed, isRadio: false,
            endpoint: try Endpoint("sim:device"), open: { [unowned self] in try open() },
            truth: { [unowned self] in truth(device.device) })
        let ending = loop.run(limit: loop.now + Self.longest) { outcomes.value = await script.run(bench) }
        return ending == .done ? outcomes.value : nil
    }

    private final class Box: @unchecked Sendable {
        // @unchecked: used on the loop's thread only.
        var value: [Outcome] = []
    }
}
