internal import ControlProtocol
internal import DescriptorIO
internal import SerialPort
internal import StrictJSON

/// A connection to the simulator of a device, at its control socket.
///
/// No real device is taken for a simulated one: its port must be a pseudo-terminal, the program at the other end of
/// that terminal must listen at a Unix socket, and there it must have a device that is used through this very terminal,
/// by file system and number. Sockets with other names than `….control` are left alone: a program such as socat may
/// accept one connection only, and a test connection would use it up.
struct SimulatorConnection {
    /// The time limits for an answer to an action, and for finding out whether a program is a simulator.
    private static let (patience, openingPatience) = (Duration.seconds(15), Duration.seconds(2))
    /// The end of a control socket's path.
    private static let nameEnd = ".control"
    /// The maximum length of a message in bytes.
    private static let messageLimit = 1 << 18

    /// The verbs of the device, as the simulator describes them.
    private(set) var verbs: [JSONValue] = []
    private let channel: DescriptorChannel
    private let clock: any Clock<Duration>
    private var lines = JSONLines()
    /// The number by which the simulator knows the device.
    private var number = 0

    /// Connects to the simulator of the device at a port; returns nil if there is none.
    static func open(
        behind port: String, on loop: EventLoop, clock: any Clock<Duration>
    ) async -> SimulatorConnection? {
        guard let terminal = PseudoTerminalID(at: port) else { return nil }
        // Reading the open files of all processes may block.
        let sockets = await Task(executorPreference: globalConcurrentExecutor) {
            let processes = terminal.candidates()
            let sockets = processes.isEmpty ? nil : ListeningSockets()
            return processes.flatMap { process in
                (sockets?.paths(of: process) ?? []).filter { $0.hasSuffix(nameEnd) }.map { (process, $0) }
            }
        }.value
        for (process, path) in sockets {
            guard
                let channel = try? await DescriptorChannel.connect(
                    to: .unix(path: path), on: loop, deadline: .now + openingPatience)
            else { continue }
            var connection = SimulatorConnection(channel: channel, clock: clock)
            let isProgram = await (try? channel.peer())?.processID == process
            if isProgram, await connection.find(terminal) { return connection }
            await channel.close()
        }
        return nil
    }

    private init(channel: DescriptorChannel, clock: any Clock<Duration>) {
        (self.channel, self.clock) = (channel, clock)
    }

    func close() async { await channel.close() }

    /// Asks the program at the socket for the simulated device behind a terminal, and keeps the device's number and
    /// verbs. Returns false if the program has no such device, or does not greet as a simulator does. A program with
    /// another greeting is sent nothing.
    private mutating func find(_ terminal: PseudoTerminalID) async -> Bool {
        let timer = limit(Self.openingPatience)
        defer { timer.cancel() }
        guard let hello = await message(), hello["event"] == "hello", hello["family"]?.text != nil,
            await send(["do": "verbs", "terminal": .text(terminal.description)]),
            let answer = await message(), let number = answer["device"]?.integer, let verbs = answer["verbs"]?.elements
        else { return false }
        (self.number, self.verbs) = (number, verbs)
        return true
    }

    /// Returns whether the simulator describes this verb and, if the verb has an option, this option as the first
    /// argument. The simulator itself checks the other arguments.
    func offers(_ verb: String, _ arguments: [String]) -> Bool {
        verbs.contains { row in
            row["name"]?.text == verb && (row["option"] == nil || row["option"]?.text == arguments.first)
        }
    }

    /// Performs a verb, and returns the state that can be seen at the simulated device.
    ///
    /// - Throws: `usage` if the simulator refuses the verb; `no_answer` if its answer does not come.
    mutating func perform(_ verb: String, _ arguments: [String] = []) async throws(ControlFailure) -> JSONValue {
        let timer = limit(Self.patience)
        defer { timer.cancel() }
        let arguments = JSONValue.array(arguments.map(JSONValue.text))
        let isSent = await send(["do": .text(verb), "arguments": arguments, "device": .integer(number)])
        guard isSent, let answer = await message() else {
            throw ControlFailure(
                "no_answer", "the simulator gave no answer; whether '\(verb)' was carried out is unknown",
                hint: "look at the device's state", outcome: verb == "state" ? "nothing_changed" : "unknown")
        }
        if let error = answer["error"] {
            throw .usage(error["message"]?.text ?? "the simulator refused '\(verb)'", hint: error["hint"]?.text)
        }
        return answer["state"] ?? .object([:])
    }

    // MARK: Messages

    /// Closes the connection after some time, unless the returned task is cancelled before.
    private func limit(_ time: Duration) -> Task<Void, Never> {
        Task(executorPreference: channel.loop) { [channel, clock] in
            if (try? await clock.sleep(for: time)) != nil { await channel.close() }
        }
    }

    private func send(_ request: [String: JSONValue]) async -> Bool {
        let line = Array(JSONValue.object(request.merging(["id": 1]) { $1 }).bytes) + [UInt8(ascii: "\n")]
        return (try? await channel.write(line)) != nil
    }

    /// Waits for the next message; nil if the connection has ended, or if the line is no object.
    private mutating func message() async -> JSONValue? {
        while lines.count <= Self.messageLimit {
            if let line = lines.next() {
                guard let message = try? JSONValue(line, size: .max), message.isObject else { return nil }
                return message
            }
            guard let bytes = (try? await channel.read()) ?? nil else { return nil }
            lines.append(bytes)
        }
        return nil
    }
}
