import DeviceKit
import LineProtocol
import Terminal
import Transports

/// Shows what opening a BLE device is at: each step with `-v`; on a terminal, from when it takes long, in one line that is
/// drawn over.
struct OpeningProgress: Sendable {
    /// Takes in that a step begins.
    let begin: @Sendable (BLEOpeningStep) -> Void
    /// Removes what is shown, for good.
    let end: @Sendable () -> Void

    /// - Parameter note: Where `-v` shows the steps.
    init(_ endpoint: Endpoint, _ context: CommandContext, note: @escaping @Sendable (String) -> Void) {
        let name = endpoint.text.printable()
        guard !context.options.verbose, StandardStream.error.isTerminal else {
            begin = { step in if context.options.verbose { note("* \(name): \(step)") } }
            end = {}
            return
        }
        let watch = OpeningWatch(clock: context.clock, executor: context.loop) { step in
            context.output.progress(step.map { "\(name): \($0) …" } ?? "")
        }
        begin = { watch.begin($0) }
        end = { watch.end() }
    }
}
