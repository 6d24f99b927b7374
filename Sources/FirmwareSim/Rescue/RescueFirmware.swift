internal import FoundationEssentials

/// A phone with the rescue app. It sends each of its messages once, and stores and forwards received messages.
///
/// Every listener receives all output of the phone. A host therefore gets its own messages back when the phone forwards
/// them, as over the air. On a line, the phone sends whether or not somebody listens. Over BLE, the phone sends to
/// subscribers, and messages wait until there is a subscriber.
///
/// ```swift
/// var phone = RescueFirmware(options: RescueFirmwareOptions(carrier: .line(.unlimited), messages: 1))
/// _ = phone.advance(to: .seconds(1))  // {"category":"Flooding","content":"Franklin Street …
/// ```
public struct RescueFirmware: SimulatedDevice {
    /// The number of messages that are read from the phone's memory at once, if there is no interval between messages.
    /// Like ``blockTime``, a choice of the simulation.
    private static let blockCount = 64
    /// The time that reading ``blockCount`` messages takes.
    private static let blockTime = Duration.microseconds(250)

    /// The options of this phone.
    public internal(set) var options: RescueFirmwareOptions
    /// The received messages without the phone's own ones, each id once, in order of arrival.
    public private(set) var received: [PhoneMessage] = []

    private let stock: PhoneStock
    /// The ids of all messages that the phone has sent, written or received.
    private var ids: Set<UUID> = []
    /// The number of messages sent from the stock.
    private(set) var sentCount = 0
    /// The number of messages written on the phone.
    private(set) var writtenCount = 0
    private var random: SeededRandom
    private var now = Duration.zero
    private var wire: RescueWire
    private var splitter = JSONObjectSplitter()
    /// The instant at which the next messages of the stock are sent; nil if none are left, or if nobody listens.
    private var sendingDue: Duration?
    /// Whether somebody receives the phone's output; always true on a line, because the phone can't detect listeners.
    private var isHeard: Bool
    /// Received or written messages that could not be sent yet.
    private(set) var waiting: [PhoneMessage] = []

    /// Creates a phone that was just switched on. Its first message follows after one interval; over BLE, after one
    /// interval with a listener.
    public init(options: RescueFirmwareOptions = RescueFirmwareOptions()) {
        self.options = options
        stock = PhoneStock(seed: options.seed)
        random = SeededRandom(seed: options.seed, stream: .max)
        wire = RescueWire(options.carrier)
        isHeard = wire.isLine
        sendingDue = options.messages > 0 && isHeard ? options.interval : nil
    }

    /// The most bytes of a notification that reach every listener whole. Setting nil (unknown) sets 20, which reaches
    /// any listener. A serial line has no notifications.
    public var notificationLength: Int? {
        get { wire.notificationLength }
        set { wire.notificationLength = newValue ?? RescueWire.shortestNotification }
    }

    public mutating func receive(_ bytes: [UInt8], at instant: Duration) {
        wire.send(bytes, at: max(instant, now))
    }

    public mutating func hostCame(at instant: Duration) {
        guard !isHeard else { return }
        now = max(now, instant)
        isHeard = true
        for message in waiting { wire.write(message.json, at: now) }
        waiting = []
        sendingDue = sentCount < options.messages ? now + options.interval : nil
    }

    /// Tells the phone that nobody listens any more. Output on its way is lost; later messages wait for the next
    /// listener. Has no effect on a line.
    public mutating func hostLeft(at instant: Duration) {
        guard !wire.isLine else { return }
        now = max(now, instant)
        wire.clear()
        isHeard = false
        sendingDue = nil
    }

    public mutating func advance(to instant: Duration) -> [Emission] {
        var emissions: [Emission] = []
        while let next = nextActivity, next <= instant {
            now = max(now, next)
            emissions += split(wire.transmit(until: now))
            for byte in wire.receive(by: now) {
                if let object = splitter.append(byte) { take(object) }
            }
            if let due = sendingDue, due <= now { sendStock() }
        }
        now = max(now, instant)
        return emissions + split(wire.transmit(until: now))
    }

    public var nextActivity: Duration? { [wire.nextActivity, sendingDue].compactMap { $0 }.min() }

    public var isQuiescent: Bool { wire.isIdle }

    /// Restarts the app. Output on its way is lost, but stored messages are not.
    public mutating func reset(at instant: Duration) {
        now = max(now, instant)
        wire.clear()
        splitter = JSONObjectSplitter()
    }

    /// Writes a message on the phone, which sends it at once, or as soon as somebody listens.
    ///
    /// - Parameters:
    ///   - content: The text of the message.
    ///   - category: A category of the protocol, such as `SOS`.
    ///   - instant: The time since the simulation began.
    public mutating func write(_ content: String, category: String, at instant: Duration) {
        now = max(now, instant)
        // The id and the place are those of a message that the stock never reaches.
        var message = stock.message(.min + writtenCount)
        writtenCount += 1
        (message.content, message.category) = (content, category)
        message.timestamp = PhoneStock.startTime + now / .seconds(1)
        ids.insert(message.id)
        send(message)
    }

    /// Changes the interval of the remaining messages from now on; zero sends all at once.
    mutating func setInterval(_ interval: Duration, at instant: Duration) {
        options.interval = interval
        if sendingDue != nil { sendingDue = max(now, instant) + interval }
    }

    // MARK: The app

    /// Sends the next message of the stock, or, if there is no interval, the next ``blockCount`` messages.
    private mutating func sendStock() {
        let count = options.interval == .zero ? Self.blockCount : 1
        for index in sentCount..<min(options.messages, sentCount + count) {
            let message = stock.message(index)
            ids.insert(message.id)
            if random.number(below: 100) < options.malformed {
                let fault = PhoneFault.allCases[random.number(below: PhoneFault.allCases.count)]
                // Damage a message that is not in the stock: each message of the stock is sent whole.
                wire.write(fault.damage(stock.message(-1 - index)), at: now)
            }
            wire.write(message.json, at: now)
        }
        sentCount = min(options.messages, sentCount + count)
        let pause = options.interval == .zero ? Self.blockTime : options.interval
        sendingDue = sentCount < options.messages ? max(now + pause, wire.idleTime ?? now) : nil
    }

    /// Stores and forwards a received message, unless the phone already knows its id.
    private mutating func take(_ object: [UInt8]) {
        guard var message = PhoneMessage(json: object), ids.insert(message.id).inserted else { return }
        message.status = "pending_sync"
        received.append(message)
        if options.forwards { send(message) }
    }

    /// Sends a message now, or, if nobody listens, keeps it for the next listener.
    private mutating func send(_ message: PhoneMessage) {
        if isHeard { wire.write(message.json, at: now) } else { waiting.append(message) }
    }

    /// Cuts output into pieces of 1 to `split` bytes.
    private mutating func split(_ emissions: [Emission]) -> [Emission] {
        guard let split = options.split else { return emissions }
        return emissions.flatMap { emission in
            var pieces: [Emission] = []
            var rest = emission.bytes[...]
            while !rest.isEmpty {
                let piece = rest.prefix(1 + random.number(below: max(1, split)))
                rest = rest.dropFirst(piece.count)
                pieces.append(Emission(bytes: Array(piece), time: emission.time))
            }
            return pieces
        }
    }
}
