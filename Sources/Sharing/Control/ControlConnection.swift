internal import CVersion
internal import ControlProtocol
internal import DescriptorIO
internal import DeviceKit
internal import LineProtocol
internal import StrictJSON
internal import Transports

/// A connection of a program on the control socket, which receives requests and sends responses and events.
///
/// Requests are handled concurrently, and each is answered when it is done. After a successful `attach`, the connection
/// carries the lines of the device instead.
actor ControlConnection {
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// The maximum length of a request in bytes, without its line end.
    static let lineLimit = 1 << 14
    /// The maximum number of requests in flight. Stop requests and transfers are counted separately, each with the same
    /// limit.
    static let requestLimit = 16
    /// The time limit of a request line, from its first byte to its end.
    static let linePatience = Duration.seconds(5)
    /// The longest wait for a program that reads nothing of its pending responses.
    static let patience = Duration.seconds(10)

    private enum Mode {
        case requests
        /// An `attach` request is in progress. Further input may be for the device.
        case attaching
        /// The program is a client of this device.
        case attached(SharedDevice, ClientID)
        /// The connection has ended, or is being closed. Further input is ignored.
        case over
    }

    /// The program's name in the log and in events for other programs.
    nonisolated let name: String
    nonisolated let loop: EventLoop
    let devices: [SharedDevice]
    let history: HistoryReading
    let surroundings: Surroundings
    private let channel: DescriptorChannel
    let clock: any Clock<Duration>
    private let report: @Sendable (SharingReport.Event) -> Void
    /// Whether the program was admitted above the client limit. Requests that may change a device are refused to such a
    /// program, and it is disconnected after ``SharedDevice/patience``.
    private let isExtra: Bool
    /// Whether the time of a program above the client limit is over.
    private var isTimeOver = false
    /// The queue of output to the program. The input queue and the framer of this object are not used: ``lines`` splits
    /// the input.
    let output: LineClient
    private var onEnd: (@Sendable () -> Void)?

    private var mode = Mode.requests
    /// The input that was not handled yet.
    private var lines = JSONLines()
    /// Disconnects the program if it does not complete a line in time; nil if no line has begun.
    private var lineTimer: Task<Void, Never>?
    /// Whether the input has ended.
    private var hasEnded = false
    /// The numbers of requests and of stop requests in flight.
    private var (requestCount, stopCount) = (0, 0)
    /// The number of stop requests that this program has sent so far, by the device's name. A request that waits for
    /// the link fails as overtaken if this number has grown since the request arrived.
    var stops: [String: Int] = [:]
    /// The transfers whose result is not known yet.
    var transfers: [Transfer] = []
    /// The number of transfers under way, including cancelled ones that the device has not finished yet.
    var fetchCount = 0

    init(
        _ channel: DescriptorChannel, _ name: String, _ devices: [SharedDevice], _ history: HistoryReading,
        _ surroundings: Surroundings,
        isExtra: Bool, on loop: EventLoop, clock: any Clock<Duration>,
        report: @escaping @Sendable (SharingReport.Event) -> Void
    ) {
        self.channel = channel
        self.name = name
        self.devices = devices
        self.history = history
        self.surroundings = surroundings
        self.isExtra = isExtra
        self.loop = loop
        self.clock = clock
        self.report = report
        output = LineClient(ClientID(number: 0), name, .connection, channel, ClientFramer(.lines, lineLimit: 1))
    }

    // MARK: Life

    /// Greets the program and starts to read.
    ///
    /// - Parameter onEnd: Called once, when the connection has ended.
    func open(onEnd: @escaping @Sendable () -> Void) async {
        self.onEnd = onEnd
        report(.came(name))
        say(
            ControlMessage.event(
                "hello",
                [
                    "version": .integer(ControlMessage.version),
                    "program_version": .text(String(cString: cversion())),
                    "devices": .array(devices.map { .text($0.settings.name) }),
                ]))
        if isExtra {
            Task(executorPreference: loop) { [weak self, clock] in
                guard (try? await clock.sleep(for: SharedDevice.patience)) != nil else { return }
                await self?.endExtra()
            }
        }
        await channel.forward { arrival in
            self.assumeIsolated { connection in
                if case .success(let bytes?) = arrival { connection.hear(bytes) } else { connection.endInput() }
            }
        }
    }

    private func endExtra() {
        isTimeOver = true
        // An attached client is disconnected by the device, SharedDevice.endExtra(_:), and a program whose attaching
        // fails by stayDetached(_:).
        guard case .requests = mode else { return }
        say(ControlMessage.refusal(of: .null, .full))
        drop(for: LineClient.Offence.noPlace.rawValue)
    }

    /// Closes the connection.
    func close() async {
        // If the program is attached, its device disconnects it when closing the channel ends the program's input.
        if case .attached = mode {} else { end() }
        await channel.close()
    }

    /// Handles the end of input. A program that only shut down its sending direction still gets its pending responses.
    private func endInput() {
        hasEnded = true
        if !isThere { cancelTransfers() }
        switch mode {
        case .requests: hangUpIfDone()
        case .attached(let device, let id):
            end()
            device.assumeIsolated { $0.endInput(of: id) }
        case .attaching, .over: break
        }
    }

    /// Whether the program can still receive anything.
    var isThere: Bool { channel.assumeIsolated { $0.isOpen } }

    /// Closes the connection if its input has ended and all requests were answered: once the kernel has taken the
    /// pending output, or after ``patience``.
    private func hangUpIfDone() {
        guard hasEnded, case .requests = mode, requestCount + stopCount == 0 else { return }
        end()
        Task(executorPreference: loop) { [loop, clock, channel, output] in
            let timer = Task(executorPreference: loop) {
                if (try? await clock.sleep(for: Self.patience)) != nil { await channel.close() }
            }
            await output.finish()
            timer.cancel()
            await channel.close()
        }
    }

    /// Disconnects the program at once; pending output is discarded.
    private func drop(for reason: String) {
        if case .over = mode { return }
        report(.dropped(name, reason))
        end()
        output.fallSilent()
        Task(executorPreference: loop) { await self.channel.close() }
    }

    /// Ends the handling of requests, the transfers and the subscriptions. The caller closes the channel.
    private func end() {
        if case .over = mode { return }
        mode = .over
        lineTimer?.cancel()
        cancelTransfers()
        endSubscriptions()
        report(.left(name))
        onEnd?()
        onEnd = nil
    }

    // MARK: Input

    private func hear(_ bytes: [UInt8]) {
        switch mode {
        case .requests, .attaching:
            lines.append(bytes)
            takeLines()
        case .attached(let device, let id): device.assumeIsolated { $0.hear(bytes, id) }
        case .over: break
        }
    }

    private func takeLines() {
        var hasTakenLine = false
        while case .requests = mode, let line = lines.next() {
            hasTakenLine = true
            if line.count > Self.lineLimit { return drop(for: LineClient.Offence.longLine.rawValue) }
            take(line)
        }
        switch mode {
        case .requests where lines.count > Self.lineLimit: drop(for: LineClient.Offence.longLine.rawValue)
        case .requests: limitLine(isNew: hasTakenLine)
        case .attaching where lines.count > LineClient.incomingLimit: drop(for: LineClient.Offence.flood.rawValue)
        case .attaching, .attached, .over: lineTimer?.cancel()
        }
    }

    /// Starts or stops the time limit of an incomplete line: a program that hangs must not occupy a connection for
    /// ever.
    ///
    /// - Parameter isNew: Whether an earlier line was completed, so that the time of the incomplete one begins now.
    private func limitLine(isNew: Bool) {
        if isNew || lines.count == 0 {
            lineTimer?.cancel()
            lineTimer = nil
        }
        guard lines.count > 0, lineTimer == nil else { return }
        lineTimer = Task(executorPreference: loop) { [clock] in
            guard (try? await clock.sleep(for: Self.linePatience)) != nil else { return }
            await self.drop(for: "the client did not complete a line in time")
        }
    }

    private func take(_ line: [UInt8]) {
        do throws(ControlRequest.Refusal) {
            let request = try ControlRequest(line)
            do throws(ControlFailure) { begin(try verb(of: request), request.id) } catch {
                say(ControlMessage.refusal(of: request.id, error))
            }
        } catch {
            say(ControlMessage.refusal(of: error.id, error.failure))
        }
    }

    private func begin(_ verb: ControlVerb, _ id: JSONValue) {
        if case .attach(let device) = verb { return beginAttaching(to: device, id) }
        if isExtra, verb.mayChange { return say(ControlMessage.refusal(of: id, .full)) }
        // A stop request must get through despite any number of other requests.
        let isStop = verb.isStop
        guard (isStop ? stopCount : requestCount) < Self.requestLimit else {
            let failure = ControlFailure(
                "too_many_requests", "\(Self.requestLimit) requests are under way",
                hint: "wait for a response first", outcome: "not_sent")
            return say(ControlMessage.refusal(of: id, failure))
        }
        if isStop { stopCount += 1 } else { requestCount += 1 }
        Task.immediate(executorPreference: loop) {
            do throws(ControlFailure) {
                let members = try await self.perform(verb)
                _ = await self.output.hasRoom(within: Self.patience, by: self.clock)
                self.say(ControlMessage.response(to: id, members))
            } catch {
                self.say(ControlMessage.refusal(of: id, error))
            }
            if isStop { self.stopCount -= 1 } else { self.requestCount -= 1 }
            self.hangUpIfDone()
        }
    }

    /// Sends a line, unless the connection has ended. A program that does not read is disconnected.
    func say(_ line: [UInt8]) {
        if case .over = mode { return }
        if !output.tell(line) { drop(for: LineClient.Offence.doesNotRead.rawValue) }
    }

    // MARK: Attaching

    private func beginAttaching(to device: SharedDevice, _ id: JSONValue) {
        // The responses to other requests would end up between the lines of the device.
        guard requestCount + stopCount == 0 else {
            let failure = ControlFailure.usage(
                "other requests are under way", hint: "wait for their responses before 'attach'")
            return say(ControlMessage.refusal(of: id, failure))
        }
        mode = .attaching
        Task.immediate(executorPreference: loop) { await self.attach(to: device, id) }
    }

    private func attach(to device: SharedDevice, _ id: JSONValue) async {
        endSubscriptions()
        await output.finish()
        let greeting = ControlMessage.response(
            to: id,
            [
                "device": .text(device.settings.name), "family": .text(device.settings.family.name),
                "endpoint": .text(device.settings.endpoint.text),
            ])
        let client = await device.attach(channel, name, isExtra: isExtra, saying: greeting)
        guard let client else { return stayDetached(ControlMessage.refusal(of: id, ControlFailure(.away, device))) }
        endAttaching(device, client)
    }

    /// Returns to the handling of requests, because the device is away.
    private func stayDetached(_ refusal: [UInt8]) {
        guard case .attaching = mode else { return }
        mode = .requests
        say(refusal)
        if isTimeOver { return endExtra() }
        takeLines()
        hangUpIfDone()
    }

    /// Passes the bytes that followed the request, and all further input, to the device.
    private func endAttaching(_ device: SharedDevice, _ client: ClientID) {
        guard case .attaching = mode else { return device.assumeIsolated { $0.endInput(of: client) } }
        mode = .attached(device, client)
        let rest = lines.takeAll()
        if !rest.isEmpty { device.assumeIsolated { $0.hear(rest, client) } }
        if hasEnded { endInput() }
    }
}
