import PeripheralSim
import StrictJSON
import Testing

@testable import FirmwareSim

@Suite("Family faults seen by a client", .timeLimit(.minutes(5)))
struct OwnFaultsOverCarriersTests {
    @Test(
        "A client sees each image fault", arguments: PeerFirmwareOptions.ImageFault.allCases, Carrier.allCases)
    func image(fault: PeerFirmwareOptions.ImageFault, carrier: Carrier) async throws {
        let given = ["fault": fault.rawValue, "size": "\(SimulatedFamily.imageByteCount)", "chunk": "50"]
        let settings = try Simulator.peer.settings(given, over: carrier == .terminal ? .line : .radio)
        var options = try PeerFirmwareOptions(settings: settings)
        options.startTime = 0
        let (end, enter) = (carrier.end, carrier.enter)
        let image = ImageText(chunkLength: 50, end: end)
        let scene: [Beat] = [
            .passes("100ms"), .hears("HELLO from QDevice1 @ 1970-01-01T00:00:00Z\(end)"),
            .says("GET\(enter)"), .passes(fault == .tooLarge ? "12ms" : "100ms"), Self.beat(fault, of: image),
            // Nothing more follows: the next input is the reply to Hello. Only an image that is too large would
            // continue, and the reset cuts it off.
            .does("reset"), .does("set", "acks", "on"), .says("Hello\(enter)"), .passes("100ms"),
            .hears("Hello ack\(end)"),
        ]
        switch carrier {
        case .terminal:
            try await CarriedDevice.onTerminal(FaultyDevice(PeerFirmware(options: options))) {
                try await $0.play(scene)
            }
        case .radio:
            try await CarriedDevice.onRadio(FaultyDevice(PeerPeripheral(options)), SimulatedFamily.peer.profile) {
                try await $0.play(scene)
            }
        }
    }

    /// The client's input for an image of four lines of base64, whose middle is in the second line.
    private static func beat(_ fault: PeerFirmwareOptions.ImageFault, of image: ImageText) -> Beat {
        let (begin, chunks, end) = (image.begin, image.chunks, "IMG_END")
        let heard: [String] =
            switch fault {
            case .noFileSelected: ["IMG_ERROR no_file_selected"]
            case .notPNG: ["IMG_ERROR not_png"]
            case .readFailed: [begin, chunks[0], "IMG_ERROR read_failed"]
            case .beginBadFormat: ["IMG_BEGIN image.png"] + chunks + [end]
            case .tooLarge: ["IMG_BEGIN image.png 5250001"]
            case .base64Invalid: [begin, chunks[0], Self.padded(chunks)] + chunks[2...] + [end]
            case .sizeMismatch: [begin, chunks[0]] + chunks[2...] + [end]
            case .stalls: [begin, chunks[0]]
            }
        let text = heard.map { $0 + image.end }.joined()
        return fault == .tooLarge ? .hearsFirst(text) : .hears(text)
    }

    /// The line with the middle of the base64 text, in which padding replaces the character there.
    private static func padded(_ chunks: [String]) -> String {
        let middle = chunks.joined().count / 8 * 4 - chunks[0].count
        return chunks[1].prefix(middle) + "=" + chunks[1].dropFirst(middle + 1)
    }

    @Test(
        "A client gets each kind of malformed input before a phone's messages", arguments: PhoneFault.allCases,
        Carrier.allCases)
    func malformed(fault: PhoneFault, carrier: Carrier) async throws {
        let given = ["messages": "50", "interval": "0", "malformed": "100"]
        let settings = try Simulator.rescue.settings(given, over: carrier == .terminal ? .line : .radio)
        let options = RescueFirmwareOptions(settings: settings)
        let scene: [Beat] = [
            .passes("10s"), .hearsOneOf(Self.marks(of: fault)),
            // The phone has sent all of its messages, and now hands on a new one.
            .sees("sent", 50), .says(PhoneText.stock(0, seed: 9)), .passes("1s"), .hears(PhoneText.stock(0, seed: 9)),
        ]
        switch carrier {
        case .terminal:
            try await CarriedDevice.onTerminal(FaultyDevice(RescueFirmware(options: options))) {
                try await $0.play(scene)
            }
        case .radio:
            try await CarriedDevice.onRadio(FaultyDevice(RescuePeripheral(options)), SimulatedFamily.rescue.profile) {
                try await $0.play(scene)
            }
        }
    }

    /// Byte sequences of which each proves this fault, and no other.
    private static func marks(of fault: PhoneFault) -> [[UInt8]] {
        let text: String
        switch fault {
        case .cutOff:
            // Half of a message that is not in the stock, then the next message of the stock.
            return (0..<50).map { index in
                let damaged = PhoneStock(seed: 1).message(-1 - index).json
                return damaged.prefix(damaged.count / 2) + PhoneStock(seed: 1).message(index).json
            }
        case .noNumber: text = ",\"latitude\":NaN}"
        case .numberTooLarge: text = ",\"altitude\":1e999,\"longitude\":1e999}"
        case .elsewhere: text = "\"latitude\":125.9"
        case .loneSurrogate: text = ",\"note\":1,\"content\":\"\\ud800\"}"
        case .fieldTwice: text = ",\"status\":\"synced\"}"
        case .deepNesting:
            text = "{\"id\":" + String(repeating: "[", count: 1000) + String(repeating: "]", count: 1000) + "}"
        case .badID: text = "{\"id\":\"not-a-uuid\","
        case .noise: return [[0x00, 0xFF, 0x5D, 0x22, 0x7D, 0x1B, 0x5B, 0x32, 0x4A]]
        case .byteOrderMark: return [[0xEF, 0xBB, 0xBF] + Array("{\"category".utf8)]
        }
        return [Array(text.utf8)]
    }
}
