import ArgumentParser
import DeviceKit
import LineProtocol
import Transports

struct MessageSendCommand: RescueSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Write a message, and send it.",
        discussion: "The message is kept first: if the link breaks, 'rescue sync' sends it later.",
        example: "pumpctl --port 'ble:*' rescue send 'Bridge closed' --at 35.91,-79.05")

    @OptionGroup var shared: SharedOptions

    @Option(help: ArgumentHelp("The category of the message.", valueName: "category"))
    var category = RescueCategory.other

    @Option(
        name: .customLong("at"), help: ArgumentHelp("The position, in degrees north and east.", valueName: "lat,lon"),
        transform: { try RescuePosition.typed($0) })
    var place: RescuePosition

    @Flag(help: "Only keep the message, for 'rescue sync'.")
    var later = false

    @Argument(help: "The message.")
    var text: String

    func validate() throws {
        if later, shared.port != nil {
            throw ValidationError("--later cannot be combined with --port: the message is kept, and not sent")
        }
        if text.allSatisfy(\.isWhitespace) {
            throw ValidationError("the message must not be empty: say what is needed, e.g. \"two people on the roof\"")
        }
        let (limit, count) = (RescueMessage.contentLimit, text.utf8.count)
        if count > limit { throw ValidationError("a message must have \(limit) bytes at most, not \(count)") }
    }

    func run(in context: CommandContext) async throws {
        let message = RescueMessage(writing: text, at: place, category: category)
        if later {
            _ = try await RecordedMessages.open().insertNew([message])
        } else {
            try await send(message, context)
        }
        let status = later ? RescueStatus.pendingSync : .synced
        let values: [String: StateValue] = [
            "ok": .boolean(true), "id": .text("\(message.id)"), "status": .text(status.rawValue),
        ]
        context.output.outcome("\(later ? "kept" : "sent") \(message.id)", values)
    }

    /// Stores a message and sends it. A message that can't be stored is sent anyway: a call for help must get out even
    /// if the disk is full.
    private func send(_ message: RescueMessage, _ context: CommandContext) async throws {
        var (store, isKept): (any RescueStore, Bool) = (RescueMemoryStore(), false)
        do throws(RescueStoreError) {
            let kept = try await RecordedMessages.open()
            _ = try await kept.insertNew([message])
            (store, isKept) = (kept, true)
        } catch {
            context.output.note("pumpctl: the message is not kept: \(error); sending it anyway", hint: error.hint)
        }
        do { try await context.relay(store).send([message], over: context.openLink(), receivingFor: nil) } catch {
            throw isKept ? Failure(pending: error) : error
        }
    }
}

struct MessageSyncCommand: RescueSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Send the pending messages, and receive messages at the same time.",
        discussion: """
            With --port 'ble:*', messages are sent to every phone in range. With --offer, they are sent to phones that find this computer over BLE and subscribe. sync then ends once all are \
            sent, or when the time of --for is over; the exit code is 75 if some are still pending.
            """,
        example: "pumpctl --port 'ble:*' rescue sync")

    @OptionGroup var shared: SharedOptions
    @OptionGroup var offer: OfferOptions

    @Option(
        name: .customLong("for"), help: ArgumentHelp("Continue receiving for this time.", valueName: "time"),
        transform: SecondsArgument.typed)
    var time: SecondsArgument?

    func run(in context: CommandContext) async throws {
        let store = try await RecordedMessages.open()
        let pending = try await store.messages(.pendingSync)
        let waitingCount: Int
        do {
            let exchange = try context.exchange(of: context.relay(store), .transfer, offer)
            waitingCount = try await exchange.handOn(pending, receivingFor: time?.duration)
        } catch {
            throw offer.isWanted || pending.isEmpty ? error : Failure(pending: error)
        }
        let count = pending.count - waitingCount
        guard waitingCount == 0 else {
            let limit = time.map { " in \($0.duration.inSeconds) s" } ?? ""
            throw Failure(
                .temporaryFailure, code: "no_answer",
                "\(count.counted("message")) sent\(limit), \(waitingCount) still pending",
                hint: "bring a phone near, and try again: pumpctl rescue sync",
                outcome: RescueStatus.pendingSync.rawValue)
        }
        let values: [String: StateValue] = ["ok": .boolean(true), "synced": .integer(count)]
        context.output.outcome("\(count.counted("message")) sent", values)
    }
}

struct MessageListenCommand: RescueSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "listen",
        abstract: "Receive and keep messages, and print new ones.",
        discussion: """
            If the link is lost, waits for the device. With --port 'ble:*', connects to every phone in range, one after the \
            other, and reports phones that connect or leave. Each line of --json has the key event: message, sos, malformed, came, or left. A message of \
            the category SOS rings the terminal's bell.

            With --offer, phones find this computer over BLE: their messages are received too, and each phone that subscribes \
            gets the pending messages, except those that it has sent. Further events are offered, interrupted and handed_on.
            """,
        example: "pumpctl --port 'ble:*' rescue listen")

    @OptionGroup var shared: SharedOptions
    @OptionGroup var offer: OfferOptions

    @Flag(help: "End when an SOS arrives; with --for, the exit code is 75 if none arrives in time.")
    var untilSOS = false

    @Option(help: .end(after: "new messages"))
    var count: Int?

    @Option(name: .customLong("for"), help: .endOfTime, transform: SecondsArgument.typed)
    var time: SecondsArgument?

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be 1 or more") }
        if untilSOS, count != nil { throw ValidationError("--until-sos cannot be combined with --count") }
    }

    func run(in context: CommandContext) async throws {
        let goal = MessageGoal(count: count, isSOS: untilSOS)
        let relay = context.relay(try await RecordedMessages.open(), until: goal)
        let exchange = try context.exchange(of: relay, .watching, offer)
        let hasCome = try await context.run(for: time?.duration, whileRead: true) { try await exchange.receive() }
        guard !hasCome, untilSOS else { return }
        throw Failure(.temporaryFailure, code: "no_answer", "no SOS in \(time?.duration.inSeconds ?? "") s")
    }
}

extension CommandContext {
    /// Returns a relay whose events are printed. The relay stores received messages, and reaches its goal after the
    /// given number of new messages or an SOS.
    fileprivate func relay(_ store: any RescueStore, until goal: MessageGoal = MessageGoal()) -> MessageRelay {
        MessageRelay(store, until: goal, on: loop, clock: clock) { [output] in output.show($0) }
    }

    /// Returns the exchange of messages for a command. Without `--offer`, messages go over the named or only port, or
    /// with `ble:*` to every phone in range. With `--offer`, phones that find this computer take part, and a port only
    /// if `--port` names one.
    fileprivate func exchange(of relay: MessageRelay, _ use: LinkUse, _ offer: OfferOptions) throws -> MessageExchange {
        let endpoint = offer.isWanted && options.port == nil ? nil : try endpoint()
        let carrier = endpoint.map { endpoint in
            MessageCarrier(endpoint, for: relay) { endpoint in
                try await openLink(endpoint, for: use, note: output.note)
            } reconnector: { link in
                reconnector(endpoint, link, note: output.note)
            }
        }
        guard offer.isWanted else { return MessageExchange(of: relay, over: carrier) }
        let offering = MessageOffering(relay, as: offer.offeredName, on: offer.adapter) { [self] central in
            let traced = options.verbose ? TracedLink(central, note: output.note) : central
            return recorded(traced, as: central.name, note: output.note)
        }
        return MessageExchange(of: relay, over: carrier, offering)
    }
}
