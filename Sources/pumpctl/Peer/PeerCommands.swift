import ArgumentParser
import DeviceKit
import LineProtocol

struct PeerCommandGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "peer", abstract: "Talk to a text and image peer, or act as one.",
        subcommands: [
            SayCommand.self, ToggleCommand.self, ImageCommand.self, PeerListenCommand.self, PeerHostCommand.self,
        ])
}

/// A command for a peer.
protocol PeerSubcommand: ContextCommand {}

extension PeerSubcommand {
    static var family: Family? { .peer }
}

struct SayCommand: PeerSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "say", abstract: "Send a message to a peer.",
        discussion: """
            Sends Hello and then the message. An acknowledgement is reported, but most peers send none. A peer shows \
            the first \(PeerText.shownCharacters) characters of a message.
            """,
        example: "pumpctl --port ble:QDevice1 peer say 'Lunch is ready'")

    @OptionGroup var shared: SharedOptions

    @Argument(help: "The message: one line.")
    var text: String

    func validate() throws {
        do throws(PeerMessage.Flaw) { _ = try PeerMessage(text) } catch { throw ValidationError(hint(error)) }
    }

    private func hint(_ flaw: PeerMessage.Flaw) -> String {
        switch flaw {
        case .empty: "the message must not be empty"
        case .severalLines: "the message must be one line: send each line separately"
        case .isCommand: "'\(text)' is a command of the peer protocol; use: pumpctl peer toggle, pumpctl peer image get"
        }
    }

    func run(in context: CommandContext) async throws {
        let message = try PeerMessage(text)
        let (count, shown) = (message.text.count, message.shownCharacterCount)
        try await context.tell(
            .message(message), "sent", ["characters": .integer(count), "shown_characters": .integer(shown)],
            remark: shown < count ? "the message has \(count) characters; the peer shows the first \(shown)" : nil)
    }
}

struct ToggleCommand: PeerSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "toggle", abstract: "Switch the output of a peer.",
        discussion: """
            An acknowledgement is reported, but most peers send none. A peer does not report whether its output is on.
            """,
        example: "pumpctl --port ble:QDevice1 peer toggle on")

    enum Position: String, ExpressibleByArgument, CaseIterable { case on, off }

    @OptionGroup var shared: SharedOptions

    @Argument(help: "The new state of the output.")
    var position: Position

    func run(in context: CommandContext) async throws {
        try await context.tell(.toggle(position == .on), "toggle \(position)", ["toggle": .text(position.rawValue)])
    }
}

extension CommandContext {
    /// Sends `command` to a peer, and prints that it was sent and whether the peer acknowledged it.
    ///
    /// - Parameters:
    ///   - text: The result to print.
    ///   - values: Further members of the record.
    ///   - remark: A note to print after the command was sent; nil for none.
    fileprivate func tell(
        _ command: PeerCommand, _ text: String, _ values: [String: StateValue], remark: String? = nil
    ) async throws {
        let link = try await openLink()
        let delivery: PeerDelivery
        do throws(SessionError) {
            delivery = try await PeerDelivery.say(command, over: link, clock: clock, timeout: timeout)
        } catch {
            // Over BLE, the link refuses a message that does not fit into one write.
            guard let refusal = error.link, refusal.code == .unsupported else { throw error }
            var failure = Failure(refusal)
            (failure.code, failure.outcome) = ("too_long", "not_sent")
            throw failure
        }
        // Over BLE, the peer's service has proved that the peer is there, so a silent peer needs no note.
        if !link.keepsPacketBounds, !delivery.hasHeard {
            output.note(
                "pumpctl: \(link.name) has sent nothing; a peer need not answer",
                hint: "add -v to see what is sent and received")
        }
        if let remark { output.note("pumpctl: \(remark)") }
        output.outcome(
            text + (delivery.isAcknowledged ? ", acknowledged" : ""),
            values.merging(["ok": .boolean(true), "acknowledged": .boolean(delivery.isAcknowledged)]) { $1 })
    }
}
