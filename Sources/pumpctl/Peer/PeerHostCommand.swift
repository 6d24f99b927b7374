import ArgumentParser
import DescriptorIO
import DeviceKit
import FirmwareSim
import Glibc
import PeripheralSim

struct PeerHostCommand: PeerSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "host",
        abstract: "Act as a peer: send typed lines to subscribers, and show received messages.",
        discussion: """
            Centrals find this computer over BLE; with --pty, --link or --tcp, it is a peer on a line instead. Each typed line \
            is sent as a message, or as a toggle if it is ON or OFF. Lines are queued while no central is subscribed, and \
            while an image is sent. Without --image, a request for the image is refused.

            Ctrl-C ends the peer, and so does Ctrl-D on a terminal. The end of piped input does not. Each line of \
            --json has the keys time and event (ready, interrupted, connected, disconnected, subscribed, unsubscribed, \
            greeting, hello, text, bytes, toggle, image_asked, waiting), and depending on the event port, central, host, \
            host_time, text, characters, hex, toggle, error.
            """,
        example: "pumpctl peer host --image photo.png")

    @OptionGroup var own: JSONOption
    var shared: SharedOptions { own.shared }

    @Option(help: ArgumentHelp("The PNG file to send on request.", valueName: "file"))
    var image: String?

    @Option(help: ArgumentHelp("The name of the peer (default: QDevice1).", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("The Bluetooth adapter, by its name or address.", valueName: "hci1"))
    var adapter: String?

    @Flag(name: .customLong("pty"), help: "Offer the peer on a pseudo-terminal instead.")
    var usesPseudoTerminal = false

    @Option(help: ArgumentHelp("Offer the peer on a pseudo-terminal, with this symbolic link.", valueName: "path"))
    var link: String?

    @Option(help: ArgumentHelp("Offer the peer on a TCP port of this machine; 0 picks a free one.", valueName: "port"))
    var tcp: UInt16?

    @Flag(help: "Answer Hello with 'Hello ack', unlike the published peer.")
    var acks = false

    @Option(name: .customLong("for"), help: .endOfTime, transform: SecondsArgument.typed)
    var time: SecondsArgument?

    /// Whether the peer is offered over BLE.
    private var isOnAir: Bool { !usesPseudoTerminal && link == nil && tcp == nil }

    func validate() throws {
        if tcp != nil, usesPseudoTerminal || link != nil {
            throw ValidationError("--tcp cannot be combined with --pty and --link")
        }
        if !isOnAir, adapter != nil {
            throw ValidationError("--adapter cannot be combined with --pty, --link and --tcp")
        }
    }

    func run(in context: CommandContext) async throws {
        var options = PeerFirmwareOptions(
            carrier: .line(.unlimited), name: name ?? "QDevice1", startTime: Glibc.time(nil),
            imageFault: image == nil ? .noFileSelected : nil, acknowledges: acks)
        if let image { options.send(try PeerImageFile(path: image)) }
        try await context.run(for: time?.duration) { [options] in try await offer(options, context) }
    }

    /// Offers a peer until the user ends it or the task is cancelled.
    ///
    /// Input and events come in one stream, and are handled in order.
    private func offer(_ options: PeerFirmwareOptions, _ context: CommandContext) async throws {
        let (stream, events) = AsyncStream.makeStream(of: PeerHostScreen.Event.self)
        if isOnAir {
            let peer = HostedPeer(options, at: .radio(adapter: adapter), on: context.loop) {
                events.yield(.happened($0))
            }
            return try await PeerHostScreen.attend(to: stream, events, of: peer, context)
        }
        let place: ServingPlace =
            tcp.map { .socket(.tcp(host: "127.0.0.1", port: $0)) } ?? .terminal(link: link)
        try await place.serve(context.output) { tell in
            let peer = HostedPeer(options, at: .line(place), on: context.loop) { event in
                if case .line(let event) = event { tell(event) } else { events.yield(.happened(event)) }
            }
            try await PeerHostScreen.attend(to: stream, events, of: peer, context)
        } onReady: {
            events.yield(.ready($0, port: $1))
        }
    }
}
