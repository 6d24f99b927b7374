public import DescriptorIO
public import SerialPort
internal import Synchronization

/// Runs a simulated device against a clock, and connects it to the lines of its clients.
///
/// The protocols call the program that uses a device its host. That program is a client here.
///
///     let host = DeviceHost(PumpFirmware(), pace: .realTime(ContinuousClock()))
///     await host.attach(channel)
///     try await host.run()
///
/// The device's output goes to every client, and the bytes of any client go to the device.
public actor DeviceHost<Device: SimulatedDevice> {
    /// The pace of simulated time.
    public enum Pace: Sendable {
        /// Simulated time follows the clock, and the line is paced to its baud rate.
        case realTime(any Clock<Duration>)
        /// Simulated time jumps ahead as far as needed to answer received bytes, and stands still otherwise, until
        /// ``DeviceHost/advance(by:)``. For tests.
        case onDemand
    }

    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    package nonisolated let loop: EventLoop
    let pace: Pace
    private let hasFlowControl: Bool
    /// Returns the time since the creation of this host by the clock of ``pace``; zero if time passes on demand.
    private let elapsed: @Sendable () -> Duration
    private(set) var device: Device
    /// The instant that the device has reached, if time passes on demand.
    private var instant = Duration.zero
    /// The time skipped by ``advance(by:)``, if time follows a clock.
    private var skipped = Duration.zero
    var lines: [LineID: ClientLine] = [:]
    private var lastLineID: UInt64 = 0
    /// The receivers of output besides the lines: the server that offers the device over BLE.
    private(set) var listeners: [any EmissionListener] = []
    /// The handlers of carrier events, one for each carrier.
    private var carrierHandlers: [@Sendable (CarrierEvent) -> Void] = []
    private var judge: HostJudge?
    /// The functions that ``catchUp()`` calls, one for each server.
    private var inputReaders: [@Sendable () async -> Void] = []
    /// The path or address at which ``serve(at:onEvent:)`` offers the device; nil if it does not.
    var port: String?
    /// The handlers of failed scenario steps.
    private let stepHandlers = Mutex<[@Sendable (StepFailure) -> Void]>([])
    /// Whether ``run()`` is running. Only then does the device follow the clock.
    private var isRunning = false
    /// The alarm for the device's next activity.
    private var alarm: Alarm?
    /// The calls of ``advance(by:)`` that wait for clients or listeners to take output.
    var waiters: [UInt64: CheckedContinuation<Bool, Never>] = [:]
    /// The latest key of ``waiters``.
    var lastWaiter: UInt64 = 0
    /// The number of times that a listener had room again.
    var listenerTurns: UInt64 = 0
    /// Whether listeners took nothing for so long that ``advance(by:)`` no longer waits for them.
    var areListenersStalled = false
    /// The number of bytes lost because clients or the radio took output too slowly.
    public private(set) var lostBytes = 0

    /// Identifies a client's line.
    public struct LineID: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    /// Creates a host for `device`. Simulated time begins now.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - pace: The passing of time for the device.
    ///   - judge: Judges the program that uses the device; nil if nothing is expected of that program.
    ///   - hasFlowControl: Whether the device stands still while 64 KiB or more of its output wait for a client, as RTS
    ///     and CTS make it do. Without flow control, output for a client that is too slow is lost in the end, as on a
    ///     line of three wires.
    ///   - loop: The event loop on which the device runs.
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

    /// Connects a client's line to the device. The channel must be on the loop of this host. The line is forgotten when
    /// the client leaves.
    ///
    /// - Parameters:
    ///   - channel: This end of the line.
    ///   - isListening: Whether the client has the line open from the start. If not, output reaches the client only
    ///     after ``setListening(_:_:)``, or once the client has sent something.
    ///   - terminal: The pseudo-terminal that the client has open; nil for any other line.
    ///   - onEnd: Called when the client has left, on the thread of the host's loop.
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

    /// Sets whether a client has its line open. Output is lost while the line is closed, as on a real line.
    public func setListening(_ isListening: Bool, _ id: LineID) {
        let came = isListening && lines[id]?.isListening == false
        if isListening { lines[id]?.isListening = true } else { leave(id) }
        if came { device.hostCame(at: now) }
        if came || hasFlowControl { goOn() }
    }

    /// Stops all bytes to and from a client until its line is closed, except output already on its way to the
    /// client.
    package func cutOff(_ channel: DescriptorChannel) {
        for id in lines.keys where lines[id]?.channel === channel { lines[id]?.isCutOff = true }
    }

    /// Records that a client no longer listens.
    private func leave(_ id: LineID) {
        guard lines[id]?.isListening == true else { return }
        lines[id]?.isListening = false
        wakeWaiters()
        guard !lines.values.contains(where: \.isListening) else { return }
        judge?.leave()
        device.lineLeft(at: now)
    }

    /// Passes the device's emissions to `listener` until ``detach(_:)``.
    package func attach(_ listener: any EmissionListener) { listeners.append(listener) }

    package func detach(_ listener: any EmissionListener) {
        listeners.removeAll { $0 === listener }
        listenerHasRoom()
    }

    /// Resumes the device and the calls that wait. A listener calls this function when the listener has room again.
    package func listenerHasRoom() {
        listenerTurns += 1
        areListenersStalled = false
        wakeWaiters()
        if hasFlowControl { goOn() }
    }

    private func receive(_ bytes: [UInt8], from id: LineID) {
        guard lines[id]?.isCutOff == false, let bytes = unpacked(bytes, from: id) else { return }
        // A client that sends has the port open.
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

    /// Whether the device has a command left to handle, or a reply to finish. The LF of a reply does not count, because
    /// its CR has ended the line. Output that a fault repeats does not count either.
    private var isAnswering: Bool {
        guard device.owesReply else { return false }
        // Run a copy of the device ahead, to see whether only an LF is left, which takes 8.3 ms at 1200 baud.
        var later = device
        let rest = later.advance(to: now + .milliseconds(10)).filter { !$0.isRepetition }.flatMap(\.bytes)
        return later.owesReply || rest.contains { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
    }

    /// Returns the client's bytes without the status byte of packet mode; nil if nothing follows the status byte.
    private func unpacked(_ bytes: [UInt8], from id: LineID) -> [UInt8]? {
        guard lines[id]?.isInPacketMode == true, let status = bytes.first else { return bytes }
        if PacketStatus(rawValue: status).contains(.flushedInput) {
            if isRunning { catchUp() }
            judge?.flush(at: now, isAnswering: isAnswering)
        }
        return bytes.count > 1 ? Array(bytes[1...]) : nil
    }

    /// Passes the baud rate of each listening client to the device, if the device uses it.
    private func noteBaudRates() {
        guard device.heedsHostBaudRate else { return }
        for line in lines.values where line.isListening {
            if let rate = line.hostBaudRate { device.setHostBaudRate(rate) }
        }
    }

    /// Whether flushes of a client's input matter. A pseudo-terminal reports flushes in packet mode only.
    package var heedsFlushes: Bool { judge?.heedsFlushes == true }

    /// Returns the verdict on the program that uses the device, up to now; nil if nothing is expected of that program and
    /// no scenario step has failed.
    ///
    /// Bytes that the program sent before the call count, even if the program has ended in the meantime.
    public func verdict() async -> Verdict? {
        await catchUp()
        guard let judge else { return nil }
        let verdict = judge.verdict(at: now)
        return judge.expectsNothing && verdict.count == 0 ? nil : verdict
    }

    /// Reads the input that clients have sent so far, for the verdict. A client may have sent it and left before the
    /// device's server has noticed the client. Does nothing without a judge.
    ///
    /// The synchronous function of the same name runs the device instead.
    func catchUp() async {
        if judge != nil { for read in inputReaders { await read() } }
    }

    /// Adds a function for ``catchUp()`` that reads the input from the clients of one server.
    func onCatchUp(_ read: @escaping @Sendable () async -> Void) { inputReaders.append(read) }

    /// Calls `handler` for each carrier event of the device, on the thread of the host's loop.
    package func onCarrierEvent(_ handler: @escaping @Sendable (CarrierEvent) -> Void) {
        carrierHandlers.append(handler)
    }

    nonisolated func onStepFailure(_ handler: @escaping @Sendable (StepFailure) -> Void) {
        stepHandlers.withLock { $0.append(handler) }
    }

    // MARK: Time

    /// The present instant of simulated time.
    var now: Duration {
        if case .realTime = pace { elapsed() + skipped } else { instant }
    }

    /// Runs the device until the task is cancelled. Returns at once if time passes on demand.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
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

    /// While ``run()`` is running, runs the device up to now, and sets an alarm for its next activity. If time passes
    /// on demand, runs the device until it has answered.
    func goOn() {
        handOnCarrierEvents()
        guard case .realTime(let clock) = pace else { return settle() }
        guard isRunning else { return }
        alarm?.cancel()
        alarm = nil
        if !isHeldUp { live(to: nextStop) }
        // A held-up device goes on when its clients have taken output.
        guard !isHeldUp else { return }
        let present = now
        // Without an activity of the device, any late alarm will do: input and changes call this function too.
        let next = device.nextActivity ?? present + .seconds(3600)
        alarm = Alarm(after: next - present, on: clock, loop: loop) { [weak self] in
            self?.assumeIsolated { $0.goOn() }
        }
    }

    /// The instant to which the device runs in one go: the present, or with flow control the next activity if that is
    /// earlier, because each activity may hold the device up.
    private var nextStop: Duration {
        let present = now
        return hasFlowControl ? min(present, device.nextActivity ?? present) : present
    }

    /// Runs the device up to the present, or until it is held up. Unlike the asynchronous function of the same name,
    /// does not read the clients' input.
    private func catchUp() {
        let present = now
        while !isHeldUp {
            let stop = hasFlowControl ? min(present, device.nextActivity ?? present) : present
            live(to: stop)
            if stop == present { return }
        }
    }

    /// Runs the device until it has answered all that it received, or is held up.
    private func settle() {
        while !device.isQuiescent, !isHeldUp, let next = device.nextActivity {
            instant = max(instant, next)
            live(to: instant)
        }
    }

    /// Whether the device waits for a client or a listener to take output.
    var isHeldUp: Bool {
        guard hasFlowControl else { return false }
        return lines.values.contains { !$0.isCutOff && $0.outbox.count >= ClientLine.highWater }
            || listeners.contains(where: \.isFull)
    }

    /// Advances simulated time by `duration` without running the device.
    func skip(_ duration: Duration) {
        if case .realTime = pace { skipped += duration } else { instant += duration }
    }

    /// Runs the device up to an instant, and passes on its output and its carrier events.
    func live(to instant: Duration) {
        // Go step by step until a reply has ended, because unsolicited output may follow it at once.
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
            // A client can't react to output that does not reach it.
            for emission in emissions where isHeard(emission) {
                judge?.say(emission.bytes, at: emission.time, isPacket: emission.output != nil)
            }
        }
        for listener in listeners { lostBytes += listener.take(emissions) }
        for id in lines.keys {
            // A line gets no notifications, which are for listeners.
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
            // The channel also reports its end to the receiver, so this error needs no handling.
            do { try await write(line.outbox, to: id, by: line.channel) } catch { break }
        }
        // A cancelled writer has given up its place, which may belong to another writer by now.
        if !Task.isCancelled { lines[id]?.writer = nil }
    }

    /// Writes piece by piece, which shows whether a client reads at all.
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

    /// Changes the device at the present instant, for example presses its button. While ``run()`` is running, the
    /// device first runs up to that instant, unless it waits for a client.
    public func change<Value: Sendable>(_ body: @Sendable (inout Device, Duration) -> Value) -> Value {
        change(hearing: nil, body)
    }

    /// Changes the device as ``change(_:)`` does, because of an event of a central.
    ///
    /// - Parameter written: The bytes that the central has written, for the judge; nil for any other event.
    package func change<Value: Sendable>(
        hearing written: [UInt8]?, _ body: @Sendable (inout Device, Duration) -> Value
    ) -> Value {
        if isRunning { catchUp() }
        if let written { judge?.hear(written, at: now, isAnswering: isAnswering, isPacket: true) }
        let value = body(&device, now)
        goOn()
        return value
    }
}

/// A receiver of a device's emissions that is no line, such as the server of a device over BLE. Called on the thread of
/// the host's loop.
package protocol EmissionListener: AnyObject, Sendable {
    /// Receives emissions of the device, in order.
    ///
    /// - Returns: The number of bytes lost for lack of room.
    func take(_ emissions: [Emission]) -> Int
    /// Returns whether an emission reaches anybody through this listener.
    func hears(_ emission: Emission) -> Bool
    /// Whether so many bytes wait that a device with flow control waits too.
    var isFull: Bool { get }
}
