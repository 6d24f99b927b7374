/// The state of the carrier, as far as a faulty device knows it.
struct CarrierState: Sendable {
    /// The baud rate of the device's end of the line.
    let rate: LineRate
    /// The baud rate of the host's end, in bits per second; nil if unknown.
    var hostRate: Int?
    /// The last notification of each output.
    var lastNotified: [UInt128: [UInt8]] = [:]
    /// Whether a part of the last write was lost.
    var hasLostWrite = false
    /// The outputs that have had a listener (nil: the line). Before the first listener comes, the line alone.
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

    /// The time of the next event.
    var nextTime: Duration? { events.first?.time }

    mutating func takeEvents(until instant: Duration) -> [CarrierEvent] {
        let count = events.firstIndex { $0.time > instant } ?? events.count
        defer { events.removeFirst(count) }
        return Array(events[..<count])
    }
}
