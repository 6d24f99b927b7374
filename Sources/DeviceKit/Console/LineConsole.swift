public import DescriptorIO
public import LineProtocol
internal import Synchronization

/// A line-based conversation with a device of any family. The console sends lines that a person types or a script
/// contains, and reports the device's lines. If the link is lost, the console waits for the device; a script ends with
/// an error instead.
///
/// ```swift
/// let link = try await LinkSchemes.families.open(endpoint)
/// let console = LineConsole(with: .pump, Reconnector(endpoint, link)) { print($0) }
/// console.enter(Array("STATUS".utf8))
/// try await console.run(over: link)  // until console.end()
/// ```
///
/// All events go through one stream and are handled in order.
public final class LineConsole: Sendable {
    /// The options of a console.
    public struct Options: Sendable {
        /// Whether lines come from a script. A script's line waits until the previous line's answer is complete, or the
        /// time-out for this answer is over.
        public var isScript = false
        /// The rules that decide when the answer to a script's line is complete, so that the next line can be sent. If
        /// ``AnswerRules/end`` is set, the script stops at the first answer that does not end. If
        /// ``AnswerRules/failure`` is set, the script stops at the first error.
        public var answers = AnswerRules()
        /// The end of each line; nil for a line feed, or for nothing if the link keeps packet bounds.
        public var ends: LineEnds?
        /// Whether to send lines that the device would misread: see ``WireRules/danger``.
        public var sendsDangerous = false

        /// Creates options for a person who types.
        public init() {}
    }

    /// An event of the console's one stream, from its user, its link or its timers.
    enum Event: Sendable {
        /// A complete line was typed.
        case entered([UInt8])
        /// More bytes of the script were read.
        case scripted([UInt8])
        /// The input has ended.
        case ended
        /// Bytes arrived, the link ended, or a line could not be sent.
        case link(ConsoleLink.Event)
        /// The device is back.
        case reopened(any Link)
        /// The link could not be reopened, for example because no returning device can be identified.
        case reopeningFailed(any Error)
        /// The end of a line is overdue. The event is stale if bytes have arrived more often than `arrivals` counts.
        case lineEndOverdue(arrivals: Int)
        /// The device may have been quiet for long enough. The event is stale if bytes have arrived since.
        case quiet
        /// The task that runs the console was cancelled.
        case interrupted
    }

    private let family: Family
    private let reconnector: Reconnector
    private let options: Options
    private let clock: any Clock<Duration>
    private let executor: any TaskExecutor
    private let perform: @Sendable (_ line: [UInt8]) -> LineUse
    private let tell: @Sendable (ConsoleHappening) -> Void
    private let events: AsyncStream<Event>.Continuation
    private let stream: AsyncStream<Event>
    private let unsent = Mutex<[[UInt8]]>([])

    /// The lines that were entered but not sent, once the console has ended. Part of the first line may have been sent.
    public var unsentLines: [[UInt8]] { unsent.withLock { $0 } }

    /// The handling of an entered line.
    public enum LineUse: Sendable {
        /// Send the line to the device.
        case send
        /// Don't send the line: the program has handled it.
        case done
        /// End the console.
        case end
    }

    /// Creates a console that sends nothing before ``run(over:)``.
    ///
    /// - Parameters:
    ///   - family: The family of the device.
    ///   - reconnector: Restores a lost link.
    ///   - options: The options of the console.
    ///   - clock: The clock for all time-outs.
    ///   - executor: The executor of the console's tasks.
    ///   - perform: Decides how to handle a typed line, or a line of a script. Handles the line itself if it is a
    ///     command for the program. Called in the task that calls ``run(over:)``.
    ///   - tell: Receives the events to show, in that task.
    public init(
        with family: Family, _ reconnector: Reconnector, _ options: Options = Options(),
        clock: any Clock<Duration> = ContinuousClock(), executor: any TaskExecutor = EventLoop.shared,
        perform: @escaping @Sendable (_ line: [UInt8]) -> LineUse = { _ in .send },
        tell: @escaping @Sendable (ConsoleHappening) -> Void
    ) {
        self.family = family
        self.reconnector = reconnector
        self.options = options
        self.clock = clock
        self.executor = executor
        self.perform = perform
        self.tell = tell
        (stream, events) = AsyncStream.makeStream(of: Event.self)
    }

    /// Queues a line, without its end. Lines that are entered after the end of the console become ``unsentLines``.
    public func enter(_ line: [UInt8]) {
        if case .terminated = events.yield(.entered(line)) { unsent.withLock { $0.append(line) } }
    }

    /// Adds bytes to the script. The bytes need not be whole lines.
    public func append(_ script: [UInt8]) { events.yield(.scripted(script)) }

    /// Ends the input. The console then ends; a script first waits for the answer to its last line.
    public func end() { events.yield(.ended) }

    /// Runs the console over `link` until the input or the script ends, or `perform` ends the console, then closes the
    /// link.
    ///
    /// - Returns: The result of the script; an empty result if a person types.
    /// - Throws: `ScriptLossError` if the link breaks during a script; the errors of ``Reconnector/link()``;
    ///   `LinkError` if the last lines could not be sent, or the link broke before an answer to the last line;
    ///   `CancellationError`.
    public func run(over link: any Link) async throws -> ConsoleResult {
        let conversation = ConsoleConversation(
            family, reconnector, options, clock: clock, executor: executor, events, perform: perform, tell: tell)
        defer { unsent.withLock { [lines = conversation.unsentLines] in $0 = lines + $0 } }
        return try await withTaskCancellationHandler {
            try await conversation.run(over: link, stream)
        } onCancel: {
            events.yield(.interrupted)
        }
    }
}
