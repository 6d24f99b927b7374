import DescriptorIO
import DeviceKit
import LineProtocol
import Transports

/// Shows and records the state of a device that is followed.
struct Monitor {
    let context: CommandContext
    /// How often the device is asked.
    let interval: Duration
    /// How long to show its state; nil for no end.
    let time: Duration?
    /// After how many updates to end; nil for no end.
    let count: Int?

    /// Runs until all updates were shown, the time is over, or a signal ends it.
    func run() async throws {
        guard let follow = context.family.wire.follow else {
            throw Failure(
                .usage, code: "no_state", "\(context.family.device) can't be asked for its state: nothing to monitor",
                hint: "show what it says: pumpctl console", outcome: "not_sent")
        }
        let endpoint = try context.endpoint()
        let screen = MonitorScreen(context.output)
        let link = try await context.openLink(endpoint, for: .watching, note: screen.note)
        let clock = context.clock
        let monitor = try await follow(
            link, context.reconnector(endpoint, link, note: screen.note),
            FamilyMonitor.Options(interval: interval, timeout: context.timeout, clock: clock, executor: context.loop))
        let deadline = time.map { clock.now.advanced(by: $0) }
        let timer = Task(executorPreference: context.loop) {
            if let deadline, (try? await clock.sleep(until: deadline)) != nil { await monitor.close() }
        }
        var failure: (any Error)?
        do { try await show(monitor, of: endpoint, on: screen) } catch { failure = error }
        timer.cancel()
        screen.end()
        await monitor.close()
        if failure is CancellationError, !Task.isCancelled, let deadline, clock.now >= deadline { return }
        if let failure { throw failure }
    }

    private func show(_ monitor: FamilyMonitor, of endpoint: Endpoint, on screen: MonitorScreen) async throws {
        let recording = try await Recording.begin(context, endpoint, isDefault: true, note: screen.note)
        var shown = 0
        for try await update in monitor {
            if case .alarm = update.event { context.output.ringBell() }
            screen.show(update)
            recording?.record(update, of: endpoint)
            shown += 1
            if shown == count { return }
        }
        throw CancellationError()
    }
}
