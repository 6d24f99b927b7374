import ArgumentParser
import DeviceKit
import LineProtocol
import RecordFormat

struct MessageSendCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Write a message, and hand it on.",
        discussion: "It is kept in any case: where the link breaks, 'rescue sync' hands it on later.",
        example: "pumpctl --port 'ble:*' rescue send 'Bridge closed' --at 35.91,-79.05")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var shared: SharedOptions

    @Option(help: ArgumentHelp("What kind of message it is.", valueName: "category"))
    var category = RescueCategory.other

    @Option(
        name: .customLong("at"), help: ArgumentHelp("Where, in degrees north and east.", valueName: "lat,lon"),
        transform: { try RescuePosition.typed($0) })
    var place: RescuePosition

    @Flag(help: "Only keep it, for 'rescue sync'.")
    var later = false

    @Argument(help: "The message.")
    var text: String

    func validate() throws {
        if later, shared.merged(with: parent.shared).port != nil {
            throw ValidationError("--later goes without --port: the message is kept, and not sent")
        }
        if text.utf8.count > Self.textLimit {
            throw ValidationError("a message has \(Self.textLimit) bytes at most, not \(text.utf8.count)")
        }
    }

    /// What fits into a message in any case, all of it escaped.
    private static let textLimit = RescueFramer.lengthLimit / 8

    func run() throws {
        let message = RescueMessage(
            id: .random(), content: text, position: place, time: .now, category: category)
        let isKept = later
        try CommandRunner.run(shared.merged(with: parent.shared), for: .rescue) { context in
            if isKept {
                _ = try await RecordedMessages.open().insertNew([message])
                return context.output.outcome("kept \(message.id)", SentRecord(message.id, .pendingSync))
            }
            try await Self.send(message, context)
            context.output.outcome("sent \(message.id)", SentRecord(message.id, .synced))
        }
    }

    /// Who calls for help is heard also where the disk is full.
    private static func send(_ message: RescueMessage, _ context: CommandContext) async throws {
        let store: any RescueStore
        do throws(RescueStoreError) {
            store = try await RecordedMessages.open()
            _ = try await store.insertNew([message])
        } catch {
            context.output.note("pumpctl: it is not kept, but sent all the same: \(error)", hint: error.hint)
            return try await context.relay(RescueMemoryStore()).send(
                [message], over: context.openLink(), receivingFor: nil)
        }
        do {
            try await context.relay(store).send([message], over: context.openLink(), receivingFor: nil)
        } catch {
            throw Failure(pending: error)
        }
    }
}

struct MessageSyncCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Hand on the messages that wait for it, and take in what comes meanwhile.",
        discussion: """
            With --port 'ble:*' they are handed on to every phone in sight. With --offer they are handed on to phones that find this computer over BLE and subscribe, and sync ends once all \
            were, or with --for when that time is over: the exit code is 75 where some still wait.
            """,
        example: "pumpctl --port 'ble:*' rescue sync")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var shared: SharedOptions
    @OptionGroup var offer: OfferOptions

    @Option(
        name: .customLong("for"), help: ArgumentHelp("Go on receiving for this time.", valueName: "time"),
        transform: SecondsArgument.typed)
    var time: SecondsArgument?

    func run() throws {
        let (time, offer) = (time?.duration, offer)
        try CommandRunner.run(shared.merged(with: parent.shared), for: .rescue) { context in
            let store = try await RecordedMessages.open()
            let count = try await context.sync(store, for: time, offer)
            context.output.outcome("\(count) handed on", SyncedRecord(synced: count))
        }
    }
}

struct MessageListenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen",
        abstract: "Receive messages, keep them, and print those that are new.",
        discussion: """
            A link that is lost is waited for. With --port 'ble:*' it connects to every phone in sight, one after the other as \
            they come, and says who came and left. Each line of --json has the key event: message, sos, malformed, came, or left. A message of \
            the category SOS rings the terminal's bell.

            With --offer phones find this computer over BLE: what they write is received too, and to each that subscribes what \
            waits is handed on, but for what came from it. Further events are offered, interrupted and handed_on.
            """,
        example: "pumpctl --port 'ble:*' rescue listen")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var shared: SharedOptions
    @OptionGroup var offer: OfferOptions

    @Flag(help: "End once an SOS has come, with 0; with --for the exit code is 75 where none came in time.")
    var untilSOS = false

    @Option(help: ArgumentHelp("End after so many new messages.", valueName: "number"))
    var count: Int?

    @Option(
        name: .customLong("for"), help: ArgumentHelp("End after this time.", valueName: "time"),
        transform: SecondsArgument.typed)
    var time: SecondsArgument?

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count is 1 or more") }
        if untilSOS, count != nil { throw ValidationError("--until-sos goes without --count") }
    }

    func run() throws {
        let (count, isSOS) = (count, untilSOS)
        let (time, offer) = (time?.duration, offer)
        try CommandRunner.run(shared.merged(with: parent.shared), for: .rescue) { context in
            let store = try await RecordedMessages.open()
            try await context.listen(store, until: MessageGoal(count: count, isSOS: isSOS), for: time, offer)
        }
    }
}

/// A message that was written here, as programs are told of it.
private struct SentRecord: Encodable {
    var ok = true
    var id: String
    var status: String

    init(_ id: RescueID, _ status: RescueStatus) {
        self.id = "\(id)"
        self.status = status.rawValue
    }
}

/// What was handed on, as programs are told of it.
private struct SyncedRecord: Encodable {
    var ok = true
    var synced: Int
}

extension RescueTime {
    /// The present; the beginning of 2001 where the clock of this machine is out of all years.
    fileprivate static var now: RescueTime {
        RescueTime(secondsSince1970: RecordTime.now.secondsSince1970) ?? .beginning
    }
}
