/// The state of the carrier, as far as a faulty device knows it.
struct CarrierState: Sendable {
    /// The rate of the device's end of the line.
    let rate: LineRate
    /// The baud rate of the host's end, in bits per second; nil if unknown.
    var hostRate: Int?
    /// The last notification of each characteristic, by the 128 bits of its UUID.
    var lastNotified: [UInt128: [UInt8]] = [:]
    /// Whether a silence or a dropped link has lost the last BLE write, or a part of it.
    var hasLostWrite = false
    /// The characteristics to which a host has subscribed; nil stands for the line, once a host has opened it. Until
    /// the first host comes, the list contains only the line.
    private(set) var outputs: [UInt128?] = [nil]
    private var hasListener = false
    private var events: [CarrierEvent] = []

    init(rate: LineRate) { self.rate = rate }

    /// Records that a host has subscribed to a characteristic or, if `output` is nil, has opened the line.
    mutating func noteListener(at output: UInt128?) {
        if !hasListener { outputs = [] }
        hasListener = true
        if !outputs.contains(output) { outputs.append(output) }
    }

    /// Schedules an event, behind earlier and simultaneous ones.
    mutating func add(_ action: CarrierEvent.Action, at time: Duration) {
        let index = events.firstIndex { $0.time > time } ?? events.endIndex
        events.insert(CarrierEvent(action: action, time: time), at: index)
    }

    /// The time of the next event; nil if no event is scheduled.
    var nextTime: Duration? { events.first?.time }

    mutating func takeEvents(until instant: Duration) -> [CarrierEvent] {
        let count = events.firstIndex { $0.time > instant } ?? events.count
        defer { events.removeFirst(count) }
        return Array(events[..<count])
    }
}
