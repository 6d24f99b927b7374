/// A serial line to a microcontroller that keeps up with it, as an ESP32 does by its driver's buffers and its second core.
///
/// Nothing that is received is lost. What is written leaves at the line rate, handed on in packets as a USB adapter does.
struct SerialLine: Sendable {
    /// The most that is handed on at once where the line has a rate, in bytes: a full-speed USB packet.
    static let packetLength = 64

    private let timePerByte: Duration

    private var arrivals: [(bytes: [UInt8], time: Duration)] = []
    private var lineFreeAt = Duration.zero

    private var outgoing: [UInt8] = []
    /// What of it has left.
    private var departed = 0
    /// When the first byte of what has not left began to.
    private var departingSince = Duration.zero

    init(rate: LineRate) {
        timePerByte = rate.timePerByte
    }

    // MARK: Receiving

    /// Puts `bytes` on the line to the device, the first no earlier than `instant`.
    mutating func send(_ bytes: [UInt8], at instant: Duration) {
        guard !bytes.isEmpty else { return }
        lineFreeAt = max(lineFreeAt, instant) + timePerByte * bytes.count
        arrivals.append((bytes, lineFreeAt))
    }

    /// When the last bit of what was sent first arrives.
    var nextArrival: Duration? { arrivals.first?.time }

    /// Takes what has arrived by `instant`.
    mutating func receive(by instant: Duration) -> [UInt8] {
        var received: [UInt8] = []
        while let first = arrivals.first, first.time <= instant { received += arrivals.removeFirst().bytes }
        return received
    }

    // MARK: Transmitting

    /// Hands over bytes to transmit.
    mutating func write(_ bytes: [UInt8], at instant: Duration) {
        if departed == outgoing.count {
            outgoing.removeAll(keepingCapacity: true)
            departed = 0
            departingSince = instant
        }
        outgoing += bytes
    }

    /// Whether all that was written has left.
    var isIdle: Bool { departed == outgoing.count }

    /// When all that was written will have left; nil if it has.
    var idleTime: Duration? { isIdle ? nil : departingSince + timePerByte * (outgoing.count - departed) }

    /// When the next packet has left; nil if none is to leave.
    var nextDeparture: Duration? { isIdle ? nil : departingSince + timePerByte * nextPacketLength }

    private var nextPacketLength: Int {
        let rest = outgoing.count - departed
        return timePerByte == .zero ? rest : min(rest, Self.packetLength)
    }

    /// Takes the packets that have left by `instant`.
    mutating func transmit(until instant: Duration) -> [Emission] {
        var emissions: [Emission] = []
        while let time = nextDeparture, time <= instant {
            let end = departed + nextPacketLength
            emissions.append(Emission(bytes: Array(outgoing[departed..<end]), time: time))
            departed = end
            departingSince = time
        }
        return emissions
    }

    /// Forgets what has not left. What is on its way to the device still arrives.
    mutating func clear() {
        outgoing = []
        departed = 0
    }
}
