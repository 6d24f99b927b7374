internal import FoundationEssentials

/// A phone of the rescue app: it holds messages, sends each once, and stores and hands on what it receives.
///
/// Whoever is on its line hears all that it sends, its own messages too: as on the air. On a line it sends whether somebody
/// listens or not; by notifications it sends to those who have subscribed, and what is to be sent waits for them.
///
/// ```swift
/// var phone = RescueFirmware(options: RescueFirmwareOptions(carrier: .line(.unlimited), messages: 1))
/// _ = phone.advance(to: .seconds(1))  // {"id":"…","content":"Bolin Creek flooding",…}
/// ```
public struct RescueFirmware: SimulatedDevice {
    /// How many messages are read from the phone's memory at once where there is no interval between them.
    private static let blockCount = 64
    /// How long that takes.
    private static let blockTime = Duration.microseconds(250)

    /// Which phone this is.
    public internal(set) var options: RescueFirmwareOptions
    /// What it has received, each id once, in the order in which it came.
    public private(set) var received: [PhoneMessage] = []

    private let stock: PhoneStock
    private var ids: Set<UUID> = []
    /// How many of the messages that it held from the start it has sent.
    private(set) var sentCount = 0
    /// How many messages people have written on it since.
    private(set) var writtenCount = 0
    private var random: SeededRandom
    private var now = Duration.zero
    private var wire: RescueWire
    private var splitter = JSONObjectSplitter()
    private var sendingDue: Duration?
    /// Whether somebody hears what it sends, or it can't know.
    private var isHeard: Bool
    /// What it received or what was written on it, and could not be sent yet.
    private(set) var waiting: [PhoneMessage] = []

    /// A phone that was just switched on; its first message is an interval away.
    public init(options: RescueFirmwareOptions = RescueFirmwareOptions()) {
        self.options = options
        stock = PhoneStock(seed: options.seed)
        random = SeededRandom(seed: options.seed, stream: .max)
        wire = RescueWire(options.carrier)
        isHeard = wire.isLine
        sendingDue = options.messages > 0 && isHeard ? options.interval : nil
    }

    /// The most bytes of a notification that reach whoever listens; nil where that is not known, and then it is what every
    /// one takes. A serial line has no notifications.
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

    /// Nobody listens any more: what was on its way is lost, and the rest waits for the next one.
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

    /// Starts the app again: what it was sending is lost. What it has stored is not.
    public mutating func reset(at instant: Duration) {
        now = max(now, instant)
        wire.clear()
        splitter = JSONObjectSplitter()
    }

    /// Somebody writes a message on the phone: it is sent at once, or waits for somebody who listens.
    ///
    /// - Parameter category: As `SOS`.
    public mutating func write(_ content: String, category: String, at instant: Duration) {
        now = max(now, instant)
        // Its id and its place are those of a message that the stock never comes to.
        var message = stock.message(.min + writtenCount)
        writtenCount += 1
        (message.content, message.category) = (content, category)
        message.timestamp = PhoneStock.startTime + now / .seconds(1)
        ids.insert(message.id)
        send(message)
    }

    /// Sends the rest of its messages in other intervals from now on; zero for all at once.
    mutating func setInterval(_ interval: Duration, at instant: Duration) {
        options.interval = interval
        if sendingDue != nil { sendingDue = max(now, instant) + interval }
    }

    // MARK: The app

    private mutating func sendStock() {
        let count = options.interval == .zero ? Self.blockCount : 1
        for index in sentCount..<min(options.messages, sentCount + count) {
            let message = stock.message(index)
            ids.insert(message.id)
            if random.number(below: 100) < options.malformed {
                let fault = PhoneFault.allCases[random.number(below: PhoneFault.allCases.count)]
                // What is damaged is a message of its own, which nobody gets.
                wire.write(fault.damage(stock.message(-1 - index)), at: now)
            }
            wire.write(message.json, at: now)
        }
        sentCount = min(options.messages, sentCount + count)
        let pause = options.interval == .zero ? Self.blockTime : options.interval
        sendingDue = sentCount < options.messages ? max(now + pause, wire.idleTime ?? now) : nil
    }

    private mutating func take(_ object: [UInt8]) {
        guard var message = PhoneMessage(json: object), ids.insert(message.id).inserted else { return }
        message.status = "pending_sync"
        received.append(message)
        if options.forwards { send(message) }
    }

    private mutating func send(_ message: PhoneMessage) {
        if isHeard { wire.write(message.json, at: now) } else { waiting.append(message) }
    }

    /// Cuts what leaves into pieces of 1 byte to as many as may leave at once.
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
