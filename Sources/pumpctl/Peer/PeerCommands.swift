import ArgumentParser
import DeviceKit
import LineProtocol

struct SayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "say", abstract: "Send a message to a peer.",
        discussion: """
            Says Hello, and then the message. Most peers acknowledge nothing; where one does, that is reported. A peer shows \
            the first \(PeerText.shownCharacters) characters of a message.
            """,
        example: "pumpctl --port ble:QDevice1 peer say 'Lunch is ready'")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var shared: SharedOptions

    @Argument(help: "The message: one line.")
    var text: String

    func validate() throws {
        do throws(PeerMessage.Flaw) { _ = try PeerMessage(text) } catch { throw ValidationError(hint(error)) }
    }

    private func hint(_ flaw: PeerMessage.Flaw) -> String {
        switch flaw {
        case .empty: "a message is not empty"
        case .severalLines: "a message is one line: send each line by itself"
        case .isCommand: "a peer takes '\(text)' for a command: see 'pumpctl peer toggle' and 'pumpctl peer image get'"
        }
    }

    func run() throws {
        let message = try PeerMessage(text)
        try CommandRunner.run(shared.merged(with: parent.shared), for: .peer) { context in
            let isAcknowledged = try await context.tellPeer(.message(message))
            let (count, shown) = (message.text.count, message.shownCharacterCount)
            if shown < count {
                context.output.note("pumpctl: the message has \(count) characters; the peer shows the first \(shown)")
            }
            context.output.outcome(
                "said" + (isAcknowledged ? ", acknowledged" : ""),
                SaidRecord(acknowledged: isAcknowledged, characters: count, shownCharacters: shown))
        }
    }
}

struct ToggleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "toggle", abstract: "Switch what a peer switches.",
        discussion: """
            Most peers acknowledge nothing; where one does, that is reported. A peer does not tell whether it is on.
            """,
        example: "pumpctl --port ble:QDevice1 peer toggle on")

    enum Position: String, ExpressibleByArgument, CaseIterable { case on, off }

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var shared: SharedOptions

    @Argument(help: "On, or off.")
    var position: Position

    func run() throws {
        let position = position
        try CommandRunner.run(shared.merged(with: parent.shared), for: .peer) { context in
            let isAcknowledged = try await context.tellPeer(.toggle(position == .on))
            context.output.outcome(
                "toggle \(position)" + (isAcknowledged ? ", acknowledged" : ""),
                ToggledRecord(toggle: position.rawValue, acknowledged: isAcknowledged))
        }
    }
}

struct ImageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "image", abstract: "Fetch the image of a peer.", subcommands: [ImageGetCommand.self])
}

struct ImageGetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Fetch the image that was chosen at the peer.",
        discussion: """
            It is written to FILE.partial, which becomes FILE once all of it is there and of the size that was announced. \
            Whatever else happens, FILE is left as it was, and the exit code is not 0: 1 where the peer has none to send, \
            76 where what it sent is none. --timeout is for how long nothing of it may come.
            """,
        example: "pumpctl --port ble:QDevice1 peer image get -o photo.png")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var shared: SharedOptions

    @Option(name: .shortAndLong, help: ArgumentHelp("The file to write; - for standard output.", valueName: "file"))
    var output: String

    func validate() throws {
        if shared.merged(with: parent.shared).json, output == "-" {
            throw ValidationError("--json goes with -o FILE: the image itself is not JSON")
        }
    }

    func run() throws {
        let path = output
        try CommandRunner.run(shared.merged(with: parent.shared), for: .peer) { context in
            try await ImageFetching(context, path: path).run()
        }
    }
}

struct PeerCommandGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "peer", abstract: "Talk to a text and image peer, or be one.",
        subcommands: [
            SayCommand.self, ToggleCommand.self, ImageCommand.self, PeerListenCommand.self, PeerHostCommand.self,
        ])
}

struct PeerListenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen",
        abstract: "Show what arrives.",
        discussion: """
            Says Hello, and then shows what the peer says: the first \(PeerText.shownCharacters) characters of a message, what \
            is not UTF-8 in hexadecimals, control characters escaped. Images are checked and not kept. A peer that is \
            unplugged is waited for.

            Each line of --json has the keys time and event (greeting, acknowledged, text, bytes, toggle, image_begins, \
            image_ends, image_failed, image_refused, lost, back), and where the event has them host, host_time, text, \
            characters, hex, continued, toggle, file, bytes, error.
            """,
        example: "pumpctl --port ble:QDevice1 peer listen")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var shared: SharedOptions

    @Option(help: ArgumentHelp("End after so many events.", valueName: "number"))
    var count: Int?

    @Option(
        name: .customLong("for"), help: ArgumentHelp("End after this time.", valueName: "time"),
        transform: SecondsArgument.typed)
    var time: SecondsArgument?

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count is 1 or more") }
    }

    func run() throws {
        let (count, time) = (count, time?.duration)
        try CommandRunner.run(shared.merged(with: parent.shared), for: .peer) { context in
            try await context.run(for: time) { try await context.listenToPeer(count: count) }
        }
    }
}

extension CommandContext {
    /// Opens the link to a peer, and says `command` to it.
    ///
    /// - Returns: Whether the peer has acknowledged it.
    fileprivate func tellPeer(_ command: PeerCommand) async throws -> Bool {
        let link = try await openLink()
        let isAcknowledged: Bool
        do {
            var dialogue = PeerDialogue(over: link, clock: clock, timeout: timeout)
            try await dialogue.meet()
            isAcknowledged = try await dialogue.say(command)
            // Over BLE the peer's service shows that it is there.
            if !link.keepsPacketBounds, !dialogue.hasHeard {
                output.note(
                    "pumpctl: nothing was heard from \(link.name); a peer need not answer",
                    hint: "add -v to see what is sent and received")
            }
        } catch {
            await link.close()
            // A message is one packet; it is not sent in two that would be two messages.
            guard let refusal = error.link, refusal.code == .unsupported else { throw error }
            var failure = Failure(refusal)
            (failure.code, failure.outcome) = ("too_long", "not_sent")
            throw failure
        }
        await link.close()
        return isAcknowledged
    }
}

/// A message that was sent, as programs are told of it.
private struct SaidRecord: Encodable {
    var ok = true
    var acknowledged: Bool
    var characters: Int
    var shownCharacters: Int

    enum CodingKeys: String, CodingKey {
        case ok, acknowledged, characters
        case shownCharacters = "shown_characters"
    }
}

/// A toggle that was sent, as programs are told of it.
private struct ToggledRecord: Encodable {
    var ok = true
    var toggle: String
    var acknowledged: Bool
}
