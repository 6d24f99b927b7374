/// What a faulty device knows of what carries its bytes.
struct CarrierState: Sendable {
    /// What the device's end of the line is set to.
    let rate: LineRate
    /// What the host's end is set to; nil where that is not known.
    var hostRate: Int?
    /// What was notified last, by the output.
    var lastNotified: [UInt128: [UInt8]] = [:]
    /// Whether not all of the last write arrived.
    var hasLostWrite = false
    /// What somebody has listened at, nil for the line: at that alone as long as nobody has.
    private(set) var outputs: [UInt128?] = [nil]
    private var hasListener = false
    private var events: [CarrierEvent] = []

    init(rate: LineRate) { self.rate = rate }

    mutating func noteListener(at output: UInt128?) {
        if !hasListener { outputs = [] }
        hasListener = true
        if !outputs.contains(output) { outputs.append(output) }
    }

    mutating func add(_ action: CarrierEvent.Action, at time: Duration) {
        let index = events.firstIndex { $0.time > time } ?? events.endIndex
        events.insert(CarrierEvent(action: action, time: time), at: index)
    }

    /// When the next of them is.
    var nextTime: Duration? { events.first?.time }

    mutating func takeEvents(until instant: Duration) -> [CarrierEvent] {
        let count = events.firstIndex { $0.time > instant } ?? events.count
        defer { events.removeFirst(count) }
        return Array(events[..<count])
    }
}

extension FaultyDevice {
    public mutating func takeCarrierEvents() -> [CarrierEvent] {
        for event in device.takeCarrierEvents() { carrier.add(event.action, at: min(now, clock.outside(event.time))) }
        return carrier.takeEvents(until: now)
    }

    mutating func unplug(at instant: Duration, until end: Duration) {
        // What is in the adapter is lost with it.
        pending.removeAll { $0.time > instant }
        carrier.add(.unplug, at: instant)
        carrier.add(.plugIn, at: end)
    }

    /// Whether not all of the last write over BLE arrived, which who wrote is then not told.
    public var hasLostWrite: Bool { carrier.hasLostWrite }

    mutating func hangUp() { carrier.add(.hangUp, at: now) }

    /// A central has subscribed, and is yet to be told so.
    package mutating func centralSubscribes(to output: UInt128) {
        if has(.notifyEarly), let bytes = carrier.lastNotified[output] {
            carrier.add(.notifyEarly(bytes, output: output), at: now)
        }
        carrier.noteListener(at: output)
        makeNoise(by: output)
    }

    // MARK: The baud rate

    public mutating func setHostBaudRate(_ rate: Int) { carrier.hostRate = rate }

    public var heedsHostBaudRate: Bool { has(.garble) }

    /// The two baud rates, where the line garbles.
    private var mismatch: (device: Int, host: Int)? {
        guard has(.garble), case .baud(let rate) = carrier.rate, let host = carrier.hostRate, host != rate else {
            return nil
        }
        return (rate, host)
    }

    func garbledByHost(_ bytes: [UInt8]) -> [UInt8] {
        guard let mismatch else { return bytes }
        return BaudMismatch.received(bytes, sentAt: mismatch.host, receivedAt: mismatch.device)
    }

    func garbledForHost(_ emission: Emission) -> Emission {
        guard let mismatch else { return emission }
        var emission = emission
        emission.bytes = BaudMismatch.received(emission.bytes, sentAt: mismatch.device, receivedAt: mismatch.host)
        return emission
    }
}
