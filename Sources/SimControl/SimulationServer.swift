internal import ControlProtocol
public import DescriptorIO
public import FirmwareSim
internal import StrictJSON

/// A Unix socket at which other programs control simulated devices. Each message is a JSON object on a line, as at the
/// socket of pumpctld.
///
/// ```
/// {"do":"turn","arguments":["0.4"],"id":1}
/// {"id":1,"ok":true,"state":{…}}
/// ```
///
/// Only the same user can connect. `packaging/schema/simulation.schema.json` defines the messages.
public actor SimulationServer {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// The longest request in bytes, without its end.
    private static let lineLimit = 1 << 14

    private nonisolated let loop: EventLoop
    /// The family of the simulation, which the greeting names.
    private let family: String
    private let listener: SocketListener
    /// The devices by their numbers, from 1.
    private var devices: [Int: DeviceHandle] = [:]
    /// The families of the devices that are not of ``family``, by device number.
    private var families: [Int: String] = [:]
    private var connections: [DescriptorChannel] = []
    /// A stream without elements. It ends when a client has sent `stop`.
    private let stopping: AsyncStream<Never>
    private let stop: AsyncStream<Never>.Continuation

    /// Begins to listen. Replaces a socket at which no program listens any more.
    ///
    /// - Parameters:
    ///   - family: The family of the simulation, which the greeting names.
    ///   - path: The path of the socket.
    ///   - loop: The event loop of the connections.
    /// - Throws: The errors of `SocketListener.listen`, for example `system` with EADDRINUSE if a program listens at
    ///   that path, or a file is there.
    public static func open(
        for family: String, at path: String, on loop: EventLoop = .shared
    ) async throws(DescriptorError) -> SimulationServer {
        let address = SocketAddress.unix(path: path)
        await SocketListener.removeStale(address, on: loop)
        let listener = try await SocketListener.listen(at: address, mode: 0o600, on: loop)
        let server = SimulationServer(family, listener, on: loop)
        await server.start()
        return server
    }

    private init(_ family: String, _ listener: SocketListener, on loop: EventLoop) {
        self.family = family
        self.listener = listener
        self.loop = loop
        (stopping, stop) = AsyncStream.makeStream()
    }

    /// Puts a device under control.
    ///
    /// - Parameters:
    ///   - device: The handle of the device.
    ///   - number: The number of the device in requests, from 1.
    ///   - family: The family of the device; nil for that of the simulation.
    public func add(_ device: DeviceHandle, number: Int, family: String? = nil) {
        devices[number] = device
        if let family, family != self.family { families[number] = family }
    }

    /// Returns when a client has sent `stop`, or when the task was cancelled.
    public func untilStopped() async { for await _ in stopping {} }

    /// Stops listening, removes the socket unless another program has replaced it, and disconnects clients.
    public func close() async {
        await listener.close()
        for connection in connections { await connection.close() }
        connections = []
    }

    // MARK: Connections

    private func start() { Task(executorPreference: loop) { await self.acceptAll() } }

    private func acceptAll() async {
        while true {
            do throws(DescriptorError) {
                guard let channel = try await listener.accept() else { return }
                connections.append(channel)
                Task(executorPreference: loop) { await self.serve(channel) }
            } catch {
                // Most likely there are no descriptors left. Clients that disconnect will free some.
                guard (try? await EventLoopClock(loop).sleep(for: .milliseconds(100))) != nil else { return }
            }
        }
    }

    private func serve(_ channel: DescriptorChannel) async {
        var lines = JSONLines()
        try? await channel.write(ControlMessage.event("hello", hello))
        // One request at a time, so that a response shows the effects of the requests before it.
        var isTooLong = false
        while !isTooLong, let bytes = try? await channel.read() {
            lines.append(bytes)
            while !isTooLong, let line = lines.next() {
                isTooLong = line.count > Self.lineLimit
                if !isTooLong { await perform(line, for: channel) }
            }
            isTooLong = isTooLong || lines.count > Self.lineLimit
        }
        if isTooLong {
            let failure = ControlFailure.usage("a request has at most \(Self.lineLimit) bytes")
            try? await channel.write(ControlMessage.refusal(of: .null, failure))
        }
        connections.removeAll { $0 === channel }
        await channel.close()
    }

    /// The first message to a client.
    private var hello: [String: JSONValue] {
        var hello: [String: JSONValue] = [
            "version": .integer(ControlMessage.version), "family": .text(family), "devices": .integer(devices.count),
        ]
        if !families.isEmpty {
            hello["families"] = .array(devices.keys.sorted().map { .text(families[$0] ?? family) })
        }
        return hello
    }

    // MARK: Requests

    private func perform(_ line: [UInt8], for channel: DescriptorChannel) async {
        let (answer, isEnd) = await answer(to: line)
        try? await channel.write(answer)
        if isEnd { stop.finish() }
    }

    private func answer(to line: [UInt8]) async -> (answer: [UInt8], isEnd: Bool) {
        let request: ControlRequest
        do throws(ControlRequest.Refusal) { request = try ControlRequest(line) } catch {
            return (ControlMessage.refusal(of: error.id, error.failure), false)
        }
        do throws(ControlFailure) {
            let members = try await perform(request)
            return (ControlMessage.response(to: request.id, members), request.verb == "stop")
        } catch {
            return (ControlMessage.refusal(of: request.id, error), false)
        }
    }

    /// Performs a request. Returns the members of the response.
    private func perform(_ request: ControlRequest) async throws(ControlFailure) -> [String: JSONValue] {
        var members = request.arguments
        if request.verb == "verbs" { return try await verbs(&members) }
        let given = try members.texts("arguments") ?? []
        let number = try members.optionalInteger("device")
        try members.end()
        if request.verb == "stop" {
            guard given.isEmpty, number == nil else { throw .usage("'stop' ends all devices, and takes no argument") }
            return await verdict().map { ["verdict": $0] } ?? [:]
        }
        let device = try device(number)
        if request.verb != "state" {
            do throws(DeviceVerbError) { try await device.perform(request.verb, given) } catch {
                guard case .unknown(let verb, _) = error else { throw .usage("\(error)", hint: error.advice) }
                let known = (device.verbs + ["state", "stop", "verbs"]).sorted()
                throw .usage("\(error)", hint: DeviceVerbError.unknown(verb, known: known).advice)
            }
        } else if !given.isEmpty {
            throw .usage("'state' takes no argument")
        }
        return ["state": .object(await device.observe().mapValues(\.json))]
    }

    /// Describes the verbs of a device, which is named by its number, or by the pseudo-terminal that a program has open.
    private func verbs(_ members: inout ControlArguments) async throws(ControlFailure) -> [String: JSONValue] {
        guard try members.texts("arguments") ?? [] == [] else { throw .usage("'verbs' takes no argument") }
        let terminal = try members.optionalText("terminal")
        var number = try members.optionalInteger("device")
        try members.end()
        if let terminal {
            number = await self.number(at: terminal)
            guard number != nil else {
                throw ControlFailure(
                    "no_such_device", "no program has the terminal \(terminal) of a device open",
                    hint: "open the device's port first", outcome: "not_sent")
            }
        }
        let outlines = try await device(number).outlines().filter { !$0.namesFile }
        return ["device": .integer(number ?? 1), "verbs": .array(outlines.map(\.json))]
    }

    /// Returns the number of the device that is used through the pseudo-terminal with this ID; nil if there is none, or
    /// if no program has the terminal open.
    private func number(at terminal: String) async -> Int? {
        for (number, device) in devices where await device.openTerminal().map({ "\($0)" }) == terminal {
            return number
        }
        return nil
    }

    /// Returns the verdict on the hosts of all devices; nil if nothing is expected of them.
    private func verdict() async -> JSONValue? {
        var (findings, untested, count): ([JSONValue], [JSONValue], Int) = ([], [], 0)
        var isJudged = false
        for (number, device) in devices.sorted(by: { $0.key < $1.key }) {
            guard let verdict = await device.verdict() else { continue }
            isJudged = true
            count += verdict.count
            findings += verdict.findings.map { $0.json(number) }
            untested += verdict.untested.map { .object(["device": .integer(number), "expectation": .text($0)]) }
        }
        guard isJudged else { return nil }
        return .object([
            "passed": .boolean(count == 0 && untested.isEmpty), "count": .integer(count), "findings": .array(findings),
            "untested": .array(untested),
        ])
    }

    /// Returns the device of a number. If there is only one device, the number may be missing.
    private func device(_ number: Int?) throws(ControlFailure) -> DeviceHandle {
        if number == nil, devices.count > 1 {
            throw .usage("there are \(devices.count) devices", hint: "name one by its number: 1 to \(devices.count)")
        }
        guard let device = devices[number ?? 1] else {
            throw ControlFailure(
                "no_such_device", "there is no device \(number ?? 1)", hint: "use a number from 1 to \(devices.count)",
                outcome: "not_sent")
        }
        return device
    }
}

extension Verdict.Finding {
    fileprivate func json(_ device: Int) -> JSONValue {
        .object([
            "device": .integer(device), "expectation": .text(expectation), "time_s": .number(time / .seconds(1)),
            "detail": .text(detail),
        ])
    }
}

extension ObservedValue {
    fileprivate var json: JSONValue {
        switch self {
        case .text(let text): .text(text)
        case .integer(let number): .integer(number)
        case .number(let number): .number(number)
        case .boolean(let isSo): .boolean(isSo)
        }
    }
}
