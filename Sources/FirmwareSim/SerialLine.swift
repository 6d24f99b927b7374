/// A serial line to a microcontroller that reads every byte in time, as an ESP32 does with its driver's buffers and
/// second core.
///
/// No received byte is lost. Output leaves at the line rate, in packets like those of a USB adapter.
struct SerialLine: Sendable {
    /// The most bytes of a packet on a line with a rate: the length of a full-speed USB packet. On an unlimited line, a
    /// packet contains all pending output.
    static let packetLength = 64

    private let timePerByte: Duration

    private var arrivals: [(bytes: [UInt8], time: Duration)] = []
    /// The instant at which all bytes on the line to the device will have arrived.
    private var lineFreeAt = Duration.zero

    private var outgoing: [UInt8] = []
    /// The number of bytes of ``outgoing`` that have left.
    private var departed = 0
    /// The instant at which the first of the remaining bytes began to leave.
    private var departingSince = Duration.zero

    init(rate: LineRate) {
        timePerByte = rate.timePerByte
    }

    // MARK: Receiving

    /// Puts `bytes` on the line to the device, the first no earlier than `instant`. The device receives the bytes of
    /// one call together, when the last one has arrived.
    mutating func send(_ bytes: [UInt8], at instant: Duration) {
        guard !bytes.isEmpty else { return }
        lineFreeAt = max(lineFreeAt, instant) + timePerByte * bytes.count
        arrivals.append((bytes, lineFreeAt))
    }

    /// The instant at which the device next receives bytes; nil if none are on their way.
    var nextArrival: Duration? { arrivals.first?.time }

    /// Removes and returns the bytes that have arrived by `instant`.
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

    /// Whether all output has left.
    var isIdle: Bool { departed == outgoing.count }

    /// The instant at which all output will have left; nil if it already has.
    var idleTime: Duration? { isIdle ? nil : departingSince + timePerByte * (outgoing.count - departed) }

    /// The instant at which the next packet will have left; nil if no packet is pending.
    var nextDeparture: Duration? { isIdle ? nil : departingSince + timePerByte * nextPacketLength }

    private var nextPacketLength: Int {
        let rest = outgoing.count - departed
        return timePerByte == .zero ? rest : min(rest, Self.packetLength)
    }

    /// Removes and returns the packets that have left by `instant`.
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

    /// Discards the output that ``transmit(until:)`` has not returned. Bytes on their way to the device still arrive.
    mutating func clear() {
        outgoing = []
        departed = 0
    }
}
