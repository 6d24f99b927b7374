/// A device with faults: of its own, of its line, or of the air between; and with what a scenario does to it. Without either
/// it is the device itself.
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
    public internal(set) var device: Device

    let seed: UInt64
    var faults: [ActiveFault] = []
    /// How many faults there have been.
    private var faultCount: UInt64 = 0
    var clock = DriftingClock()
    var now = Duration.zero
    var script = Script()
    /// What of the script could not be done.
    var stepFailures: [StepFailure] = []

    var said = FaultyUnit()
    var heard = FaultyUnit()
    /// The object that the device is sending, if its messages are objects.
    var object = FaultyObject()
    /// The reply that is said again at its end; nil for none.
    var reply: [Emission]?
    /// What is on its way from the device, in the order in which it arrives.
    var pending: [Emission] = []
    /// When what was said last arrives.
    var lastArrival = Duration.zero
    /// What is said before this instant arrives then.
    var heldUntil = Duration.zero
    /// Before this instant nothing is heard or said.
    var silentUntil = Duration.zero
    var carrier: CarrierState
    /// Which faults it can be given while it runs.
    var choice = FaultChoice()
    /// The fault of the device's own, which the device sees to.
    var ownFault: String?

    /// - Parameters:
    ///   - seed: What everything random depends on.
    ///   - lineRate: What the device's line is paced to, by which a host at another baud rate is known.
    public init(
        _ device: Device, faults: [FaultOrder] = [], seed: UInt64 = 1, lineRate: LineRate = .unlimited
    ) {
        self.device = device
        self.seed = seed
        carrier = CarrierState(rate: lineRate)
        add(faults)
    }

    // MARK: The faults

    /// Adds faults from now on.
    public mutating func add(_ orders: [FaultOrder]) {
        for order in orders {
            faultCount += 1
            faults.append(ActiveFault(order, seed: seed, stream: faultCount, at: now))
        }
        // A device has one clock: what was said of it last counts.
        let drift = faults.last { $0.order.fault.effect == .drift }?.order.drift ?? 0
        clock.setRate(1 - drift, at: now)
    }

    /// Takes all faults away. What is on its way still arrives.
    public mutating func clearFaults() {
        if has(.stick) { change(at: now) { $0.setStuck(false, at: $1) } }
        faults = []
        (said, heard, reply) = (FaultyUnit(), FaultyUnit(), nil)
        object = FaultyObject()
        (heldUntil, silentUntil) = (.zero, .zero)
        clock.setRate(1, at: now)
    }

    func has(_ effect: Fault.Effect) -> Bool { faults.contains { $0.order.fault.effect == effect } }

    // MARK: What it is told

    public mutating func receive(_ bytes: [UInt8], at instant: Duration) {
        run(to: max(now, instant))
        var kept: [UInt8] = []
        for byte in garbledByHost(bytes) {
            if heard.bytes.isEmpty, !FaultyUnit.isLineEnd(byte) { beginCommand() }
            if hears(byte) { kept.append(byte) }
        }
        if now >= silentUntil, !kept.isEmpty { device.receive(kept, at: clock.inside(now)) }
        performDueSteps()
    }

    /// A write to a device over BLE, which is one command.
    ///
    /// - Parameter take: Hands on what arrives of it.
    package mutating func receivePacket(
        _ bytes: [UInt8], at instant: Duration, _ take: (inout Device, [UInt8], Duration) -> Void
    ) {
        run(to: max(now, instant))
        heard = FaultyUnit()
        // A bare line end asks for nothing.
        if !bytes.allSatisfy(FaultyUnit.isLineEnd) { beginCommand(length: bytes.count) }
        var kept: [UInt8] = []
        carrier.hasLostWrite = now < silentUntil
        for (offset, byte) in bytes.enumerated() {
            if dropsLink(at: offset, of: bytes.count) {
                carrier.hasLostWrite = true
                hangUp()
                break
            }
            if hears(byte) { kept.append(byte) }
        }
        if now >= silentUntil, !kept.isEmpty || bytes.isEmpty { take(&device, kept, clock.inside(now)) }
        performDueSteps()
    }

    /// Does something to the device now.
    package mutating func change<Value, Failure>(
        at instant: Duration, _ body: (inout Device, Duration) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        run(to: max(now, instant))
        return try body(&device, clock.inside(now))
    }

    /// Does something to the device that takes no time.
    package mutating func changeAtOnce(_ body: (inout Device) -> Void) { body(&device) }

    /// - Parameter length: The bytes of the write over BLE that it is; nil on a line.
    private mutating func beginCommand(length: Int? = nil) {
        script.noteCommand()
        reply = nil
        for index in faults.indices {
            faults[index].noteCommand()
            guard faults[index].order.fault.effect.isOfCommands else { continue }
            // Only a link's end falls into a write whatever its lines are.
            let isOfWrite = faults[index].order.fault.effect == .hangUp
            faults[index].beginUnit(at: now, length: isOfWrite ? length : nil)
            guard faults[index].order.fault.effect == .repeatReply else { continue }
            if faults[index].falls(at: 0, isLast: false) { reply = [] }
        }
    }

    /// Whether a byte of a command arrives.
    private mutating func hears(_ byte: UInt8) -> Bool {
        // Between two commands there is nothing to lose.
        if heard.bytes.isEmpty, FaultyUnit.isLineEnd(byte) { return true }
        var arrives = true
        let isLast = heard.endsCommand(byte)
        for index in faults.indices where faults[index].order.fault.effect == .overrun {
            if faults[index].falls(at: heard.bytes.count, isLast: isLast) { arrives = false }
        }
        heard.append(byte)
        if isLast { heard = FaultyUnit() }
        return arrives
    }

    /// Whether the radio link drops before a byte of a write of `count` bytes.
    private mutating func dropsLink(at offset: Int, of count: Int) -> Bool {
        var drops = false
        for index in faults.indices where faults[index].order.fault.effect == .hangUp {
            if faults[index].falls(at: offset, isLast: offset + 1 == count) { drops = true }
        }
        return drops
    }

    public mutating func hostCame(at instant: Duration) {
        change(at: instant) { $0.hostCame(at: $1) }
        carrier.noteListener(at: nil)
        makeNoise(by: nil)
    }

    public mutating func lineLeft(at instant: Duration) { change(at: instant) { $0.lineLeft(at: $1) } }

    public mutating func setStuck(_ isStuck: Bool, at instant: Duration) {
        change(at: instant) { $0.setStuck(isStuck, at: $1) }
    }

    public mutating func reset(at instant: Duration) {
        change(at: instant) { $0.reset(at: $1) }
        (said, reply) = (FaultyUnit(), nil)
        object = FaultyObject()
        for output in carrier.outputs { makeNoise(by: output) }
    }

    // MARK: Time

    public mutating func advance(to instant: Duration) -> [Emission] {
        run(to: max(now, instant))
        let count = pending.firstIndex { $0.time > instant } ?? pending.count
        defer { pending.removeFirst(count) }
        return pending[..<count].map(garbledForHost)
    }

    public var nextActivity: Duration? {
        [device.nextActivity.map(clock.outside), pending.first?.time, script.nextTime, carrier.nextTime]
            .compactMap { $0 }.min()
    }

    public var isQuiescent: Bool { device.isQuiescent && pending.isEmpty }

    public var owesReply: Bool { device.owesReply || pending.contains { !$0.isRepetition } }

    mutating func run(to instant: Duration) {
        // Step by step, so that a reset comes between two bytes.
        while let next = nextStop, next <= instant { step(to: max(now, next)) }
        step(to: instant)
    }

    /// When something happens that others have to see at its time.
    private var nextStop: Duration? {
        let isPlain = faults.isEmpty && script.isEmpty
        return isPlain ? nil : [device.nextActivity.map(clock.outside), script.nextTime].compactMap { $0 }.min()
    }

    private mutating func step(to instant: Duration) {
        now = instant
        for emission in device.advance(to: clock.inside(instant)) {
            let time = min(instant, clock.outside(emission.time))
            guard !faults.isEmpty || !script.isEmpty else {
                pending.append(Emission(bytes: emission.bytes, time: max(time, lastArrival), output: emission.output))
                continue
            }
            if emission.output == nil { say(emission.bytes, at: time) } else { notify(emission, at: time) }
        }
        repeatReply()
        script.noteTime(now)
        performDueSteps()
    }
}
