import DeviceKit
import FirmwareSim
import LineProtocol
import Synchronization
import TestSupport

/// A host that sends a message to a peer, switches it, fetches its image, and then listens to it.
enum PeerFaultScript: FaultScript {
    struct Truth: Sendable {
        var isOn: Bool
        /// The messages that the peer has received.
        var messages: [[UInt8]]
        /// The image that the peer sends.
        var image: [UInt8]
        /// The peer's output before any fault.
        var said: [String]
    }

    typealias Bench = FaultBench<Truth>

    static let family = "peer"
    static let steps = ["say", "toggle", "image", "listen"]
    private static let word = "Good morning, you"

    static func run(_ bench: Bench) async -> [Outcome] {
        [
            await say(bench, word) { $0.messages.contains(Array(word.utf8)) },
            await say(bench, "ON") { $0.isOn }, await fetch(bench), await listen(bench),
        ]
    }

    // MARK: Saying

    /// Sends a message or `ON`. `isSo` is whether the peer has received it.
    private static func say(_ bench: Bench, _ text: String, isSo: (Truth) -> Bool) async -> Outcome {
        let start = bench.tape.end
        let delivery: PeerDelivery
        do {
            let command: PeerCommand = text == "ON" ? .toggle(true) : .message(try PeerMessage(text))
            delivery = try await PeerDelivery.say(command, over: bench.link(), clock: bench.clock)
        } catch let error as SessionError where error.outcome == .notSent {
            guard bench.tape.sendings(of: text, from: start).isEmpty else {
                return .failed("\(text) is called not sent, and was")
            }
            return .reported
        } catch {
            return .reported
        }
        let sendings = bench.tape.sendings(of: text, from: start)
        guard let first = sendings.first else { return .failed("\(text) is called said, and was not sent") }
        let isSo = isSo(await bench.truth())
        // Without an acknowledgement the host reports nothing about the delivery.
        guard delivery.isAcknowledged else { return isSo ? .done : .reported }
        let messages = PeerOracle.messages(bench, from: first)
        guard messages.contains("Hello ack") else {
            return .failed("\(text) is called acknowledged, and what came is \(messages)")
        }
        return isSo ? .right(asked: sendings.count) : .undetectable
    }

    // MARK: The image

    private static func fetch(_ bench: Bench) async -> Outcome {
        let start = bench.tape.end
        let folder = TemporaryFolder()
        do {
            let file = try ReplacedFile(path: folder.path("image"))
            let report = try await ImageDownload(over: bench.link(), to: file, clock: bench.clock).run()
            return judge(bench, folder.read("image"), report, from: start, await bench.truth().image)
        } catch {
            return .reported
        }
    }

    private static func judge(
        _ bench: Bench, _ bytes: [UInt8], _ report: ImageDownload.Report, from start: Int, _ image: [UInt8]
    ) -> Outcome {
        let sendings = bench.tape.sendings(of: "GET", from: start)
        guard let asked = sendings.first else { return .failed("an image is shown that was not asked for") }
        let images = PeerOracle.images(in: PeerOracle.messages(bench, from: asked))
        guard images.contains(where: { $0.bytes == bytes && $0.name == report.image?.name }) else {
            return .failed("an image of \(bytes.count) bytes is shown that did not come")
        }
        let isRight = bytes == image && report.image?.name == "image.png"
        return isRight ? .right(asked: sendings.count) : .undetectable
    }

    // MARK: Listening

    private final class Heard: Sendable {
        struct State {
            var pieces: [PeerPiece] = []
            var hasLoss = false
        }
        let state = Mutex(State())
    }

    private static func listen(_ bench: Bench) async -> Outcome {
        let start = bench.tape.end
        let saidBefore = await bench.truth().said.count
        do {
            let link = try await bench.link()
            let monitor = PeerMonitor(over: link, bench.reconnector(link))
            let heard = Heard()
            let reading = Task(executorPreference: bench.executor) {
                for try await element in monitor {
                    heard.state.withLock { state in
                        switch element {
                        case .heard(let piece): state.pieces.append(piece)
                        case .lost: state.hasLoss = true
                        case .back: break
                        }
                    }
                }
            }
            // Two messages or three: the peer sends one every 3 s.
            await bench.pass(.milliseconds(8500))
            let said = await bench.truth().said.dropFirst(saidBefore)
            // Output sent by now may arrive up to 5 s late, with the fault `delay=5s`.
            await bench.pass(.seconds(6))
            await monitor.close()
            _ = await reading.result
            let (pieces, hasLoss) = heard.state.withLock { ($0.pieces, $0.hasLoss) }
            let shown = pieces.compactMap(\.message)
            return judge(bench, shown, hasLoss, from: start, said: said.filter(isForPeople))
        } catch {
            return .reported
        }
    }

    /// - Parameters:
    ///   - shown: The messages that the host shows.
    ///   - hasLoss: Whether the host shows that its link was lost.
    ///   - said: The peer's output that must have arrived.
    private static func judge(
        _ bench: Bench, _ shown: [String], _ hasLoss: Bool, from start: Int, said: [String]
    ) -> Outcome {
        let shown = shown.filter(isForPeople)
        let delivered = PeerOracle.messages(bench, from: start).filter(isForPeople)
        guard shown == delivered else { return .failed("\(shown) is shown, and what came is \(delivered)") }
        // The host may also show output from before `said`, which came late, and output from after `said`.
        let begin = shown.firstIndex { $0 == said.first } ?? shown.endIndex
        if shown[begin...].starts(with: said) { return hasLoss ? .recovered : .done }
        return hasLoss && shown.allSatisfy(said.contains) ? .reported : .undetectable
    }

    /// Whether a message is for people, and not a part of an image.
    private static func isForPeople(_ message: String) -> Bool { message.contains(" ") && !message.hasPrefix("IMG_") }
}

extension PeerPiece {
    /// The message's text; nil for a part of an image or of a truncated message.
    fileprivate var message: String? {
        switch self {
        case .greeting(let greeting): "HELLO from \(greeting.host) @ \(greeting.time)"
        case .acknowledgement: "Hello ack"
        case .toggle(let isOn): isOn ? "ON" : "OFF"
        case .text(let text): text.isCut ? nil : String(decoding: text.bytes, as: UTF8.self)
        case .imageRefused(let reason): "IMG_ERROR \(reason)"
        case .imageBegins, .imageData, .imageEnds, .imageFailed, .leftOut: nil
        }
    }
}
