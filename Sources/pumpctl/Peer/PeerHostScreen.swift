import BlueZ
import DescriptorIO
import FirmwareSim
import Glibc
import LineProtocol

/// Where people host a peer: what they type is said, and what arrives is shown above the line that they type.
final class PeerHostScreen {
    private let context: CommandContext
    private let events: AsyncStream<PeerHostEvent>.Continuation
    private let screen: ConsoleScreen
    private var script = PipedLines()
    private var reading: Task<Void, Never>?
    private var hasListener = false
    private var hasSaidThatItWaits = false
    private var isFinished = false

    init(_ context: CommandContext, _ events: AsyncStream<PeerHostEvent>.Continuation) {
        self.context = context
        self.events = events
        screen = ConsoleScreen(context.output, showsTime: false)
    }

    /// Attends to `stream` until the user has ended it, or the task is cancelled.
    ///
    /// - Parameter say: Has the peer say something.
    func attend(to stream: AsyncStream<PeerHostEvent>, say: ([UInt8]) async -> Void) async throws {
        defer {
            screen.editor?.stop()
            reading?.cancel()
        }
        for await event in stream {
            for line in take(event) { await self.say(line, say) }
            if isFinished { return }
        }
        throw CancellationError()
    }

    // MARK: What is typed

    /// Attends to an event. Returns the lines that are to be said.
    private func take(_ event: PeerHostEvent) -> [[UInt8]] {
        switch event {
        case .ready(let text, let port): begin(text, port: port)
        case .radio(let event): show(event)
        case .peer(let event): show(event)
        case .typed(let bytes): return take(typed: bytes)
        case .inputEnded: return endInput()
        case .resized: screen.editor?.resize()
        }
        return []
    }

    /// It is offered: people can type.
    private func begin(_ text: String, port: String) {
        // Programs look for the line that says where it is.
        context.output.result(text, PeerHostRecord("ready", port: port))
        guard reading == nil else { return }
        if let editor = screen.editor {
            editor.setPrompt("> ")
            editor.start()
            screen.note("each line that you type is sent to who is subscribed; Ctrl-D ends")
        }
        readInput()
    }

    private func readInput() {
        reading = Task(executorPreference: context.loop) { [events, loop = context.loop] in
            do {
                let bytes = try await StandardInput.read(on: loop)
                events.yield(bytes.map { .typed($0) } ?? .inputEnded)
            } catch {
                // Cancelled: nobody attends any more.
            }
        }
    }

    private func take(typed bytes: [UInt8]) -> [[UInt8]] {
        defer { if !isFinished { readInput() } }
        guard let editor = screen.editor else { return script.append(bytes) }
        var lines: [[UInt8]] = []
        for result in editor.take(bytes, at: context.clock.now) {
            switch result {
            case .line(let line):
                if !line.isEmpty { editor.remember(line) }
                lines.append(RawByte.bytes(of: line))
            case .interrupt:
                // As anywhere else: the program is interrupted, once the terminal is as it was.
                editor.stop()
                kill(getpid(), SIGINT)
            case .end: isFinished = true
            case .suspend: editor.suspend()
            }
        }
        return lines
    }

    /// A pipe that has ended has said all that it will; a person has ended it.
    private func endInput() -> [[UInt8]] {
        if isatty(STDIN_FILENO) == 1 { isFinished = true }
        return script.end().map { [$0] } ?? []
    }

    private func say(_ line: [UInt8], _ say: ([UInt8]) async -> Void) async {
        guard !line.isEmpty else { return }
        guard !line.starts(with: "IMG_".utf8) else {
            return screen.note("not sent: \(line.printable()): a central takes it for part of an image")
        }
        await say(line)
        guard !hasListener, !hasSaidThatItWaits else { return }
        hasSaidThatItWaits = true
        screen.show("* nobody is subscribed: what you type waits", PeerHostRecord("waiting"))
    }

    // MARK: What comes about

    private func show(_ event: PeripheralEvent) {
        switch event {
        case .offered(let adapter):
            let place = "on \(adapter.name) (\(adapter.address))"
            if reading == nil { return begin("BLE \(place)", port: "ble:\(adapter.address)") }
            screen.show("* offered again \(place)", PeerHostRecord("ready", port: "ble:\(adapter.address)"))
        case .interrupted(let error):
            screen.show(
                "* \("\(error)".printable()); centrals find it again once that is mended",
                PeerHostRecord("interrupted", error: error.code.rawValue))
        case .connected(let central):
            screen.show("* \(central) is connected", PeerHostRecord("connected", central: "\(central)"))
        case .disconnected(let central):
            screen.show("* \(central) has left", PeerHostRecord("disconnected", central: "\(central)"))
        case .subscribed, .unsubscribed: break
        }
    }

    private func show(_ event: PeerFirmwareEvent) {
        switch event {
        case .listenerCame:
            (hasListener, hasSaidThatItWaits) = (true, false)
            screen.show("* somebody is subscribed", PeerHostRecord("subscribed"))
        case .listenerLeft:
            hasListener = false
            screen.show("* nobody is subscribed any more", PeerHostRecord("unsubscribed"))
        case .askedForImage: screen.show("* the image is asked for", PeerHostRecord("image_asked"))
        case .greeted(let bytes):
            if let greeting = PeerGreeting(bytes), let event = PeerEvent(.greeting(greeting)) {
                screen.show(event.phrase, event)
            } else {
                screen.show("Hello", PeerHostRecord("hello"))
            }
        case .divided(let count): screen.note("too long for one message: sent as \(count)")
        case .toggled(let isOn): show(.toggle(isOn))
        case .told(let bytes): show(.text(PeerText(bytes)))
        }
    }

    private func show(_ piece: PeerPiece) {
        if let event = PeerEvent(piece) { screen.show(event.phrase, event) }
    }
}

/// Lines that come through a pipe, byte for byte.
struct PipedLines {
    private var text: [UInt8] = []

    /// The lines that `bytes` complete, without their ends.
    mutating func append(_ bytes: [UInt8]) -> [[UInt8]] {
        text += bytes
        var lines: [[UInt8]] = []
        var rest = text[...]
        while let end = rest.firstIndex(of: 0x0A) {
            lines.append(Self.withoutReturn(rest[..<end]))
            rest = rest[(end + 1)...]
        }
        text = Array(rest)
        return lines
    }

    /// Nothing more comes: what there is of a last line.
    mutating func end() -> [UInt8]? {
        defer { text = [] }
        return text.isEmpty ? nil : Self.withoutReturn(text[...])
    }

    private static func withoutReturn(_ line: ArraySlice<UInt8>) -> [UInt8] {
        Array(line.last == 0x0D ? line.dropLast() : line)
    }
}

/// What becomes of a hosted peer, as programs are told of it.
private struct PeerHostRecord: Encodable {
    var time = WallTime.now.iso8601
    var event: String
    var port: String?
    var central: String?
    var error: String?

    init(_ event: String, port: String? = nil, central: String? = nil, error: String? = nil) {
        self.event = event
        self.port = port
        self.central = central
        self.error = error
    }
}
