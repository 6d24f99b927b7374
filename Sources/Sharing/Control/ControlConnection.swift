internal import ControlProtocol
internal import DescriptorIO
internal import DeviceKit
internal import LineProtocol
internal import Transports

/// One program that has devices by their names: it sends requests, and is told the responses and events.
///
/// Its requests are attended to at the same time, each answered when it is done. Once it has attached to a device, its
/// connection carries the lines of that device.
actor ControlConnection {
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// The longest request in bytes, without its end.
    static let lineLimit = 1 << 14
    /// How many requests may be under way at once; and beside them as many that make a device safe.
    static let requestLimit = 16
    /// How long a line may take from its first byte to its end.
    static let linePatience = Duration.seconds(5)
    /// How long a program that has left may take nothing of what waits for it.
    private static let patience = Duration.seconds(10)

    private enum Mode {
        case requests
        /// It has asked for a device: what it sends from now on may be for that.
        case attaching
        case attached(SharedDevice, ClientID)
        case over
    }

    /// What the log and other programs call it.
    nonisolated let name: String
    nonisolated let loop: EventLoop
    let devices: [SharedDevice]
    private let channel: DescriptorChannel
    private let clock: any Clock<Duration>
    private let report: @Sendable (SharingReport.Event) -> Void
    /// Whether it came when as many were there as may be: it may make devices safe and ask, for a short time.
    private let isExtra: Bool
    private let output: LineClient
    private var onEnd: (@Sendable () -> Void)?

    private var mode = Mode.requests
    private var lines = RequestLines()
    private var lineTimer: Task<Void, Never>?
    private var hasEnded = false
    /// How many requests are under way, and how many that make a device safe.
    private var (requestCount, stopCount) = (0, 0)
    /// How many times it has asked for a device to be made safe, by the device's name.
    var stops: [String: Int] = [:]

    init(
        _ channel: DescriptorChannel, _ name: String, _ devices: [SharedDevice], isExtra: Bool, on loop: EventLoop,
        clock: any Clock<Duration>, report: @escaping @Sendable (SharingReport.Event) -> Void
    ) {
        self.channel = channel
        self.name = name
        self.devices = devices
        self.isExtra = isExtra
        self.loop = loop
        self.clock = clock
        self.report = report
        output = LineClient(ClientID(number: 0), name, .connection, channel, ClientFramer(.lines, lineLimit: 1))
    }

    // MARK: Life

    /// Greets the program and begins to listen.
    ///
    /// - Parameter onEnd: Called once it has left, and nothing is under way for it.
    func open(onEnd: @escaping @Sendable () -> Void) async {
        self.onEnd = onEnd
        report(.came(name))
        say(
            ControlMessage.event(
                "hello",
                [
                    "version": .integer(ControlMessage.version),
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
        // The device sees to one that has it by its lines.
        guard case .requests = mode else { return }
        say(ControlMessage.refusal(of: .null, .full))
        drop(for: LineClient.Offence.noPlace.rawValue)
    }

    /// Hangs up.
    func close() async {
        // The device of one that is attached finds out by the end of its input.
        if case .attached = mode {} else { end() }
        await channel.close()
    }

    /// It says nothing more. One that has only ended its own direction still gets the responses to what it has asked.
    private func endInput() {
        hasEnded = true
        switch mode {
        case .requests: hangUpIfDone()
        case .attached(let device, let id):
            end()
            device.assumeIsolated { $0.endInput(of: id) }
        case .attaching, .over: break
        }
    }

    /// Whether it can still be told anything.
    var isThere: Bool { channel.assumeIsolated { $0.isOpen } }

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

    private func drop(for reason: String) {
        if case .over = mode { return }
        report(.dropped(name, reason))
        end()
        output.fallSilent()
        Task(executorPreference: loop) { await self.channel.close() }
    }

    private func end() {
        if case .over = mode { return }
        mode = .over
        lineTimer?.cancel()
        endSubscriptions()
        report(.left(name))
        onEnd?()
        onEnd = nil
    }

    // MARK: What it sends

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

    /// Sees to it that a line that was begun is ended in time: a program that hangs must not hold a place for ever.
    private func limitLine(isNew: Bool) {
        if isNew || lines.count == 0 {
            lineTimer?.cancel()
            lineTimer = nil
        }
        guard lines.count > 0, lineTimer == nil else { return }
        lineTimer = Task(executorPreference: loop) { [clock] in
            guard (try? await clock.sleep(for: Self.linePatience)) != nil else { return }
            await self.drop(for: "it has not ended a line that it began")
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
        if isExtra, case .line(_, let line) = verb, line.mayChange {
            return say(ControlMessage.refusal(of: id, .full))
        }
        // What makes a device safe must get through to it beside any number of other requests.
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

    /// Tells it `line`, if it is still there.
    func say(_ line: [UInt8]) {
        if case .over = mode { return }
        if !output.tell(line) { drop(for: LineClient.Offence.doesNotRead.rawValue) }
    }

    // MARK: Attaching

    private func beginAttaching(to device: SharedDevice, _ id: JSONValue) {
        // Their responses would come between the lines of the device.
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

    /// The device is away: the connection goes on with requests.
    private func stayDetached(_ refusal: [UInt8]) {
        guard case .attaching = mode else { return }
        mode = .requests
        say(refusal)
        takeLines()
        hangUpIfDone()
    }

    /// What comes from now on is for the device, and so is what has come behind the request.
    private func endAttaching(_ device: SharedDevice, _ client: ClientID) {
        guard case .attaching = mode else { return device.assumeIsolated { $0.endInput(of: client) } }
        mode = .attached(device, client)
        let rest = lines.takeAll()
        if !rest.isEmpty { device.assumeIsolated { $0.hear(rest, client) } }
        if hasEnded { endInput() }
    }
}
