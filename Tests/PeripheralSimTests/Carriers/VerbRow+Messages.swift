import FirmwareSim
import Foundation
import StrictJSON

/// The rows of the storm sensor, the peer and the phone. Live rows, echoed commands and the peer's messages have a line
/// end only on a terminal; rows of a stored log have one over either carrier, and the phone's messages have none.
extension VerbRow {
    static func storm(_ carrier: Carrier) -> [VerbRow] {
        let end = carrier.end
        func measured(_ number: Int) -> String { "LIVE LOG: \(stored(number..<number + 1).dropLast())\(end)" }
        return [
            VerbRow(
                .storm, "advance", .does("set", "interval", "2s"), .passes("6100ms"),
                .hears(measured(2) + measured(3) + measured(4))),
            VerbRow(
                .storm, "fault", .does("fault", "duplicate@always"), .does("measure"), .passes("1s"),
                .hears(measured(2) + measured(2))),
            VerbRow(.storm, "measure", .does("measure"), .passes("1s"), .hears(measured(2))),
            VerbRow(
                .storm, "reset", .does("set", "interval", "2s"), .passes("1s"), .does("reset"), .passes("1500ms"),
                .hearsNothing, .passes("600ms"), .hears(measured(2))),
            VerbRow(
                .storm, "set echo", .does("set", "echo", "on"), .says("GET_LOG\(carrier.enter)"), .passes("1s"),
                .hears("GET_LOG\(end)LOG Values: \(stored(0..<2))")),
            VerbRow(
                .storm, "set interval", .does("set", "interval", "2s"), .passes("2100ms"), .hears(measured(2)),
                .does("set", "interval", "off"), .passes("1h"), .hearsNothing),
        ]
    }

    /// Rows of the sensor's log.
    private static func stored(_ rows: Range<Int>) -> String {
        String(decoding: StormLog(seed: 1).text(rows: rows), as: UTF8.self)
    }

    static func peer(_ carrier: Carrier) -> [VerbRow] {
        let (end, enter) = (carrier.end, carrier.enter)
        let greeting = [Beat.passes("100ms"), .hears("HELLO from QDevice1 @ 1970-01-01T00:00:00Z\(end)")]
        let photo = ImageText(name: "photo.png", seed: 3, byteCount: 300, end: end)
        func row(_ verb: String, _ scene: Beat...) -> VerbRow { VerbRow(.peer, verb, greeting + scene) }
        return [
            row(
                "advance", .does("set", "interval", "1s"), .passes("2100ms"),
                .hears(PeerFirmware.stock[0] + end + PeerFirmware.stock[1] + end)),
            row(
                "fault", .does("fault", "duplicate@always"), .does("say", "twice"), .passes("1s"),
                .hears("twice\(end)twice\(end)")),
            row(
                "reset", .says("ON\(enter)"), .passes("1s"), .sees("on", true), .does("reset"), .passes("1s"),
                .hearsNothing, .sees("on", false)),
            row("say", .does("say", "bring water"), .passes("1s"), .hears("bring water\(end)")),
            row(
                "set acks", .says("Hello\(enter)"), .passes("1s"), .hearsNothing, .does("set", "acks", "on"),
                .says("Hello\(enter)"), .passes("1s"), .hears("Hello ack\(end)")),
            row(
                "set chunk", .does("set", "chunk", "50"), .says("GET\(enter)"), .passes("1s"),
                .hears(ImageText(chunkLength: 50, end: end).text)),
            row(
                "set image", .doesWithFile(["set", "image"], photo.name, photo.bytes), .says("GET\(enter)"),
                .passes("1s"),
                .hears(photo.text)),
            row(
                "set interval", .does("set", "interval", "1s"), .passes("1100ms"),
                .hears(PeerFirmware.stock[0] + end), .does("set", "interval", "off"), .passes("1h"), .hearsNothing),
            // The protocol has no message that reports a toggle by hand.
            row("toggle", .does("toggle"), .passes("1s"), .hearsNothing, .sees("on", true)),
        ]
    }

    static func rescue(_ carrier: Carrier) -> [VerbRow] {
        let written = PhoneText.written("help", category: "SOS")
        return [
            VerbRow(
                .rescue, "advance", .passes("59s"), .hearsNothing, .passes("61100ms"),
                .hears(PhoneText.stock(0) + PhoneText.stock(1))),
            VerbRow(
                .rescue, "fault", .does("fault", "delay=2s@always"), .does("write", "SOS", "help"), .passes("1s"),
                .hearsNothing, .passes("1500ms"), .hears(written)),
            VerbRow(
                .rescue, "reset", .says("{\"id\":"), .passes("100ms"), .does("reset"),
                .says(PhoneText.stock(0, seed: 9)), .passes("1s"),
                .hears(PhoneText.stock(0, seed: 9))),
            VerbRow(
                .rescue, "set hoard", .does("set", "hoard", "on"), .says(PhoneText.stock(0, seed: 9)), .passes("1s"),
                .hearsNothing, .sees("received", 1), .does("set", "hoard", "off"), .says(PhoneText.stock(1, seed: 9)),
                .passes("1s"), .hears(PhoneText.stock(1, seed: 9))),
            VerbRow(
                .rescue, "set interval", .does("set", "interval", "1s"), .passes("1100ms"),
                .hears(PhoneText.stock(0))),
            VerbRow(
                .rescue, "set malformed", .does("set", "malformed", "100"), .passes("60100ms"),
                .hears(PhoneText.malformed + PhoneText.stock(0))),
            VerbRow(
                .rescue, "set split", .does("set", "split", "1"), .does("write", "SOS", "help"), .passes("1s"),
                carrier == .terminal ? .hears(written) : .hearsEach(written.map { String($0) })),
            VerbRow(.rescue, "write", .does("write", "SOS", "help"), .passes("1s"), .hears(written)),
        ]
    }

    private init(_ family: SimulatedFamily, _ verb: String, _ scene: [Beat]) {
        (self.family, self.verb, self.scene) = (family, verb, scene)
    }
}

/// An image as a peer sends it. The test builds the text itself, without the simulated peer.
struct ImageText {
    let name: String
    let bytes: [UInt8]
    let chunkLength: Int
    let end: String

    init(
        name: String = "image.png", seed: UInt64 = 1, byteCount: Int = SimulatedFamily.imageByteCount,
        chunkLength: Int = 180, end: String
    ) {
        self.name = name
        bytes = PeerPicture(seed: seed, byteCount: byteCount).bytes
        self.chunkLength = chunkLength
        self.end = end
    }

    var begin: String { "IMG_BEGIN \(name) \(bytes.count)" }

    /// The lines of base64, without line ends.
    var chunks: [String] {
        let text = Data(bytes).base64EncodedString()
        return stride(from: 0, to: text.count, by: chunkLength).map { start in
            String(text.dropFirst(start).prefix(chunkLength))
        }
    }

    var text: String {
        ([begin] + chunks + ["IMG_END"]).map { $0 + end }.joined()
    }
}

/// The messages of a phone, as JSON.
enum PhoneText {
    /// A message of the stock that a phone with this seed sends in order, from index 0. A negative index gives a
    /// message outside the stock.
    static func stock(_ index: Int, seed: UInt64 = 1) -> String {
        String(decoding: PhoneStock(seed: seed).message(index).json, as: UTF8.self)
    }

    /// The malformed message that the phone with seed 1 sends before its first stock message if its option `malformed`
    /// is 100: a message from outside the stock, with a duplicate field.
    static var malformed: String { stock(-1).dropLast() + ",\"status\":\"synced\"}" }

    /// The first message that a user writes on the phone, at the phone's start time.
    static func written(_ content: String, category: String) -> String {
        var message = PhoneStock(seed: 1).message(.min)
        (message.content, message.category) = (content, category)
        // The start time of every simulated phone, in seconds since 2001.
        message.timestamp = Date(timeIntervalSinceReferenceDate: 752_263_200)
        return String(decoding: message.json, as: UTF8.self)
    }
}
