import FirmwareSim
import LineProtocol

/// A device with faults at the far end of a wire, in simulated time, all of it from one seed.
final class WireWorld<Device: SimulatedDevice>: @unchecked Sendable {
    // @unchecked: it is touched on the simulated loop's thread only.

    /// How long a script may take.
    private static var longest: Duration { .seconds(900) }

    private let loop = SimulatedLoop()
    private let tape = Tape()
    private var device: FaultyDevice<Device>
    private var link: LossyLink?
    /// Before this instant no link can be opened.
    private var awayUntil = Duration.zero

    init(_ device: Device, faults: [FaultOrder], seed: UInt64) {
        self.device = FaultyDevice(device, faults: faults, seed: seed)
        loop.device = SimulatedLoop.Device(
            next: { [unowned self] in self.device.nextActivity ?? loop.now + .seconds(3600) },
            step: { [unowned self] in live(until: $0) })
    }

    private func live(until instant: Duration) {
        for emission in device.advance(to: instant) {
            guard let link, link.isOpen else { continue }
            tape.add(.delivered(emission.bytes))
            link.arrive(emission.bytes)
        }
    }

    // MARK: The link

    private func open() throws(LinkError) -> LossyLink {
        guard loop.now >= awayUntil else { throw LinkError(.notFound, name: "sim:device", activity: "open") }
        let link = LossyLink(loop) { [unowned self] bytes in
            tape.add(.sent(bytes))
            device.receive(bytes, at: loop.now)
        } onEnd: { [unowned self] in
            tape.add(.dropped)
            device.lineLeft(at: loop.now)
        }
        self.link = link
        tape.add(.opened)
        device.hostCame(at: loop.now)
        return link
    }

    /// The line is unplugged, and back after a time.
    func unplug(for time: Duration) {
        awayUntil = max(awayUntil, loop.now + time)
        link?.drop()
    }

    /// Has something happen to the device, or to its line, at a time.
    func at(_ time: Duration, _ body: @escaping (WireWorld) -> Void) { loop.at(time) { [unowned self] in body(self) } }

    // MARK: Running

    /// Goes through a script; nil where it does not come to its end.
    func run<Script: FaultScript>(
        _ script: Script.Type, seed: UInt64, truth: @escaping @Sendable (Device) -> Script.Truth
    ) -> [Outcome]? {
        let outcomes = Box()
        let bench = FaultBench<Script.Truth>(
            clock: SimulatedClock(loop: loop), executor: loop, tape: tape, seed: seed, isRadio: false,
            open: { [unowned self] in try open() }, truth: { [unowned self] in truth(device.device) })
        let ending = loop.run(limit: loop.now + Self.longest) { outcomes.value = await script.run(bench) }
        return ending == .done ? outcomes.value : nil
    }

    private final class Box: @unchecked Sendable {
        // @unchecked: touched by the loop's thread only.
        var value: [Outcome] = []
    }
}
