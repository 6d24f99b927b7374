/// A microcontroller's UART with the two ring buffers of Arduino's `HardwareSerial`.
///
/// The far end's bytes arrive at the line rate and are lost when the receive ring is full. What the firmware writes
/// leaves at the line rate, from a shift register that the transmit ring feeds.
struct UART: Sendable {
    /// What either ring holds: of Arduino's 64 slots one is always free.
    static let ringCapacity = 63

    private struct Arrival {
        var byte: UInt8
        var time: Duration
    }

    private let timePerByte: Duration

    private var arrivals: [Arrival] = []
    /// Arrivals before this index have been taken.
    private var arrivalsTaken = 0
    private var lineFreeAt: Duration = .zero
    private var received = ByteRing(capacity: ringCapacity)
    /// Bytes lost because the receive ring was full.
    private(set) var overflows = 0

    private var toTransmit = ByteRing(capacity: ringCapacity)
    private var shifting: Arrival?
    /// The data register before the shift register: what is written goes there first, and waits there for its turn.
    private var next: UInt8?
    private var emissions: [Emission] = []

    init(rate: LineRate) {
        timePerByte = rate.timePerByte
    }

    // MARK: Receiving

    /// Puts `bytes` on the line, the first no earlier than `instant`.
    mutating func send(_ bytes: [UInt8], at instant: Duration) {
        lineFreeAt = max(lineFreeAt, instant)
        for byte in bytes {
            lineFreeAt += timePerByte
            arrivals.append(Arrival(byte: byte, time: lineFreeAt))
        }
    }

    /// When the last bit of the next byte on the line arrives.
    var nextArrival: Duration? {
        arrivalsTaken < arrivals.count ? arrivals[arrivalsTaken].time : nil
    }

    /// Takes the next byte off the line into the receive ring, if `keeping` it and there is room.
    mutating func takeArrival(keeping: Bool) {
        guard arrivalsTaken < arrivals.count else { return }
        if keeping, !received.append(arrivals[arrivalsTaken].byte) {
            overflows += 1
        }
        arrivalsTaken += 1
        if arrivalsTaken == arrivals.count {
            arrivals.removeAll(keepingCapacity: true)
            arrivalsTaken = 0
        }
    }

    /// The oldest byte in the receive ring, which leaves it.
    mutating func read() -> UInt8? {
        received.popFirst()
    }

    /// Whether a byte is on its way or waits to be read.
    var hasUnreadInput: Bool { nextArrival != nil || !received.isEmpty }

    /// Whether one of such bytes is on its way or waits to be read.
    func hasUnread(_ isSuch: (UInt8) -> Bool) -> Bool {
        arrivals[arrivalsTaken...].contains { isSuch($0.byte) } || received.contains(isSuch)
    }

    // MARK: Transmitting

    /// Hands over a byte to transmit; `false` if there is no room before ``nextDeparture``.
    mutating func write(_ byte: UInt8, at instant: Duration) -> Bool {
        transmit(until: instant)
        guard shifting != nil else {
            shifting = Arrival(byte: byte, time: instant + timePerByte)
            return true
        }
        guard next != nil else {
            next = byte
            return true
        }
        return toTransmit.append(byte)
    }

    /// When the byte in the shift register has left, which makes room for one more.
    var nextDeparture: Duration? { shifting?.time }

    /// How many bytes that were handed over have not left.
    var untransmittedCount: Int { (shifting == nil ? 0 : 1) + (next == nil ? 0 : 1) + toTransmit.count }

    /// Lets everything leave that can have left by `instant`.
    mutating func transmit(until instant: Duration) {
        while let leaving = shifting, leaving.time <= instant {
            emit(leaving)
            shifting = next.map { Arrival(byte: $0, time: leaving.time + timePerByte) }
            next = toTransmit.popFirst()
        }
    }

    private mutating func emit(_ leaving: Arrival) {
        if let last = emissions.indices.last, emissions[last].time + timePerByte == leaving.time {
            emissions[last].bytes.append(leaving.byte)
            emissions[last].time = leaving.time
        } else {
            emissions.append(Emission(bytes: [leaving.byte], time: leaving.time))
        }
    }

    /// Whether something has left and has not been taken.
    var hasEmissions: Bool { !emissions.isEmpty }

    /// What has left since this was last asked.
    mutating func takeEmissions() -> [Emission] {
        defer { emissions.removeAll(keepingCapacity: true) }
        return emissions
    }

    // MARK: Reset

    /// Forgets what is in the rings and the shift register. What is on its way still arrives.
    mutating func clear() {
        received.removeAll()
        toTransmit.removeAll()
        next = nil
        shifting = nil
    }
}
