/// A device with faults: of its own, of its line, or of the air between. Without a fault it is the device itself.
///
/// What happens depends on the seed, on what the device says, and on what it is told; not on when it is looked at.
///
/// ```swift
/// var pump = FaultyDevice(PumpFirmware(), faults: settings.faults(), seed: 7)
/// pump.receive(Array("STATUS\n".utf8), at: .zero)
/// _ = pump.advance(to: .seconds(1))  // STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5C}
/// ```
public struct FaultyDevice<Device: SimulatedDevice>: SimulatedDevice {
    /// The device as it is behind its faults.
    public private(set) var device: Device

    private let seed: UInt64
    private var faults: [ActiveFault] = []
    /// How many faults there have been.
    private var faultCount: UInt64 = 0
    private var clock = DriftingClock()
    private var now = Duration.zero

    private var said = FaultyUnit()
    private var heard = FaultyUnit()
    /// What is on its way from the device, in the order in which it arrives.
    private var pending: [Emission] = []
    /// When what was said last arrives.
    private var lastArrival = Duration.zero
    /// What is said before this instant arrives then.
    private var heldUntil = Duration.zero
    /// Before this instant nothing is heard or said.
    private var silentUntil = Duration.zero

    /// - Parameter seed: What everything random depends on.
    public init(_ device: Device, faults: [FaultOrder] = [], seed: UInt64 = 1) {
        self.device = device
        self.seed = seed
        add(faults)
    }

    // MARK: The faults

    /// Adds faults from now on.
    public mutating func add(_ orders: [FaultOrder]) {
        for order in orders {
            faultCount += 1
            faults.append(ActiveFault(order, seed: seed, stream: faultCount, at: now))
        }
        clock.setRate(faults.reduce(1) { $0 * (1 - $1.order.drift) }, at: now)
    }

    /// Takes all faults away. What is on its way still arrives.
    public mutating func clearFaults() {
        faults = []
        (said, heard) = (FaultyUnit(), FaultyUnit())
        (heldUntil, silentUntil) = (.zero, .zero)
        clock.setRate(1, at: now)
    }

    // MARK: What it is told

    public mutating func receive(_ bytes: [UInt8], at instant: Duration) {
        run(to: max(now, instant))
        var kept: [UInt8] = []
        for byte in bytes {
            if heard.bytes.isEmpty { beginCommand() }
            if hears(byte) { kept.append(byte) }
        }
        if now >= silentUntil, !kept.isEmpty { device.receive(kept, at: clock.inside(now)) }
    }

    /// A write to a device over BLE, which is one command.
    ///
    /// - Parameter take: Hands on what arrives of it.
    package mutating func receivePacket(
        _ bytes: [UInt8], at instant: Duration, _ take: (inout Device, [UInt8], Duration) -> Void
    ) {
        run(to: max(now, instant))
        heard = FaultyUnit()
        beginCommand()
        let kept = bytes.filter { hears($0) }
        if now >= silentUntil { take(&device, kept, clock.inside(now)) }
    }

    /// Does something to the device now.
    package mutating func change<Value>(at instant: Duration, _ body: (inout Device, Duration) -> Value) -> Value {
        run(to: max(now, instant))
        return body(&device, clock.inside(now))
    }

    /// Does something to the device that takes no time.
    package mutating func changeAtOnce(_ body: (inout Device) -> Void) { body(&device) }

    private mutating func beginCommand() {
        for index in faults.indices {
            faults[index].noteCommand()
            if faults[index].order.fault.effect == .overrun { faults[index].beginUnit(at: now) }
        }
    }

    /// Whether a byte of a command arrives.
    private mutating func hears(_ byte: UInt8) -> Bool {
        var arrives = true
        let isLast = heard.endsCommand(byte)
        for index in faults.indices where faults[index].order.fault.effect == .overrun {
            if faults[index].falls(on: heard, isLast: isLast) { arrives = false }
        }
        heard.append(byte)
        if isLast { heard = FaultyUnit() }
        return arrives
    }

    public mutating func hostCame(at instant: Duration) {
        change(at: instant) { $0.hostCame(at: $1) }
        makeNoise()
    }

    public mutating func lineLeft(at instant: Duration) { change(at: instant) { $0.lineLeft(at: $1) } }

    public mutating func reset(at instant: Duration) {
        change(at: instant) { $0.reset(at: $1) }
        said = FaultyUnit()
        makeNoise()
    }

    /// Says nonsense where a fault has it said at the start.
    private mutating func makeNoise() {
        for index in faults.indices where faults[index].order.occasion == .start {
            deliver(noise(index), at: now, by: nil)
        }
    }

    private mutating func noise(_ index: Int) -> [UInt8] {
        (0...faults[index].number(below: 32)).map { _ in UInt8(faults[index].number(below: 256)) }
    }

    // MARK: Time

    public mutating func advance(to instant: Duration) -> [Emission] {
        run(to: max(now, instant))
        let count = pending.firstIndex { $0.time > instant } ?? pending.count
        defer { pending.removeFirst(count) }
        return Array(pending[..<count])
    }

    public var nextActivity: Duration? {
        [device.nextActivity.map(clock.outside), pending.first?.time].compactMap { $0 }.min()
    }

    public var isQuiescent: Bool { device.isQuiescent && pending.isEmpty }

    private mutating func run(to instant: Duration) {
        // Step by step, so that a reset comes between two bytes.
        while !faults.isEmpty, let next = device.nextActivity, clock.outside(next) <= instant {
            step(to: max(now, clock.outside(next)))
        }
        step(to: instant)
    }

    private mutating func step(to instant: Duration) {
        now = instant
        for emission in device.advance(to: clock.inside(instant)) {
            let time = min(instant, clock.outside(emission.time))
            guard !faults.isEmpty else {
                pending.append(Emission(bytes: emission.bytes, time: max(time, lastArrival), output: emission.output))
                continue
            }
            if emission.output == nil { say(emission.bytes, at: time) } else { notify(emission, at: time) }
        }
    }

    // MARK: What it says

    private mutating func say(_ bytes: [UInt8], at time: Duration) {
        for byte in bytes where time >= silentUntil {
            if said.bytes.isEmpty { beginUnit(at: time) }
            let isLast = said.endsLine(byte)
            var arriving = [byte]
            guard fall(on: &arriving, isLast: isLast, at: time) else { return }
            deliver(arriving, at: time, by: nil)
            said.append(byte)
            if isLast { endUnit(at: time, by: nil) }
        }
    }

    private mutating func notify(_ emission: Emission, at time: Duration) {
        guard time >= silentUntil else { return }
        beginUnit(at: time, length: emission.bytes.count)
        var pieces: [[UInt8]] = [[]]
        for (index, byte) in emission.bytes.enumerated() {
            var arriving = [byte]
            let held = heldUntil
            guard fall(on: &arriving, isLast: index + 1 == emission.bytes.count, at: time) else { return }
            if heldUntil != held, index > 0 {
                deliver(pieces.removeLast(), at: time, by: emission.output, until: held)
                pieces.append([])
            }
            pieces[pieces.count - 1] += arriving
            said.append(byte)
        }
        for piece in pieces { deliver(piece, at: time, by: emission.output) }
        endUnit(at: time, by: emission.output)
    }

    private mutating func beginUnit(at time: Duration, length: Int? = nil) {
        said = FaultyUnit()
        for index in faults.indices where faults[index].order.fault.effect != .overrun {
            faults[index].beginUnit(at: time, length: length)
        }
    }

    private mutating func endUnit(at time: Duration, by output: UInt128?) {
        let unit = said
        said = FaultyUnit()
        if unit.isRepeated { deliver(unit.delivered, at: time, by: output) }
    }

    /// Lets faults fall on the next byte of a unit, or on what arrives in its place.
    ///
    /// - Returns: Whether the device goes on; else the unit ends before that byte.
    private mutating func fall(on arriving: inout [UInt8], isLast: Bool, at time: Duration) -> Bool {
        for index in faults.indices where faults[index].order.fault.effect != .overrun {
            guard faults[index].falls(on: said, isLast: isLast) else { continue }
            let order = faults[index].order
            switch order.fault.effect {
            case .pause: heldUntil = max(heldUntil, time + order.time)
            case .gather: if heldUntil <= time { heldUntil = time + order.time }
            case .loseByte: arriving = []
            case .loseUnit: said.isLost = true
            case .repeatUnit: said.isRepeated = true
            case .flipBit:
                let bit = UInt8(1) << faults[index].number(below: 8)
                if !arriving.isEmpty { arriving[0] ^= bit }
            case .noise: arriving = noise(index) + arriving
            case .trickle: said.spacing = order.time
            case .silence:
                silentUntil = time + order.time
                said = FaultyUnit()
                return false
            case .reset:
                reset(at: now)
                return false
            case .overrun, .drift: break
            }
        }
        return true
    }

    /// - Parameter hold: Until when it is held back; nil for as long as all is.
    private mutating func deliver(
        _ bytes: [UInt8], at time: Duration, by output: UInt128?, until hold: Duration? = nil
    ) {
        guard !bytes.isEmpty, !said.isLost else { return }
        said.delivered += bytes
        var arrival = max(time, lastArrival, hold ?? heldUntil)
        if let spacing = said.spacing { arrival = max(arrival, lastArrival + spacing) }
        lastArrival = arrival
        if output == nil, let last = pending.indices.last, pending[last].output == nil, pending[last].time == arrival {
            pending[last].bytes += bytes
        } else {
            pending.append(Emission(bytes: bytes, time: arrival, output: output))
        }
    }

    // MARK: Control

    public static var verbs: [DeviceVerb<FaultyDevice>] {
        let verbs = Device.verbs.map { verb in
            DeviceVerb<FaultyDevice>(verb.name, verb.arguments, help: verb.help) { device, settings, now in
                device.change(at: now) { verb.perform(&$0, settings, $1) }
            }
        }
        return verbs + [
            DeviceVerb(
                "fault", [SimulatorOption("faults", .faults(), help: "Which, or none.")],
                help: "Take all faults away and have others, as --fault does."
            ) { device, settings, now in
                device.run(to: max(device.now, now))
                device.clearFaults()
                device.add(settings.faults("faults"))
            }
        ]
    }

    public var observations: [String: ObservedValue] {
        var observations = device.observations
        if !faults.isEmpty {
            observations["faults"] = .text(faults.map(\.order.text).joined(separator: ","))
        }
        return observations
    }
}

/// A device's clock beside the right one.
private struct DriftingClock: Sendable {
    /// How much time goes by on it in a second.
    private var rate = 1.0
    /// An instant by the right clock, and the same by the device's.
    private var base = (outside: Duration.zero, inside: Duration.zero)

    mutating func setRate(_ rate: Double, at instant: Duration) {
        base = (instant, inside(instant))
        self.rate = rate
    }

    /// An instant by the device's clock.
    func inside(_ instant: Duration) -> Duration {
        rate == 1 ? instant - base.outside + base.inside : base.inside + (instant - base.outside) * rate
    }

    /// An instant by the right clock, by which the device's has reached `instant`.
    func outside(_ instant: Duration) -> Duration {
        // Rounded up: who looks then must not come too early.
        rate == 1
            ? instant - base.inside + base.outside
            : base.outside + (instant - base.inside) / rate + .nanoseconds(1)
    }
}

extension FaultOrder {
    /// The time that it takes; zero where it takes none.
    fileprivate var time: Duration { if case .time(let time) = amount { time } else { .zero } }

    /// By which share of time it has the device's clock lose.
    fileprivate var drift: Double { if case .share(let share) = amount { share } else { 0 } }
}
