/// The text and image peer. It greets each host, keeps received messages, and sends an image for `GET`. Like the
/// published peer (rule peer-10 in docs/protocols.md) it acknowledges nothing, unless its options make it acknowledge
/// `Hello`.
///
/// The peer's user is the person or program that operates the peer, and sends messages with ``say(_:at:)``.
///
/// Output waits for the line, and is dropped only if the last listener leaves or the board is reset. An image is made
/// in blocks as the line becomes free, so that an acknowledgement or one of the peer's own messages may stand between
/// two lines of the image.
///
/// ```swift
/// var peer = PeerFirmware(options: PeerFirmwareOptions(imageByteCount: 1000))
/// peer.hostCame(at: .zero)
/// peer.receive(Array("GET\n".utf8), at: .zero)
/// _ = peer.advance(to: .seconds(1))  // HELLO from QDevice1 @ 1970-01-01T00:00:00Z, IMG_BEGIN image.png 1000, …
/// ```
public struct PeerFirmware: SimulatedDevice {
    /// The number of messages of an image that are made at once.
    public static let blockLength = 16
    /// The time that the peer needs to make ``blockLength`` messages. Chosen, as the other numbers here.
    public static let blockTime = Duration.microseconds(250)
    /// The number of received messages that are kept.
    public static let keptMessages = 100
    /// The messages that the peer sends on its own, in turn.
    public static let stock = [
        "Good morning from the other side of the bench", "Grüße ☂ 雨", "The kettle is on", "Anybody there?",
    ]

    /// The options of this peer.
    public internal(set) var options: PeerFirmwareOptions
    /// The image that the peer sends.
    public private(set) var picture: PeerPicture
    /// The state that `ON` and `OFF` switch.
    public internal(set) var isOn = false
    /// The last received messages, oldest first.
    public private(set) var messages: [[UInt8]] = []
    /// The most bytes of a notification that reach the host whole; nil for no limit.
    ///
    /// The chunks of an image and the file name in its first line are shortened to fit, and a message is divided into
    /// parts. A greeting and an error reason are always one notification, of which the bytes that don't fit are lost.
    public var notificationLength: Int?

    /// Called for each event, from within the call to the peer that causes the event.
    public var onEvent: (@Sendable (PeerFirmwareEvent) -> Void)?
    /// Whether anybody receives the peer's output.
    public private(set) var hasListener = false

    private var now = Duration.zero
    private var wire: PeerWire
    /// Messages of the peer's user that wait for a listener, or for the end of an image.
    private var waitingMessages: [[UInt8]] = []
    /// Whether ``PeerFirmwareEvent/waits`` was reported since the last listener came.
    private var hasToldThatItWaits = false
    /// The instant at which the next waiting messages are sent.
    private var messagesDue: Duration?
    private var sender: PeerImageSender?
    /// The number of requested images that wait for the end of another image.
    private var waitingImages = 0
    /// The instant at which the next block of the image is made.
    private var blockDue: Duration?
    /// The instant of the next message from ``stock``; nil for no such messages.
    private var stockDue: Duration?
    /// The number of messages sent from ``stock``.
    private var stockCount = 0

    /// Creates a peer that has been powered for a while. Its first own message follows after one interval.
    public init(options: PeerFirmwareOptions = PeerFirmwareOptions()) {
        self.options = options
        picture = Self.picture(options)
        wire = PeerWire(options.carrier)
        stockDue = options.interval
    }

    private static func picture(_ options: PeerFirmwareOptions) -> PeerPicture {
        let isTooLarge = options.imageFault == .tooLarge
        if let image = options.image, !isTooLarge { return PeerPicture(file: image) }
        return PeerPicture(
            seed: options.seed, byteCount: isTooLarge ? PeerFirmwareOptions.largestImage + 1 : options.imageByteCount)
    }

    public mutating func receive(_ bytes: [UInt8], at instant: Duration) { wire.send(bytes, at: max(instant, now)) }

    public mutating func hostCame(at instant: Duration) {
        let time = max(instant, now)
        say("HELLO from \(options.name) @ \(Self.iso8601(options.startTime + Int(time.components.seconds)))", at: time)
        if !hasListener {
            (hasListener, hasToldThatItWaits) = (true, false)
            onEvent?(.listenerCame)
        }
        scheduleMessages(at: time)
    }

    /// Sends a message of the peer's user as soon as somebody listens and no image is being sent: within an image, a
    /// host could take the message for image data.
    ///
    /// An empty message is ignored. A message that begins with `IMG_` is refused, and reported as
    /// ``PeerFirmwareEvent/notSaid(_:)``.
    public mutating func say(_ message: [UInt8], at instant: Duration) {
        guard !message.isEmpty else { return }
        guard !message.starts(with: "IMG_".utf8) else {
            onEvent?(.notSaid(message))
            return
        }
        waitingMessages.append(message)
        if !hasListener, !hasToldThatItWaits {
            hasToldThatItWaits = true
            onEvent?(.waits)
        }
        scheduleMessages(at: max(instant, now))
    }

    /// Tells the peer that nobody listens any more. Output that has not left is dropped, and so are requested images.
    /// Messages of the peer's user wait for the next listener.
    public mutating func hostLeft(at instant: Duration) {
        now = max(now, instant)
        wire.dropOutput()
        endImages()
        messagesDue = nil
        guard hasListener else { return }
        hasListener = false
        onEvent?(.listenerLeft)
    }

    public mutating func lineLeft(at instant: Duration) { hostLeft(at: instant) }

    public mutating func advance(to instant: Duration) -> [Emission] {
        var emissions: [Emission] = []
        while let next = nextActivity, next <= instant {
            now = max(now, next)
            emissions += wire.transmit(until: now)
            live()
        }
        now = max(now, instant)
        return emissions + wire.transmit(until: now)
    }

    public var nextActivity: Duration? { [wire.nextActivity, blockDue, stockDue, messagesDue].compactMap { $0 }.min() }

    public var isQuiescent: Bool { wire.isIdle && wire.isHeard && blockDue == nil && messagesDue == nil }

    /// Resets the board: pending output, waiting messages and received messages are lost, and the peer is switched off.
    public mutating func reset(at instant: Duration) {
        now = max(now, instant)
        wire.clear()
        isOn = false
        messages = []
        waitingMessages = []
        messagesDue = nil
        endImages()
        stockDue = options.interval.map { now + $0 }
    }

    /// Gives the next images a fault, by a name from ``PeerFirmwareOptions/ImageFault``; nil ends the fault.
    public mutating func setOwnFault(_ name: String?, at instant: Duration) {
        options.imageFault = name.flatMap(PeerFirmwareOptions.ImageFault.init)
        picture = Self.picture(options)
    }

    /// Makes the peer send this image, from the next image on.
    mutating func setImage(_ file: PeerImageFile) {
        options.send(file)
        picture = Self.picture(options)
    }

    /// Changes the interval of the peer's own messages from now on; nil for no such messages.
    mutating func setInterval(_ interval: Duration?, at instant: Duration) {
        options.interval = interval
        stockDue = interval.map { max(now, instant) + $0 }
    }

    // MARK: The program

    /// Handles input, and sends the messages and the block of an image that are due.
    private mutating func live() {
        for message in wire.receive(by: now) { obey(message) }
        if let due = stockDue, due <= now {
            for part in parts(of: Array(Self.stock[stockCount % Self.stock.count].utf8)) { wire.say(part, at: now) }
            stockCount += 1
            stockDue = options.interval.map { now + $0 }
        }
        if let due = blockDue, due <= now { sendBlock() }
        if let due = messagesDue, due <= now { sayMessages() }
    }

    /// Makes the waiting messages due at `instant`, unless nobody listens or an image is being sent.
    private mutating func scheduleMessages(at instant: Duration) {
        guard hasListener, sender == nil, !waitingMessages.isEmpty else { return }
        messagesDue = messagesDue ?? instant
    }

    /// Sends the first waiting messages, at most ``blockLength``. The others follow when these have left.
    private mutating func sayMessages() {
        for message in waitingMessages.prefix(Self.blockLength) {
            let parts = parts(of: message)
            for part in parts { wire.say(part, at: now) }
            if parts.count > 1 { onEvent?(.divided(into: parts.count)) }
        }
        waitingMessages.removeFirst(min(Self.blockLength, waitingMessages.count))
        messagesDue = nil
        scheduleMessages(at: max(now + Self.blockTime, wire.idleTime ?? now))
    }

    private mutating func obey(_ message: [UInt8]) {
        let text = String(decoding: message, as: UTF8.self)
        switch text {
        case "": break
        case "Hello":
            onEvent?(.greeted(message))
            if options.acknowledges { say("Hello ack", at: now) }
        case _ where text.hasPrefix("HELLO from "): onEvent?(.greeted(message))
        case _ where Self.asksForImage(text):
            onEvent?(.askedForImage)
            askForImage()
        case _ where ["ON", "OFF"].contains(text.uppercased()):
            isOn = text.count == 2
            onEvent?(.toggled(isOn))
        default:
            messages.append(message)
            messages.removeFirst(max(0, messages.count - Self.keptMessages))
            onEvent?(.told(message))
        }
    }

    /// Returns whether a text is `GET` or `GET_IMAGE`, in any letter case, with or without spaces around it.
    private static func asksForImage(_ text: String) -> Bool {
        let words = text.split(separator: " ")
        return words.count == 1 && ["GET", "GET_IMAGE"].contains(words[0].uppercased())
    }

    /// Begins to send the image, or, while another image is being sent, notes the request.
    private mutating func askForImage() {
        guard sender == nil else {
            waitingImages += 1
            return
        }
        sender = nextSender
        blockDue = now
        messagesDue = nil
    }

    private var nextSender: PeerImageSender {
        PeerImageSender(picture.bytes, options, longestMessage: notificationLength)
    }

    /// Stops sending the image, and forgets requested images.
    private mutating func endImages() {
        sender = nil
        waitingImages = 0
        blockDue = nil
    }

    /// Sends the next messages of the image, at most ``blockLength``, and begins the next requested image after the
    /// last message.
    private mutating func sendBlock() {
        for _ in 0..<Self.blockLength {
            if let message = sender?.next() {
                wire.say(message, at: now)
            } else {
                sender = nil
                break
            }
        }
        if sender == nil, waitingImages > 0 {
            waitingImages -= 1
            sender = nextSender
        }
        if sender == nil { scheduleMessages(at: now) }
        blockDue = sender.map { _ in max(now + Self.blockTime, wire.idleTime ?? now) }
    }

    /// Divides a message into parts that reach the host whole, cut between characters.
    private func parts(of message: [UInt8]) -> [[UInt8]] {
        guard let notificationLength else { return [message] }
        var parts: [[UInt8]] = []
        var rest = message[...]
        while rest.count > notificationLength {
            var end = rest.startIndex + notificationLength
            // A byte that continues a character of UTF-8 stays with the character's first byte.
            for index in stride(from: end, to: max(rest.startIndex, end - 4), by: -1) where rest[index] & 0xC0 != 0x80 {
                end = index
                break
            }
            parts.append(Array(rest[..<end]))
            rest = rest[end...]
        }
        return parts + [Array(rest)]
    }

    private mutating func say(_ text: String, at instant: Duration) { wire.say(Array(text.utf8), at: instant) }

    /// Formats an instant in seconds since 1970 as `2025-01-31T16:04:05Z`.
    private static func iso8601(_ seconds: Int) -> String {
        // In a year that begins in March, the leap day is the last day. 719,468 days lie between 0000-03-01 and
        // 1970-01-01; 146,097 days are 400 years. (howardhinnant.github.io/date_algorithms.html, "civil_from_days")
        let days = seconds / 86_400 + 719_468
        let era = days / 146_097
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        func digits(_ number: Int, _ width: Int) -> String {
            String(repeating: "0", count: max(0, width - String(number).count)) + String(number)
        }
        let date = [digits(year, 4), digits(month, 2), digits(day, 2)].joined(separator: "-")
        let clock = [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60].map { digits($0, 2) }.joined(separator: ":")
        return "\(date)T\(clock)Z"
    }
}
