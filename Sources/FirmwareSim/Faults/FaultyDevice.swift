/// A device with faults of its own, of its line or of its radio link, and with the steps of a scenario. Without faults
/// and steps, a faulty device behaves as the device itself.
///
/// The same faults, steps, seed and input give the same output, however often ``advance(to:)`` is called.
///
/// ```swift
/// var pump = FaultyDevice(PumpFirmware(), faults: settings.faults(), seed: 7)
/// pump.receive(Array("STATUS\n".utf8), at: .zero)
/// _ = pump.advance(to: .seconds(1))  // STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5C}
/// ```
public struct FaultyDevice<Device: SimulatedDevice>: SimulatedDevice {
    /// The device itself, without its faults.
    public internal(set) var device: Device

    let seed: UInt64
    var faults: [ActiveFault] = []
    /// The number of faults given so far, from which each fault gets a random stream of its own.
    private var faultCount: UInt64 = 0
    var clock = DriftingClock()
    var now = Duration.zero
    var script = Script()
    /// The failed steps of the script that were not taken yet.
    var stepFailures: [StepFailure] = []

    /// The current unit of output.
    var said = FaultyUnit()
    /// The current unit of input.
    var heard = FaultyUnit()
    /// The object that the device is sending, if its messages are JSON objects.
    var object = FaultyObject()
    /// The output since the last command, which the fault `twice` sends again when the device is quiescent; nil if the
    /// fault does not fall on this command.
    var reply: [Emission]?
    /// Output on its way from the device, in order of arrival.
    var pending: [Emission] = []
    /// The arrival time of the last output.
    var lastArrival = Duration.zero
    /// The earliest arrival time of output. Output from before this instant is held back until then.
    var heldUntil = Duration.zero
    /// The instant before which the device neither receives nor sends.
    var silentUntil = Duration.zero
    var carrier: CarrierState
    /// The faults that the device can get while it runs.
    var choice = FaultChoice()
    /// The name of the device's own fault, which the device implements itself; nil if none.
    var ownFault: String?

    /// Creates a device with faults.
    ///
    /// - Parameters:
    ///   - device: The device without faults.
    ///   - faults: The faults from the start.
    ///   - seed: The seed of all random events.
    ///   - lineRate: The rate of the device's line, to which the host's baud rate is compared.
    public init(
        _ device: Device, faults: [FaultOrder] = [], seed: UInt64 = 1, lineRate: LineRate = .unlimited
    ) {
        self.device = device
        self.seed = seed
        carrier = CarrierState(rate: lineRate)
        add(faults)
    }

    // MARK: The faults

    /// Adds faults, which can occur from now on.
    public mutating func add(_ orders: [FaultOrder]) {
        for order in orders {
            faultCount += 1
            faults.append(ActiveFault(order, seed: seed, stream: faultCount, at: now))
        }
        // A device has one clock: the last drift counts.
        let drift = faults.last { $0.order.fault.effect == .drift }?.order.drift ?? 0
        clock.setRate(1 - drift, at: now)
    }

    /// Removes all faults that `add(_:)` has added, and ends a silence. Output on its way still arrives. A fault that
    /// the device itself implements stays.
    public mutating func clearFaults() {
        if has(.stick) { change(at: now) { $0.setStuck(false, at: $1) } }
        faults = []
        (said, heard, reply) = (FaultyUnit(), FaultyUnit(), nil)
        object = FaultyObject()
        (heldUntil, silentUntil) = (.zero, .zero)
        clock.setRate(1, at: now)
    }

    func has(_ effect: Fault.Effect) -> Bool { faults.contains { $0.order.fault.effect == effect } }

    // MARK: Input

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

    /// Receives a BLE write, which counts as one command.
    ///
    /// - Parameter take: Passes the bytes that arrive to the device.
    package mutating func receivePacket(
        _ bytes: [UInt8], at instant: Duration, _ take: (inout Device, [UInt8], Duration) -> Void
    ) {
        run(to: max(now, instant))
        heard = FaultyUnit()
        // A bare line end is no command.
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

    /// Runs the device up to an instant, then changes it.
    package mutating func change<Value, Failure>(
        at instant: Duration, _ body: (inout Device, Duration) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        run(to: max(now, instant))
        return try body(&device, clock.inside(now))
    }

    /// Changes the device without running it up to an instant first.
    package mutating func changeAtOnce(_ body: (inout Device) -> Void) { body(&device) }

    /// Counts a command, and draws the faults that fall in it.
    ///
    /// - Parameter length: The number of bytes of the BLE write; nil on a line.
    private mutating func beginCommand(length: Int? = nil) {
        script.noteCommand()
        reply = nil
        for index in faults.indices {
            faults[index].noteCommand()
            guard faults[index].order.fault.effect.isOfCommands else { continue }
            // A dropped link may fall anywhere in the write; a lost byte falls in the first line of the write.
            let isOfWrite = faults[index].order.fault.effect == .hangUp
            faults[index].beginUnit(at: now, length: isOfWrite ? length : nil)
            guard faults[index].order.fault.effect == .repeatReply else { continue }
            if faults[index].falls(at: 0, isLast: false) { reply = [] }
        }
    }

    /// Returns whether a byte of a command reaches the device.
    private mutating func hears(_ byte: UInt8) -> Bool {
        // A line end between two commands is never lost.
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

    /// Returns whether the radio link drops before the byte at `offset` of a write of `count` bytes.
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
        let count = pending.firstIndex { $0.time > now } ?? pending.count
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
        // Advance step by step: a fault that resets the device must do so before the device's next activity.
        while let next = nextStop, next <= instant { step(to: max(now, next)) }
        step(to: instant)
    }

    /// The next instant at which faults or the script may act; nil if there is none.
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
