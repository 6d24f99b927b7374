public import DescriptorIO
public import LineProtocol
internal import Synchronization

/// A conversation in lines with a device of any family: what a person types, or a script, goes to the device, and what the
/// device says is told. A device that is lost is waited for, except by a script.
///
/// ```swift
/// let link = try await LinkSchemes.families.open(endpoint)
/// let console = LineConsole(with: .pump, Reconnector(endpoint, link)) { print($0) }
/// console.enter(Array("STATUS".utf8))
/// try await console.run(over: link)  // until console.end()
/// ```
///
/// Everything that happens is an event of one stream, attended to in order, so that nothing here waits for anything else.
public final class LineConsole: Sendable {
    /// How a console behaves.
    public struct Options: Sendable {
        /// Whether lines come from a script: each waits until the device has answered the one before.
        public var isScript = false
        /// By what an answer to a script is known to have ended: then the next line is sent. Where ``AnswerRules/end`` is
        /// given, a script ends with the first answer that does not; where ``AnswerRules/failure`` is, with the first that
        /// it describes.
        public var answers = AnswerRules()
        /// What ends a line; nil for a line feed, which a device that takes a packet for a line is not sent.
        public var ends: LineEnds?
        /// Whether lines are sent that mean something else to the device than they say: see ``WireRules/danger``.
        public var sendsDangerous = false

        /// A console for a person.
        public init() {}
    }

    enum Event: Sendable {
        /// A whole line was typed.
        case entered([UInt8])
        /// A script goes on.
        case scripted([UInt8])
        /// Nothing more is entered.
        case ended
        case link(ConsoleLink.Event)
        /// The device is back.
        case reopened(any Link)
        /// The device can't come back.
        case reopeningFailed(any Error)
        /// The end of a line is overdue, unless something has come after so many arrivals.
        case lineEndOverdue(arrivals: Int)
        /// The device was quiet for long enough, unless something has come since.
        case quiet
        /// The task was cancelled.
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

    /// Once the console has ended: the lines that were entered and not sent, the first perhaps not wholly.
    public var unsentLines: [[UInt8]] { unsent.withLock { $0 } }

    /// What is to be done with a line that was entered.
    public enum LineUse: Sendable {
        /// The device is sent it.
        case send
        /// The program has done what it asks for.
        case done
        /// The console ends.
        case end
    }

    /// A console that sends nothing before ``run(over:)``.
    ///
    /// - Parameters:
    ///   - family: What the device is.
    ///   - reconnector: Gets the device back.
    ///   - options: How the console behaves.
    ///   - clock: Measures all times.
    ///   - executor: What it runs on.
    ///   - perform: Says what is to be done with a line, and does it where it is for the program.
    ///   - tell: Told what there is to show.
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

    /// Sends a line, without its end, as soon as the device reads it. Behind the end it is one of ``unsentLines``.
    public func enter(_ line: [UInt8]) {
        if case .terminated = events.yield(.entered(line)) { unsent.withLock { $0.append(line) } }
    }

    /// Adds to the script, which need not be whole lines.
    public func append(_ script: [UInt8]) { events.yield(.scripted(script)) }

    /// Nothing more is entered: the console ends, a script's once its last line was answered.
    public func end() { events.yield(.ended) }

    /// Converses over `link`, which it closes, until the end.
    ///
    /// - Returns: How a script went.
    /// - Throws: `ScriptLossError`; why a lost device can't come back; `LinkError` where the link broke while the last lines
    ///   were sent; `CancellationError`.
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
