import BlueZ
import DeviceKit
import FirmwareSim
import LineProtocol
import PeripheralSim
import Terminal

/// The screen of a hosted peer: sends each typed line, and shows received text above the line that is being typed.
struct PeerHostScreen {
    /// An event to handle.
    enum Event: Sendable {
        /// The peer is offered on a line: at a place in words for people, and at an endpoint.
        case ready(String, port: String)
        case happened(HostedPeer.Event)
        /// Input from the terminal or a pipe.
        case input(LineScreen.Event)
    }

    private let screen: ConsoleScreen
    private var entered = EnteredLines()
    /// Whether the peer was offered, so that the user can type.
    private var hasBegun = false

    private init(_ screen: ConsoleScreen) { self.screen = screen }

    /// Offers `peer` and handles events until the user ends the peer or the task is cancelled.
    ///
    /// - Parameter events: The source of `stream`, which receives the input events too.
    /// - Throws: `CancellationError` if the task is cancelled; the errors of offering `peer`.
    static func attend(
        to stream: AsyncStream<Event>, _ events: AsyncStream<Event>.Continuation, of peer: HostedPeer,
        _ context: CommandContext
    ) async throws {
        let (loop, output) = (context.loop, context.output)
        try await peer.serve {
            let lines = LineScreen(for: "pumpctl", on: loop, write: output.draw) { events.yield(.input($0)) }
            var screen = PeerHostScreen(ConsoleScreen(lines: lines, output: output))
            for await event in stream {
                if await screen.take(event, for: peer) { return await lines.close() }
            }
            await lines.close()
            throw CancellationError()
        }
    }

    /// Handles an event.
    ///
    /// - Returns: Whether the user has ended the peer.
    private mutating func take(_ event: Event, for peer: HostedPeer) async -> Bool {
        switch event {
        case .ready(let text, let port): await begin(text, port: port)
        case .happened(.radio(.offered(let adapter))) where !hasBegun:
            await begin("BLE on \(adapter.name) (\(adapter.address))", port: "ble:\(adapter.address)")
        case .happened(let event): show(event)
        case .input(let event):
            for input in screen.lines.take(event) {
                for line in entered.take(input) { await peer.say(line) }
                // The end of a pipe only ends the input. The end of a terminal's input ends the peer.
                if input == .end, StandardStream.input.isTerminal { return true }
            }
        }
        return false
    }

    /// Shows that the peer is offered, and lets the user type.
    private mutating func begin(_ text: String, port: String) async {
        hasBegun = true
        // A result, and not a note, because programs find the endpoint in this line.
        screen.output.result(text, Timed(["event": "ready", "port": port]))
        await screen.lines.start(prompt: "> ")
        if screen.lines.isEdited {
            screen.note("each line that you type is sent to the subscribed centrals; Ctrl-D ends")
        }
    }

    private func show(_ event: HostedPeer.Event) {
        switch event {
        case .radio(.offered(let adapter)): show("* offered again on \(adapter.name) (\(adapter.address))", event)
        case .radio(.interrupted(let error)):
            show("* \("\(error)".printable()); the peer is offered again when the problem is solved", event)
        case .radio(.connected(let central)): show("* \(central) is connected", event)
        case .radio(.disconnected(let central)): show("* \(central) has disconnected", event)
        case .radio(.subscribed), .radio(.unsubscribed), .line: break
        case .peer(.listenerCame): show("* a central has subscribed", event)
        case .peer(.listenerLeft): show("* no central is subscribed any more", event)
        case .peer(.askedForImage): show("* a central requests the image", event)
        case .peer(.waits): show("* no central is subscribed; typed lines are queued", event)
        case .peer(.notSaid(let line)):
            screen.note("not sent: \(line.printable()) (a central would take it for image data)")
        case .peer(.divided(let count)): screen.note("the line is too long for one message: sent as \(count) messages")
        case .peer(.greeted(let bytes)):
            if let greeting = PeerGreeting(bytes) { show(.greeting(greeting)) } else { show("Hello", event) }
        case .peer(.toggled(let isOn)): show(.toggle(isOn))
        case .peer(.told(let bytes)): show(.text(PeerText(bytes)))
        }
    }

    private func show(_ piece: PeerPiece) {
        if let event = PeerEvent(piece) { screen.show("\(event)", Timed(event)) }
    }

    private func show(_ text: String, _ event: HostedPeer.Event) { screen.show(text, Timed(event.values)) }
}
