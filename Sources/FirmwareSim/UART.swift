/// A microcontroller's UART with the two ring buffers of Arduino's `HardwareSerial`.
///
/// Received bytes arrive at the line rate, and are lost if the receive ring is full. Output leaves at the line rate,
/// from a shift register that the transmit ring feeds through a data register.
struct UART: Sendable {
    /// The capacity of each ring in bytes: one of Arduino's 64 slots is always free.
    static let ringCapacity = 63

    /// A byte, and the instant at which its last bit arrives or, for ``shifting``, has left.
    private struct Arrival {
        var byte: UInt8
        var time: Duration
    }

    private let timePerByte: Duration

    /// The bytes on the line to this UART.
    private var arrivals: [Arrival] = []
    /// The number of ``arrivals``, from the first, that have been taken.
    private var arrivalsTaken = 0
    /// The instant at which all bytes on the line to this UART will have arrived.
    private var lineFreeAt: Duration = .zero
    private var received = ByteRing(capacity: ringCapacity)
    /// The number of bytes lost because the receive ring was full.
    private(set) var overflows = 0

    private var toTransmit = ByteRing(capacity: ringCapacity)
    /// The byte in the shift register, which is leaving.
    private var shifting: Arrival?
    /// The byte in the data register, which the shift register takes next.
    private var next: UInt8?
    private var emissions: [Emission] = []

    init(rate: LineRate) {
        timePerByte = rate.timePerByte
    }

    // MARK: Receiving

    /// Puts `bytes` on the line to this UART, the first no earlier than `instant`.
    mutating func send(_ bytes: [UInt8], at instant: Duration) {
        lineFreeAt = max(lineFreeAt, instant)
        for byte in bytes {
            lineFreeAt += timePerByte
            arrivals.append(Arrival(byte: byte, time: lineFreeAt))
        }
    }

    /// The instant at which the last bit of the next byte on the line arrives; nil if no byte is on its way.
    var nextArrival: Duration? {
        arrivalsTaken < arrivals.count ? arrivals[arrivalsTaken].time : nil
    }

    /// Takes the next byte off the line. Puts it into the receive ring if `keeping` is true and the ring has room. Pass
    /// false while the bootloader runs: the firmware never gets these bytes.
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

    /// Removes and returns the oldest byte in the receive ring; nil if the ring is empty.
    mutating func read() -> UInt8? {
        received.popFirst()
    }

    /// Whether a byte is on its way or waits in the receive ring.
    var hasUnreadInput: Bool { nextArrival != nil || !received.isEmpty }

    /// Returns whether a byte that is on its way, or waits in the receive ring, satisfies `isSuch`.
    func hasUnread(_ isSuch: (UInt8) -> Bool) -> Bool {
        arrivals[arrivalsTaken...].contains { isSuch($0.byte) } || received.contains(isSuch)
    }

    // MARK: Transmitting

    /// Hands over a byte to transmit. Returns `false` if there is no room before ``nextDeparture``.
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

    /// The instant at which the byte in the shift register has left, which makes room for another byte; nil if the
    /// register is empty.
    var nextDeparture: Duration? { shifting?.time }

    /// The number of bytes handed over that have not left.
    var untransmittedCount: Int { (shifting == nil ? 0 : 1) + (next == nil ? 0 : 1) + toTransmit.count }

    /// Transmits the bytes that leave by `instant`.
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

    /// Whether transmitted bytes wait to be taken.
    var hasEmissions: Bool { !emissions.isEmpty }

    /// Returns, once, the bytes transmitted since the last call.
    mutating func takeEmissions() -> [Emission] {
        defer { emissions.removeAll(keepingCapacity: true) }
        return emissions
    }

    // MARK: Reset

    /// Clears the rings and the registers. Bytes on their way still arrive.
    mutating func clear() {
        received.removeAll()
        toTransmit.removeAll()
        next = nil
        shifting = nil
    }
}
