import DeviceKit
import LineProtocol
import Transports

/// Shows and records the state of a pump that is followed.
final class Monitor {
    private let context: CommandContext
    private let interval: Duration
    private let endpoint: Endpoint
    private let screen: MonitorScreen
    private let events: AsyncStream<MonitorEvent>.Continuation
    private let stream: AsyncStream<MonitorEvent>

    /// How many updates are still to be shown; nil for no end.
    private var remaining: Int?
    private var recording: Recording?

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
        let monitor = try await PumpMonitor(
            over: link, context.reconnector(endpoint, link, note: note), interval: interval, timeout: context.timeout,
            clock: context.clock, executor: context.loop)
        do {
            recording = try await Recording.begin(context, endpoint, isDefault: true, note: note)
        } catch {
            await monitor.close()
            throw error
        }
        let tasks = [
            Task(executorPreference: context.loop) { [events, clock = context.clock] in
                guard let time, (try? await clock.sleep(for: time)) != nil else { return }
                events.yield(.timeIsUp)
            },
            Task(executorPreference: context.loop) { [events] in
                do {
                    for try await update in monitor { events.yield(.updated(update)) }
                } catch {
                    events.yield(.failed(error))
                }
            },
        ]
        let result: Result<Void, any Error>
        do { result = .success(try await attend()) } catch { result = .failure(error) }
        for task in tasks { task.cancel() }
        screen.end()
        await monitor.close()
        // Nothing is drawn any more: what there is to note goes straight out.
        events.finish()
        try result.get()
    }

    private func attend() async throws {
        for await event in stream {
            switch event {
            case .updated(let update): show(update)
            case .failed(let error): throw error
            case .timeIsUp: return
            case .note(let text): screen.note(text)
            }
            if remaining == 0 { return }
        }
        throw CancellationError()
    }

    private func show(_ update: PumpUpdate) {
        if case .sensorFault = update.event { context.output.ringBell() }
        let update = MonitorUpdate(update, of: endpoint)
        screen.show(update)
        recording?.record(update, of: endpoint)
        remaining = remaining.map { $0 - 1 }
    }

    /// Shows what goes over the link, on the side.
    private var note: @Sendable (String) -> Void {
        { [events, output = context.output] text in
            if case .terminated = events.yield(.note(text)) { output.note(text) }
        }
    }
}
