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
