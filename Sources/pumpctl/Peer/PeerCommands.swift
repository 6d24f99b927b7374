import ArgumentParser
import DeviceKit
import LineProtocol

struct PeerCommandGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "peer", abstract: "Talk to a text and image peer, or be one.",
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
            Says Hello, and then the message. Most peers acknowledge nothing; where one does, that is reported. A peer shows \
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
        case .severalLines: "a message must be one line: send each line separately"
        case .isCommand: "a peer takes '\(text)' for a command: see 'pumpctl peer toggle' and 'pumpctl peer image get'"
        }
    }

    func run(in context: CommandContext) async throws {
        let message = try PeerMessage(text)
        let (count, shown) = (message.text.count, message.shownCharacterCount)
        try await context.tell(
            .message(message), "said", ["characters": .integer(count), "shown_characters": .integer(shown)],
            remark: shown < count ? "the message has \(count) characters; the peer shows the first \(shown)" : nil)
    }
}

struct ToggleCommand: PeerSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "toggle", abstract: "Switch the output of a peer.",
        discussion: """
            Most peers acknowledge nothing; where one does, that is reported. A peer does not tell whether it is on.
            """,
        example: "pumpctl --port ble:QDevice1 peer toggle on")

    enum Position: String, ExpressibleByArgument, CaseIterable { case on, off }

    @OptionGroup var shared: SharedOptions

    @Argument(help: "On, or off.")
    var position: Position

    func run(in context: CommandContext) async throws {
        try await context.tell(.toggle(position == .on), "toggle \(position)", ["toggle": .text(position.rawValue)])
    }
}

extension CommandContext {
    /// Sends `command` to a peer, and prints that it was sent and whether the peer acknowledged it.
    ///
    /// - Parameters:
    ///   - values: Further members of the record.
    ///   - remark: A note to print when the command was sent.
    fileprivate func tell(
        _ command: PeerCommand, _ text: String, _ values: [String: StateValue], remark: String? = nil
    ) async throws {
        let link = try await openLink()
        let delivery: PeerDelivery
        do throws(SessionError) {
            delivery = try await PeerDelivery.say(command, over: link, clock: clock, timeout: timeout)
        } catch {
            guard let refusal = error.link, refusal.code == .unsupported else { throw error }
            var failure = Failure(refusal)
            (failure.code, failure.outcome) = ("too_long", "not_sent")
            throw failure
        }
        // Over BLE, the peer's service proves that the peer is there.
        if !link.keepsPacketBounds, !delivery.hasHeard {
            output.note(
                "pumpctl: nothing was heard from \(link.name); a peer need not answer",
                hint: "add -v to see what is sent and received")
        }
        if let remark { output.note("pumpctl: \(remark)") }
        output.outcome(
            text + (delivery.isAcknowledged ? ", acknowledged" : ""),
            values.merging(["ok": .boolean(true), "acknowledged": .boolean(delivery.isAcknowledged)]) { $1 })
    }
}
