import ArgumentParser
import DeviceKit
import LineProtocol
import Transports

struct PeerListenCommand: PeerSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "listen",
        abstract: "Show the messages of a peer.",
        discussion: """
            Sends Hello, and then shows the peer's messages: the first \(PeerText.shownCharacters) characters of each, text that \
            is not UTF-8 in hexadecimal, control characters escaped. Images are checked but not kept. If the peer is \
            unplugged, waits for its return.

            Each line of --json has the keys time and event (greeting, acknowledged, text, bytes, toggle, image_begins, \
            image_ends, image_failed, image_refused, lost, back), and depending on the event host, host_time, text, \
            characters, hex, continued, toggle, file, bytes, error.
            """,
        example: "pumpctl --port ble:QDevice1 peer listen")

    @OptionGroup var shared: SharedOptions

    @Option(help: .end(after: "events"))
    var count: Int?

    @Option(name: .customLong("for"), help: .endOfTime, transform: SecondsArgument.typed)
    var time: SecondsArgument?

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be 1 or more") }
    }

    func run(in context: CommandContext) async throws {
        try await context.run(for: time?.duration, whileRead: true) { try await listen(context) }
    }

    /// Shows the peer's output as it arrives, up to `count` events. If the link is lost, waits for the peer and
    /// continues.
    private func listen(_ context: CommandContext) async throws {
        let (endpoint, output) = (try context.endpoint(), context.output)
        let link = try await context.openLink(endpoint, for: .watching, note: output.note)
        let peer = PeerMonitor(over: link, context.reconnector(endpoint, link, note: output.note))
        try await peer.closing {
            try await peer.forEach(until: count) { element in
                guard let event = PeerEvent(element) else { return false }
                let record = Timed(event)
                switch element {
                case .heard:
                    output.result("\(event)", record)
                    return true
                case .lost(let error): output.note("pumpctl: \(error); waiting for the device to come back")
                case .back: output.note("pumpctl: \(endpoint.text) is back")
                }
                output.record(record)
                return false
            }
        }
    }
}
