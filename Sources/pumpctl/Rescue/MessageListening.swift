import LineProtocol
import Transports

/// `message listen`: stores and prints messages as they come, also behind a link that was lost.
struct MessageListening: Sendable {
    private let context: CommandContext
    private let store: any RescueStore
    private let endpoint: Endpoint
    private let ending: MessageIntake.Ending
    private let relay: MessageRelay?

    /// - Parameter relay: What the store is used by where others use it too.
    init(
        _ context: CommandContext, _ store: any RescueStore, until ending: MessageIntake.Ending,
        by relay: MessageRelay? = nil
    ) throws {
        self.context = context
        self.store = store
        self.relay = relay
        self.ending = ending
        endpoint = try context.endpoint()
    }

    /// Runs until what is waited for has come, `time` is over, or a signal ends it.
    func run(for time: Duration?) async throws {
        let hasCome = try await context.run(for: time) { try await listen() }
        if !hasCome, ending.isSOS {
            throw Failure.noSOS(in: time)
        }
    }

    private func listen() async throws {
        let link = try await context.openLink(endpoint, for: .watching, note: context.output.note)
        var intake = MessageIntake(relay?.entrance(from: link.deviceAddress) ?? store, context, until: ending)
        do { try await listen(over: link, &intake) } catch {
            try intake.finish()
            throw error
        }
    }

    private func listen(over link: any Link, _ intake: inout MessageIntake) async throws {
        var link = link
        let reopening = Reopening(endpoint, link, context)
        while true {
            do {
                let hasCome = try await intake.receive(from: link)
                await link.close()
                if hasCome { return }
                throw CancellationError()
            } catch let error as LinkError where error.code != .cancelled {
                await link.close()
                context.output.note("pumpctl: \(error); waiting for the device to come back")
            } catch {
                await link.close()
                throw error
            }
            link = try await reopening.link(note: context.output.note)
            context.output.note("pumpctl: \(endpoint.text) is back")
        }
    }
}

extension Failure {
    /// What was waited for did not come.
    static func noSOS(in time: Duration?) -> Failure {
        Failure(.temporaryFailure, code: "no_answer", "no SOS in \(time?.inSeconds ?? "") s")
    }
}
