/// The text and image peer: it greets who comes, acknowledges `Hello`, keeps what it is told, and sends an image for `GET`.
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
    public let options: PeerFirmwareOptions
    /// The image that it sends.
    public let picture: PeerPicture
    /// What `ON` and `OFF` switch.
    public private(set) var isOn = false
    /// What it was told last, oldest first.
    public private(set) var messages: [[UInt8]] = []
    /// The most bytes of a notification that reach the host whole; nil for no bound.
    ///
    /// The chunks of an image are made as short, and the name in its first line; a message of its own is said in parts. A
    /// greeting and a reason are one notification whatever it takes: what is too long of them does not arrive.
    public var notificationLength: Int?

    private var now = Duration.zero
    private var wire: PeerWire
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
        let isTooLarge = options.imageFault == .tooLarge
        picture = PeerPicture(
            seed: options.seed,
            byteCount: isTooLarge ? PeerFirmwareOptions.largestImage + 1 : options.imageByteCount)
        wire = PeerWire(options.carrier)
        stockDue = options.interval
    }

    public mutating func receive(_ bytes: [UInt8], at instant: Duration) { wire.send(bytes, at: max(instant, now)) }

    public mutating func hostCame(at instant: Duration) {
        let time = max(instant, now)
        say("HELLO from \(options.name) @ \(Self.iso8601(options.startTime + Int(time.components.seconds)))", at: time)
    }

    /// Nobody listens any more: what it was going to say is dropped.
    public mutating func hostLeft(at instant: Duration) {
        now = max(now, instant)
        wire.dropOutput()
        endImages()
    }

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

    public var nextActivity: Duration? { [wire.nextActivity, blockDue, stockDue].compactMap { $0 }.min() }

    public var isQuiescent: Bool { wire.isIdle && wire.isHeard && blockDue == nil }

    /// Resets the board: what it was saying is lost, and what it was told. It is switched off.
    public mutating func reset(at instant: Duration) {
        now = max(now, instant)
        wire.clear()
        isOn = false
        messages = []
        endImages()
        stockDue = options.interval.map { now + $0 }
    }

    // MARK: The program

    private mutating func live() {
        for message in wire.receive(by: now) { obey(message) }
        if let due = stockDue, due <= now {
            for part in parts(of: Self.stock[stockCount % Self.stock.count]) { say(part, at: now) }
            stockCount += 1
            stockDue = options.interval.map { now + $0 }
        }
        if let due = blockDue, due <= now { sendBlock() }
    }

    private mutating func obey(_ message: [UInt8]) {
        switch String(decoding: message, as: UTF8.self) {
        case "": break
        case "Hello": say("Hello ack", at: now)
        case "GET", "GET_IMAGE": askForImage()
        case let text where text.uppercased() == "ON": isOn = true
        case let text where text.uppercased() == "OFF": isOn = false
        default:
            messages.append(message)
            messages.removeFirst(max(0, messages.count - Self.keptMessages))
        }
    }

    private mutating func askForImage() {
        guard sender == nil else {
            waitingImages += 1
            return
        }
        sender = nextSender
        blockDue = now
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
        blockDue = sender.map { _ in max(now + Self.blockTime, wire.idleTime ?? now) }
    }

    /// A message in pieces that reach the host whole, cut between characters.
    private func parts(of text: String) -> [String] {
        guard let notificationLength else { return [text] }
        return text.reduce(into: [""]) { parts, character in
            let length = parts[parts.count - 1].utf8.count + character.utf8.count
            if length <= notificationLength {
                parts[parts.count - 1].append(character)
            } else {
                parts.append(String(character))
            }
        }
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
