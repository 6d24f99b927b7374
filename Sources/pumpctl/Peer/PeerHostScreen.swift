import BlueZ
import DescriptorIO
import DeviceKit
import FirmwareSim
import LineProtocol
import Terminal

/// Where people host a peer: what they type is said, and what arrives is shown above the line that they type.
final class PeerHostScreen {
    private let context: CommandContext
    private let screen: ConsoleScreen
    private var script = PipedLines()
    private var hasBegun = false
    private var isFinished = false

    init(_ context: CommandContext, _ events: AsyncStream<PeerHostEvent>.Continuation) {
        self.context = context
        let lines = LineScreen(for: "pumpctl", on: context.loop, write: context.output.draw) {
            events.yield(.input($0))
        }
        screen = ConsoleScreen(lines: lines, output: context.output)
    }

    /// Attends to `stream` until the user has ended it, or the task is cancelled.
    ///
    /// - Parameter say: Has the peer say something.
    func attend(to stream: AsyncStream<PeerHostEvent>, say: ([UInt8]) async -> Void) async throws {
        defer { screen.lines.stop() }
        for await event in stream {
            switch event {
            case .ready(let text, let port): await begin(text, port: port)
            case .radio(let event): await show(event)
            case .peer(let event): show(event)
            case .input(let event): for line in screen.lines.take(event).flatMap(lines) { await say(line) }
            }
            if isFinished { return await screen.lines.close() }
        }
        await screen.lines.close()
        throw CancellationError()
    }

    // MARK: What is typed

    /// It is offered: people can type.
    private func begin(_ text: String, port: String) async {
        // Programs look for the line that says where it is.
        context.output.result(text, Timed(PeerHostRecord(event: "ready", port: port)))
        guard !hasBegun else { return }
        hasBegun = true
        await screen.lines.start(prompt: "> ")
        if screen.lines.isEdited { screen.note("each line that you type is sent to who is subscribed; Ctrl-D ends") }
    }

    /// The lines of what was entered. A pipe that has ended has said all that it will; a person has ended it.
    private func lines(_ input: LineScreen.Input) -> [[UInt8]] {
        switch input {
        case .line(let line): return [line]
        case .bytes(let bytes): return script.append(bytes)
        case .end:
            if StandardStream.input.isTerminal { isFinished = true }
            return script.end()
        }
    }

    // MARK: What comes about

    private func show(_ text: String, _ record: PeerHostRecord) { screen.show(text, Timed(record)) }

    private func show(_ event: PeripheralEvent) async {
        switch event {
        case .offered(let adapter):
            let (place, port) = ("on \(adapter.name) (\(adapter.address))", "ble:\(adapter.address)")
            if !hasBegun { return await begin("BLE \(place)", port: port) }
            show("* offered again \(place)", PeerHostRecord(event: "ready", port: port))
        case .interrupted(let error):
            show(
                "* \("\(error)".printable()); centrals find it again once that is mended",
                PeerHostRecord(event: "interrupted", error: error.code.rawValue))
        case .connected(let central):
            show("* \(central) is connected", PeerHostRecord(event: "connected", central: "\(central)"))
        case .disconnected(let central):
            show("* \(central) has left", PeerHostRecord(event: "disconnected", central: "\(central)"))
        case .subscribed, .unsubscribed: break
        }
    }

    private func show(_ event: PeerFirmwareEvent) {
        switch event {
        case .listenerCame: show("* somebody is subscribed", PeerHostRecord(event: "subscribed"))
        case .listenerLeft: show("* nobody is subscribed any more", PeerHostRecord(event: "unsubscribed"))
        case .askedForImage: show("* the image is asked for", PeerHostRecord(event: "image_asked"))
        case .greeted(let bytes):
            guard let greeting = PeerGreeting(bytes) else { return show("Hello", PeerHostRecord(event: "hello")) }
            show(.greeting(greeting))
        case .waits: show("* nobody is subscribed: what you type waits", PeerHostRecord(event: "waiting"))
        case .notSaid(let line):
            screen.note("not sent: \(line.printable()): a central takes it for part of an image")
        case .divided(let count): screen.note("too long for one message: sent as \(count)")
        case .toggled(let isOn): show(.toggle(isOn))
        case .told(let bytes): show(.text(PeerText(bytes)))
        }
    }

    private func show(_ piece: PeerPiece) {
        if let event = PeerEvent(piece) { screen.show("\(event)", Timed(event)) }
    }
}

/// Lines that come through a pipe, byte for byte.
private struct PipedLines {
    private var text: [UInt8] = []

    /// The lines that `bytes` complete, without their ends.
    mutating func append(_ bytes: [UInt8]) -> [[UInt8]] {
        var lines = (text + bytes).split(separator: 0x0A, omittingEmptySubsequences: false)
        text = Array(lines.removeLast())
        return lines.map { Array($0.last == 0x0D ? $0.dropLast() : $0) }
    }

    /// Nothing more comes: what there is of a last line.
    mutating func end() -> [[UInt8]] { text.isEmpty ? [] : append([0x0A]) }
}

/// What becomes of a hosted peer, as programs are told of it.
private struct PeerHostRecord: Encodable {
    var event: String
    var port: String?
    var central: String?
    var error: String?
}
