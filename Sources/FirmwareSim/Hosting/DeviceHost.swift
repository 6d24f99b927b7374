public import DescriptorIO
public import SerialPort
internal import Synchronization

/// Runs a simulated device against a clock, and joins it to the lines of its clients.
///
///     let host = DeviceHost(PumpFirmware(), pace: .realTime(ContinuousClock()))
///     await host.attach(channel)
///     try await host.run()
///
/// What the device says goes to every client; what any of them says goes to the device.
public actor DeviceHost<Device: SimulatedDevice> {
    /// How simulated time goes by.
    public enum Pace: Sendable {
        /// As the clock does, with the line paced to its baud rate.
        case realTime(any Clock<Duration>)
        /// At once, as far as needed to answer what is received; otherwise time stands still until
        /// ``DeviceHost/advance(by:)``. For tests.
        case onDemand
    }

    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    package nonisolated let loop: EventLoop
    let pace: Pace
    private let hasFlowControl: Bool
    private let elapsed: @Sendable () -> Duration
    private(set) var device: Device
    /// How far the device has been run, where time goes by on demand.
    private var instant = Duration.zero
    /// What of the time that has gone by was skipped, where time goes by as a clock does.
    private var skipped = Duration.zero
    var lines: [LineID: ClientLine] = [:]
    private var lastLineID: UInt64 = 0
    private(set) var listeners: [any EmissionListener] = []
    /// Who see to what faults do to the carriers: one for each carrier.
    private var carrierHandlers: [@Sendable (CarrierEvent) -> Void] = []
    private var judge: HostJudge?
    /// Where the device is offered on a line; nil where it is not.
    var port: String?
    /// Who are told of steps that can't be done.
    private let stepHandlers = Mutex<[@Sendable (StepFailure) -> Void]>([])
    /// Whether time goes by: while ``run()`` runs.
    private var isRunning = false
    /// When the device is looked at next.
    private var alarm: Alarm?
    /// Wake who waits for the clients to take what the device has said.
    var waiters: [UInt64: CheckedContinuation<Bool, Never>] = [:]
    var lastWaiter: UInt64 = 0
    /// How often a listener had room again.
    var listenerTurns: UInt64 = 0
    /// Whether a listener has taken nothing for so long that nobody waits for it.
    var areListenersStalled = false
    /// What was lost because clients had left too much unread, in bytes.
    public private(set) var lostBytes = 0

    /// Names a client's line.
    public struct LineID: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    /// A host for `device`, whose simulated time begins now.
    ///
    /// - Parameters:
    ///   - judge: What watches the host, and how it uses the device.
    ///   - hasFlowControl: Whether the device stands still while a client has not taken what it said before, as
    ///   RTS and CTS have it do. Without, what a client is too slow for is lost in the end, as on a line of three wires.
    public init(
        _ device: Device, pace: Pace, judge: HostJudge? = nil, hasFlowControl: Bool = false,
        on loop: EventLoop = .shared
    ) {
        self.device = device
        self.pace = pace
        self.judge = judge
        self.hasFlowControl = hasFlowControl
        self.loop = loop
        elapsed =
            switch pace {
            case .realTime(let clock): Self.stopwatch(clock)
            case .onDemand: { .zero }
            }
    }

    private static func stopwatch(_ clock: some Clock<Duration>) -> @Sendable () -> Duration {
        let origin = clock.now
        return { origin.duration(to: clock.now) }
    }

    // MARK: Clients

    /// Joins a client's line, which is on the loop of this host, to the device. The line is forgotten when the client is gone.
    ///
    /// - Parameters:
    ///   - isListening: Whether what the device says reaches the client from the start.
    ///   - terminal: The pseudo-terminal that the client has open, if that is what it is.
    ///   - onEnd: Called once the client is gone.
    @discardableResult
    public func attach(
        _ channel: DescriptorChannel, isListening: Bool = true, terminal: PseudoTerminal? = nil,
        onEnd: (@Sendable () -> Void)? = nil
    ) -> LineID {
        lastLineID += 1
        let id = LineID(number: lastLineID)
        lines[id] = ClientLine(channel, isListening: isListening, terminal: terminal)
        channel.assumeIsolated { channel in
            channel.forward { arrival in
                self.assumeIsolated { host in
                    switch arrival {
                    case .success(let bytes?): host.receive(bytes, from: id)
                    case .success(nil), .failure:
                        host.leave(id)
                        host.lines[id] = nil
                        host.wakeWaiters()
                        if host.hasFlowControl { host.goOn() }
                        onEnd?()
                    }
                }
            }
        }
        if isListening {
            device.hostCame(at: now)
            goOn()
        }
        return id
    }

    /// Says whether a client takes what the device says. What it does not take is lost, as on an open line.
    public func setListening(_ isListening: Bool, _ id: LineID) {
        let came = isListening && lines[id]?.isListening == false
        if isListening { lines[id]?.isListening = true } else { leave(id) }
        if came { device.hostCame(at: now) }
        if came || hasFlowControl { goOn() }
    }

    /// Lets nothing through to or from a client any more, but what is on its way to it, until its line is closed.
    package func cutOff(_ channel: DescriptorChannel) {
        for id in lines.keys where lines[id]?.channel === channel { lines[id]?.isCutOff = true }
    }

    /// A client does not listen any more.
    private func leave(_ id: LineID) {
        guard lines[id]?.isListening == true else { return }
        lines[id]?.isListening = false
        wakeWaiters()
        guard !lines.values.contains(where: \.isListening) else { return }
        judge?.leave()
        device.lineLeft(at: now)
    }

    /// Hands what the device says to `listener`, as it is, until ``detach(_:)``.
    package func attach(_ listener: any EmissionListener) { listeners.append(listener) }

    package func detach(_ listener: any EmissionListener) {
        listeners.removeAll { $0 === listener }
        if hasFlowControl { goOn() }
    }

    /// A listener has room again.
    package func listenerHasRoom() {
        listenerTurns += 1
        areListenersStalled = false
        wakeWaiters()
        if hasFlowControl { goOn() }
    }

    private func receive(_ bytes: [UInt8], from id: LineID) {
        guard lines[id]?.isCutOff == false, let bytes = unpacked(bytes, from: id) else { return }
        // Whoever speaks has the port open.
        setListening(true, id)
        noteBaudRates()
        if judge != nil {
            if isRunning { catchUp() }
            let rate = lines[id]?.hostBaudRate
            judge?.hear(bytes, at: now, isAnswering: isAnswering, hostRate: rate)
        }
        device.receive(bytes, at: now)
        goOn()
    }

    /// Whether the device has something left to do or to say. A line end that is still on its way is nothing to wait for: the
    /// CR of a reply has ended its line. Nor is what a fault says again.
    private var isAnswering: Bool {
        guard device.owesReply else { return false }
        var later = device
        let rest = later.advance(to: now + .milliseconds(10)).filter { !$0.isRepetition }.flatMap(\.bytes)
        return later.owesReply || rest.contains { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
    }

    /// What came from a client, without what a pseudo-terminal in packet mode puts before it; nil where that is all.
    private func unpacked(_ bytes: [UInt8], from id: LineID) -> [UInt8]? {
        guard lines[id]?.isInPacketMode == true, let status = bytes.first else { return bytes }
        if PacketStatus(rawValue: status).contains(.flushedInput) {
            if isRunning { catchUp() }
            judge?.flush(at: now, isAnswering: isAnswering)
        }
        return bytes.count > 1 ? Array(bytes[1...]) : nil
    }

    /// Tells the device what the host's end of its line is set to, where it wants to know.
    private func noteBaudRates() {
        guard device.heedsHostBaudRate else { return }
        for line in lines.values where line.isListening {
            if let rate = line.hostBaudRate { device.setHostBaudRate(rate) }
        }
    }

    /// A central has written to the device, which is about to be told.
    package func noteWrite(_ bytes: [UInt8]) {
        judge?.hear(bytes, at: now, isAnswering: isAnswering, isPacket: true)
    }

    /// Whether it matters that a host flushes its input, which a pseudo-terminal tells in packet mode only.
    package var heedsFlushes: Bool { judge?.heedsFlushes == true }

    /// What was seen of the host until now; nil where nothing is expected of it.
    public func verdict() -> Verdict? { judge?.verdict(at: now) }

    /// Has `handler` see to what faults do to the carrier, on the thread of the host's loop.
    package func onCarrierEvent(_ handler: @escaping @Sendable (CarrierEvent) -> Void) {
        carrierHandlers.append(handler)
    }

    nonisolated func onStepFailure(_ handler: @escaping @Sendable (StepFailure) -> Void) {
        stepHandlers.withLock { $0.append(handler) }
    }

    // MARK: Time

    /// The present instant of the device.
    var now: Duration {
        if case .realTime = pace { elapsed() + skipped } else { instant }
    }

    /// Runs the device until the task is cancelled; returns at once where time goes by on demand.
    public func run() async throws {
        guard case .realTime = pace else { return }
        isRunning = true
        goOn()
        defer {
            isRunning = false
            alarm?.cancel()
        }
        let (never, continuation) = AsyncStream<Never>.makeStream()
        for await _ in never {}
        withExtendedLifetime(continuation) {}
        throw CancellationError()
    }

    /// Has the device do what it now has to do, and sees to it that it is looked at again when it next has something to do.
    func goOn() {
        handOnCarrierEvents()
        guard case .realTime(let clock) = pace else { return settle() }
        guard isRunning else { return }
        alarm?.cancel()
        alarm = nil
        if !isHeldUp { live(to: nextStop) }
        // One that is held up goes on when its clients have taken something.
        guard !isHeldUp else { return }
        let present = now
        let next = device.nextActivity ?? present + .seconds(3600)
        alarm = Alarm(after: next - present, on: clock, loop: loop) { [weak self] in
            self?.assumeIsolated { $0.goOn() }
        }
    }

    /// How far the device is run in one go: up to the present, but one activity at a time where it may be held up.
    private var nextStop: Duration {
        let present = now
        return hasFlowControl ? min(present, device.nextActivity ?? present) : present
    }

    /// Runs the device up to the present, or until it is held up.
    private func catchUp() {
        let present = now
        while !isHeldUp {
            let stop = hasFlowControl ? min(present, device.nextActivity ?? present) : present
            live(to: stop)
            if stop == present { return }
        }
    }

    /// Runs the device until it has answered all that it received.
    private func settle() {
        while !device.isQuiescent, !isHeldUp, let next = device.nextActivity {
            instant = max(instant, next)
            live(to: instant)
        }
    }

    /// Whether a client has yet to take so much that the device waits for it.
    var isHeldUp: Bool {
        guard hasFlowControl else { return false }
        return lines.values.contains { !$0.isCutOff && $0.outbox.count >= ClientLine.highWater }
            || listeners.contains(where: \.isFull)
    }

    /// Lets `duration` count as gone by.
    func skip(_ duration: Duration) {
        if case .realTime = pace { skipped += duration } else { instant += duration }
    }

    /// Has the device live up to an instant, and hands on what it says and does.
    func live(to instant: Duration) {
        // Step by step until a reply has ended: what is unasked may follow it at once.
        while judge?.awaitsReply == true, let next = device.nextActivity, next < instant { step(to: next) }
        step(to: instant)
    }

    private func step(to instant: Duration) {
        noteBaudRates()
        send(device.advance(to: instant))
        handOnCarrierEvents()
        if !device.owesReply { judge?.noteQuiet() }
    }

    private func handOnCarrierEvents() {
        for event in device.takeCarrierEvents() { for handle in carrierHandlers { handle(event) } }
        for failure in device.takeStepFailures() {
            judge?.note(failure)
            for handle in stepHandlers.withLock(\.self) { handle(failure) }
        }
    }

    private func send(_ emissions: [Emission]) {
        guard !emissions.isEmpty else { return }
        if judge != nil {
            // What nobody hears is nothing to react to.
            for emission in emissions where isHeard(emission) {
                judge?.say(emission.bytes, at: emission.time, isPacket: emission.output != nil)
            }
        }
        for listener in listeners { lostBytes += listener.take(emissions) }
        for id in lines.keys {
            // What leaves by another output is for listeners.
            for emission in emissions where emission.output == nil { lostBytes += lines[id]?.put(emission.bytes) ?? 0 }
            guard let line = lines[id], line.writer == nil, !line.outbox.isEmpty else { continue }
            lines[id]?.writer = Task(executorPreference: loop) { await self.write(to: id) }
        }
    }

    private func isHeard(_ emission: Emission) -> Bool {
        emission.output == nil
            ? lines.values.contains(where: \.isListening) : listeners.contains { $0.hears(emission) }
    }

    private func write(to id: LineID) async {
        while !Task.isCancelled, let line = lines[id], !line.outbox.isEmpty {
            lines[id]?.outbox = []
            lines[id]?.underWay = line.outbox.count
            if hasFlowControl { goOn() }
            // Its end is told to the receiver.
            do { try await write(line.outbox, to: id, by: line.channel) } catch { break }
        }
        // A writer that was cancelled has given up its place; another may have it.
        if !Task.isCancelled { lines[id]?.writer = nil }
    }

    /// Writes piece by piece, so that it is seen whether a client reads at all.
    private func write(_ bytes: [UInt8], to id: LineID, by channel: DescriptorChannel) async throws(DescriptorError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(ClientLine.pieceLength)
            try await channel.write(Array(piece))
            rest = rest.dropFirst(piece.count)
            if Task.isCancelled { return }
            lines[id]?.noteTaken(piece.count)
            wakeWaiters()
        }
    }

    // MARK: The device

    /// Does something to the device at the present instant, as press its button. The device has lived up to then, unless it
    /// waits for a client.
    public func change<Value: Sendable>(_ body: @Sendable (inout Device, Duration) -> Value) -> Value {
        if isRunning { catchUp() }
        let value = body(&device, now)
        goOn()
        return value
    }
}

/// Takes what a device says, on the thread of the host's loop.
package protocol EmissionListener: AnyObject, Sendable {
    /// - Returns: How many bytes are lost because it has no room for them.
    func take(_ emissions: [Emission]) -> Int
    /// Whether an emission reaches anybody through it.
    func hears(_ emission: Emission) -> Bool
    /// Whether so much waits that a device with flow control waits too.
    var isFull: Bool { get }
}
