/// The text and image peer: it greets who comes, keeps what it is told, and sends an image for `GET`. As the published one it
/// acknowledges nothing, unless told to acknowledge `Hello`.
///
/// What it says waits for its line and is never dropped. An image is said line by line as the line becomes free, so that an
/// acknowledgement or a message meanwhile stands between two lines of it.
///
/// ```swift
/// var peer = PeerFirmware(options: PeerFirmwareOptions(imageByteCount: 1000))
/// peer.hostCame(at: .zero)
/// peer.receive(Array("GET\n".utf8), at: .zero)
/// _ = peer.advance(to: .seconds(1))  // HELLO from QDevice1 @ 1970-01-01T00:00:00Z, IMG_BEGIN image.png 1000, …
/// ```
public struct PeerFirmware: SimulatedDevice {
    /// How many messages of an image are made at once.
    public static let blockLength = 16
    /// How long that takes.
    public static let blockTime = Duration.microseconds(250)
    /// How many of the messages that it was told it keeps.
    public static let keptMessages = 100
    /// What it says by itself, in turn.
    public static let stock = [
        "Good morning from the other side of the bench", "Grüße ☂ 雨", "The kettle is on", "Anybody there?",
    ]

    /// Which peer this is.
    public internal(set) var options: PeerFirmwareOptions
    /// The image that it sends.
    public private(set) var picture: PeerPicture
    /// What `ON` and `OFF` switch.
    public internal(set) var isOn = false
    /// What it was told last, oldest first.
    public private(set) var messages: [[UInt8]] = []
    /// The most bytes of a notification that reach the host whole; nil for no bound.
    ///
    /// The chunks of an image are made as short, and the name in its first line; a message of its own is said in parts. A
    /// greeting and a reason are one notification whatever it takes: what is too long of them does not arrive.
    public var notificationLength: Int?

    /// Told of what comes about, as it does.
    public var onEvent: (@Sendable (PeerFirmwareEvent) -> Void)?
    /// Whether anybody hears what it says.
    public private(set) var hasListener = false

    private var now = Duration.zero
    private var wire: PeerWire
    /// What people have it say, as long as nobody hears it or an image is on its way.
    private var waitingMessages: [[UInt8]] = []
    /// Whether it was told that they wait.
    private var hasToldThatItWaits = false
    /// When the next of them are said.
    private var messagesDue: Duration?
    private var sender: PeerImageSender?
    /// How many images were asked for while one was on its way.
    private var waitingImages = 0
    /// When the next block of the image is made.
    private var blockDue: Duration?
    private var stockDue: Duration?
    private var stockCount = 0

    /// A peer that has been powered for a while; its first own message is an interval away.
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

    /// Says something that people have it say, once somebody hears it and no image is on its way: within an image a word
    /// could be taken for a part of it. An empty message is none, and what begins as a line of an image is refused.
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

    /// Nobody listens any more: what it was going to say is dropped.
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

    /// Resets the board: what it was saying is lost, and what it was told. It is switched off.
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

    /// What is wrong with its images from the next one on.
    public mutating func setOwnFault(_ name: String?, at instant: Duration) {
        options.imageFault = name.flatMap(PeerFirmwareOptions.ImageFault.init)
        picture = Self.picture(options)
    }

    /// Sends that image from the next one on that is asked for.
    mutating func setImage(_ file: PeerImageFile) {
        options.send(file)
        picture = Self.picture(options)
    }

    /// Says something of its own at other times from now on; nil for never.
    mutating func setInterval(_ interval: Duration?, at instant: Duration) {
        options.interval = interval
        stockDue = interval.map { max(now, instant) + $0 }
    }

    // MARK: The program

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

    private mutating func scheduleMessages(at instant: Duration) {
        guard hasListener, sender == nil, !waitingMessages.isEmpty else { return }
        messagesDue = messagesDue ?? instant
    }

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

    /// Whether a text is `GET` or `GET_IMAGE`, in any letter case, with or without spaces around it.
    private static func asksForImage(_ text: String) -> Bool {
        let words = text.split(separator: " ")
        return words.count == 1 && ["GET", "GET_IMAGE"].contains(words[0].uppercased())
    }

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

    private mutating func endImages() {
        sender = nil
        waitingImages = 0
        blockDue = nil
    }

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

    /// A message in pieces that reach the host whole, cut between characters.
    private func parts(of message: [UInt8]) -> [[UInt8]] {
        guard let notificationLength else { return [message] }
        var parts: [[UInt8]] = []
        var rest = message[...]
        while rest.count > notificationLength {
            var end = rest.startIndex + notificationLength
            // What goes on a character of UTF-8 stays with its beginning.
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

    /// An instant in seconds since 1970 as `2025-01-31T16:04:05Z`.
    private static func iso8601(_ seconds: Int) -> String {
        // The days of a year that begins in March need no leap day in its middle.
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
