import DeviceKit
import LineProtocol
import RecordFormat
import Synchronization
import Transports

/// Shows the lines of a device of the family `raw`, with the time of each, and sends nothing.
struct LineMonitor: Sendable {
    private let context: CommandContext
    /// The number of lines to show; nil for no limit.
    private let count: Int?

    init(_ context: CommandContext, count: Int?) {
        self.context = context
        self.count = count
    }

    /// Runs until `count` lines were shown, the time is over, or a signal ends the command. If the device is unplugged,
    /// waits for its return.
    func run(for time: Duration?) async throws {
        let endpoint = try context.endpoint()
        let link = try await context.openLink(endpoint, for: .watching, note: context.output.note)
        let reconnector = context.reconnector(endpoint, link, note: context.output.note)
        let name = endpoint.text.printable()
        let shown = Mutex(0)
        // The console, for the callback that ends it after the last line.
        let ending = Mutex<LineConsole?>(nil)
        let console = LineConsole(with: .raw, reconnector, clock: context.clock, executor: context.loop) {
            [context, count] happening in
            switch happening {
            case .heard(let line), .heardBefore(let line):
                let number = shown.withLock { shown in
                    shown += 1
                    return shown
                }
                // More lines may arrive before the console has ended.
                if let count, number > count { return }
                context.output.result("\(RecordTime.now.timeOfDay)  \(line.marked)", Timed(line.record))
                if number == count { ending.withLock { $0 }?.end() }
            case .lost(let error, _):
                let loss = error.map { "\($0)".printable() } ?? "\(name): the link is closed"
                context.output.note("pumpctl: \(loss); waiting for the device to come back")
            case .back(let name): context.output.note("pumpctl: \(name.printable()) is back")
            case .dangerous, .noDevice, .notSent, .unanswered: break
            }
        }
        ending.withLock { $0 = console }
        defer { ending.withLock { $0 = nil } }
        try await context.run(for: time, whileRead: true) { _ = try await console.run(over: link) }
    }
}
