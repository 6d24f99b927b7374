import DescriptorIO
import DeviceKit
import LineProtocol
import Transports

/// Follows the state of a pump: asks for it at intervals, as the phone app does, and listens in between.
final class Monitor {
    private let context: CommandContext
    private let interval: Duration
    private let endpoint: Endpoint
    private let screen: MonitorScreen
    private let events: AsyncStream<MonitorEvent>.Continuation
    private let stream: AsyncStream<MonitorEvent>

    /// How many updates are still to be shown; nil for no end.
    private var remaining: Int?
    private var session: PumpSession?
    private var tasks: [Task<Void, Never>] = []
    /// What the pump has told over this link.
    private var state = PumpState()
    /// Whether it answers, so that what it has told is of the present.
    private var isAnswering = true
    private var reconnector: Reconnector?
    private var recording: Recording?
    /// What was known before the link was lost, until the pump has told its state again.
    private var stateBeforeLoss: PumpState?
    /// What was last found wrong with the skin's temperature.
    private var skinFault: SkinFault?

    /// - Parameter count: After how many updates to end; nil for no end.
    init(_ context: CommandContext, interval: Duration, count: Int?) throws {
        self.context = context
        self.interval = interval
        remaining = count
        endpoint = try context.endpoint()
        (stream, events) = AsyncStream.makeStream(of: MonitorEvent.self)
        screen = MonitorScreen(context.output)
    }

    /// Runs until all updates were shown, `time` is over, or a signal ends it.
    func run(for time: Duration?) async throws {
        let link = try await context.openLink(endpoint, for: .watching, note: note)
        reconnector = context.reconnector(endpoint, link, note: note)
        try await begin(link)
        do {
            recording = try await Recording.begin(context, endpoint, isDefault: true, note: note)
        } catch {
            await endSession()
            throw error
        }
        let timer = Task(executorPreference: context.loop) { [events, clock = context.clock] in
            guard let time, (try? await clock.sleep(for: time)) != nil else { return }
            events.yield(.timeIsUp)
        }
        let result: Result<Void, any Error>
        do { result = .success(try await attend()) } catch { result = .failure(error) }
        timer.cancel()
        screen.end()
        await endSession()
        // Nothing is drawn any more: what there is to note goes straight out.
        events.finish()
        try result.get()
    }

    private func attend() async throws {
        for await event in stream {
            switch event {
            case .polled(let result): take(result)
            case .happened(.heard(let message)): take(message)
            case .happened(.heardBefore): break  // it tells nothing of the present
            case .happened(.lost(let error)): await lose(error)
            case .reopened(let link): await resume(link)
            case .reopeningFailed(let error): throw error
            case .timeIsUp: return
            case .note(let text): screen.note(text)
            }
            if remaining == 0 { return }
        }
        throw CancellationError()
    }

    private func show(_ event: MonitorUpdate.Event, _ text: String? = nil) {
        // What comes in one go may be more than was asked for.
        guard remaining != 0 else { return }
        let isCurrent = session != nil && isAnswering
        let update = MonitorUpdate(
            event: event, text: text, state: isCurrent ? state : PumpState(), isLinkUp: event != .lost)
        screen.show(update)
        recording?.record(update, of: endpoint)
        remaining = remaining.map { $0 - 1 }
    }

    // MARK: What the pump says

    private func take(_ result: Result<PumpStatus, SessionError>) {
        switch result {
        case .success(let status):
            isAnswering = true
            state.apply(.status(status))
            attendToSkin(status)
            if let before = stateBeforeLoss {
                stateBeforeLoss = nil
                show(.back, MonitorText.comparison(before, state))
            } else {
                show(.status)
            }
        case .failure(let error):
            let event: MonitorUpdate.Event
            switch error.code {
            case .noAnswer: event = .noAnswer
            case .notUnderstood: event = .notUnderstood
            case .refused: event = .refused
            case .linkLost, .closed, .cancelled, .overtaken: return  // told of as an event of the link, or asked for
            }
            isAnswering = false
            show(event, Failure(error, .pump).message)
        }
    }

    /// Sounds the alarm when the skin's temperature can no longer be relied on; once for each fault.
    private func attendToSkin(_ status: PumpStatus) {
        let fault = status.skinFaultWhileOn
        defer { skinFault = fault }
        guard let fault, fault != skinFault else { return }
        context.output.ringBell()
        show(.sensorFault, PumpText.skinFault(fault, status))
    }

    private func take(_ message: PumpMessage) {
        state.overhear(message)
        switch message {
        case .status, .temperatures, .pump, .speed:
            // It speaks: this is of the present.
            isAnswering = true
            if case .status(let status) = message { attendToSkin(status) }
            show(.status)
        case .manual(let isOn):
            isAnswering = true
            show(.manual, isOn ? "MANUAL:ON" : "MANUAL:OFF")
        case .error(let code):
            isAnswering = isAnswering || code.isUnsolicited
            show(.error, code.rawValue)
        case .text(let text): show(.text, [UInt8](text.utf8).printable())
        case .unknown(let bytes): show(.text, bytes.printable())
        case .ok: break
        }
    }

    // MARK: The link

    /// Begins to ask and to listen.
    private func begin(_ link: any Link, waitsForAnswer: Bool = false) async throws {
        let session = try await PumpSession.begin(over: link, clock: context.clock)
        if waitsForAnswer {
            do throws(SessionError) {
                try await session.waitUntilReady()
            } catch {
                // A device that is silent is shown as such; one that is gone is waited for.
                guard error.code == .noAnswer || error.code == .notUnderstood else { throw error }
            }
        }
        self.session = session
        isAnswering = true
        let happenings = await session.events()
        let (events, interval, timeout, clock) = (events, interval, context.timeout, context.clock)
        tasks = [
            Task(executorPreference: context.loop) {
                for await event in happenings { events.yield(.happened(event)) }
            },
            Task(executorPreference: context.loop) {
                var next = clock.now
                while !Task.isCancelled {
                    do throws(SessionError) {
                        events.yield(.polled(.success(try await session.readStatus(timeout: timeout))))
                    } catch {
                        events.yield(.polled(.failure(error)))
                        if error.code == .linkLost || error.code == .closed { return }
                    }
                    // At a steady pace, but never to make up for the time that a silence took.
                    next = max(next.advanced(by: interval), clock.now)
                    try? await clock.sleep(until: next)
                }
            },
        ]
    }

    private func resume(_ link: any Link) async {
        let before = stateBeforeLoss
        state = PumpState()
        do {
            // What was unplugged has started anew, and may not answer yet.
            try await begin(link, waitsForAnswer: true)
        } catch {
            // Gone again.
            await link.close()
            await lose((error as? SessionError)?.link)
            stateBeforeLoss = before
        }
    }

    private func lose(_ error: LinkError?) async {
        await endSession()
        if stateBeforeLoss == nil { stateBeforeLoss = state }
        show(.lost, error.map { "\($0)" } ?? "\(endpoint.text): the link is closed")
        tasks = [
            Task(executorPreference: context.loop) { [events, reconnector] in
                guard let reconnector else { return }
                do {
                    events.yield(.reopened(try await reconnector.link()))
                } catch {
                    events.yield(.reopeningFailed(error))
                }
            }
        ]
    }

    private func endSession() async {
        for task in tasks { task.cancel() }
        tasks = []
        await session?.close()
        session = nil
    }

    /// Shows what goes over the link, on the side.
    private var note: @Sendable (String) -> Void {
        { [events, output = context.output] text in
            if case .terminated = events.yield(.note(text)) { output.note(text) }
        }
    }
}
