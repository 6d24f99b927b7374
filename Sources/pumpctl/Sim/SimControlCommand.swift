import ArgumentParser
import DescriptorIO
import DeviceKit
import Glibc
import LineProtocol
import StrictJSON
import Synchronization

struct SimControlCommand: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "ctl",
        abstract: "Control a simulated device while it runs.",
        discussion: """
            Controls a simulator that was started with --control PATH or --wait. 'verbs' lists the verbs of the device, 'state' \
            prints its visible state, 'advance TIME' advances its clock without waiting, 'reset' resets the board, 'fault FAULTS' \
            changes the faults, 'set OPTION VALUE' changes an option, and 'stop' ends the simulator. A pump also has press, turn \
            POSITION (0 to 1), temperature PROBE CELSIUS, and probe PROBE CONDITION; a storm sensor has measure, an LED board \
            light on|off, a peer say MESSAGE and toggle, a phone write CATEGORY MESSAGE, a BLE module connect, central TEXT and \
            disconnect.
            """,
        example: "pumpctl sim ctl /tmp/pump.control temperature skin 41")

    /// The default time limit of a request. To advance its clock by several days, a simulator needs some time.
    private static let patience = Duration.seconds(60)

    @OptionGroup var own: JSONAndTimeoutOptions
    var shared: SharedOptions { own.shared }

    @Option(help: ArgumentHelp("The number of the device, from 1.", valueName: "number"))
    var device: Int?

    @Argument(help: ArgumentHelp("The path of the simulator's control socket."))
    var path: String

    @Argument(help: "The verb.")
    var verb: String

    @Argument(help: "The arguments of the verb.")
    var arguments: [String] = []

    /// Runs the command, and exits with 2 if a verdict is negative. Replaces the default implementation, since
    /// ``run(in:)`` can't return an exit status.
    func run() throws {
        try CommandRunner.runToStatus(shared) { try await perform(in: $0).rawValue }
    }

    func run(in context: CommandContext) async throws { _ = try await perform(in: context) }

    private func perform(in context: CommandContext) async throws -> ExitStatus {
        var request: [String: JSONValue] = [
            "id": 1, "do": .text(verb), "arguments": .array(arguments.map(JSONValue.text)),
        ]
        request["device"] = device.map(JSONValue.integer)
        let response = try await response(to: JSONValue.object(request), in: context)
        if let verdict = response["verdict"] { return conclude(verdict, context.output) }
        if let verbs = response["verbs"]?.elements {
            list(verbs, context.output)
            return .done
        }
        guard let state = response["state"]?.dictionary else {
            context.output.result("ok", ["ok": true] as ResultRecord)
            return .done
        }
        if context.output.isJSON {
            context.output.draw(JSONValue.object(state.merging(["ok": true]) { $1 }).json.printableInJSON() + "\n")
        } else {
            for (key, value) in state.sorted(by: { $0.key < $1.key }) {
                context.output.text("\(key): \(value.text ?? value.json)".printable())
            }
        }
        return .done
    }

    /// Prints the verbs of a device with their arguments.
    private func list(_ verbs: [JSONValue], _ output: Output) {
        if output.isJSON {
            return output.draw(JSONValue.object(["ok": true, "verbs": .array(verbs)]).json.printableInJSON() + "\n")
        }
        for verb in verbs {
            let arguments = (verb["arguments"]?.elements ?? []).map { $0["name"]?.text?.uppercased() ?? "" }
            let words = [verb["name"]?.text ?? "", verb["option"]?.text].compactMap(\.self)
            // The argument of 'set' has the name of the option.
            let call = words + (words.count > 1 ? ["VALUE"] : arguments)
            output.text("\(call.joined(separator: " ")): \(verb["summary"]?.text ?? "")".printable())
        }
    }

    /// Prints the verdict on the programs that used the devices. Returns `checkFailed` if a rule was broken or never
    /// tested, or if a step failed.
    private func conclude(_ verdict: JSONValue, _ output: Output) -> ExitStatus {
        if output.isJSON {
            let record = JSONValue.object(["ok": verdict["passed"] ?? false, "verdict": verdict])
            output.draw(record.json.printableInJSON() + "\n")
        } else if verdict["passed"] == true {
            output.text("the host met all expectations")
        } else {
            for finding in verdict["findings"]?.elements ?? [] {
                let (rule, detail) = (finding["expectation"]?.text ?? "", finding["detail"]?.text ?? "")
                output.text("at \(finding["time_s"]?.json ?? "?") s: \(rule): \(detail)".printable())
            }
            for rule in verdict["untested"]?.elements ?? [] {
                output.text("\(rule["expectation"]?.text ?? ""): was not tested".printable())
            }
        }
        return verdict["passed"] == true ? .done : .checkFailed
    }

    /// Sends a request, within `--timeout`, and returns the simulator's response.
    private func response(to request: JSONValue, in context: CommandContext) async throws -> JSONValue {
        let time = context.options.timeout?.duration ?? Self.patience
        let answer = Mutex(JSONValue.null)
        let hasEnded = try await context.run(for: time) {
            let response = try await Self.ask(request, at: path, context.loop)
            answer.withLock { $0 = response }
        }
        guard hasEnded else {
            throw Failure(
                .temporaryFailure, code: "no_answer",
                "\(path): no answer in \(time.inSeconds) s; whether the request was carried out is unknown",
                hint: "raise --timeout, or end the simulator")
        }
        return answer.withLock(\.self)
    }

    /// Sends a request to a simulator and returns its response.
    ///
    /// - Parameters:
    ///   - path: The path of the control socket. Connecting to it may take 10 s.
    ///   - limit: The time limit for the response, after the connection was made; nil for none. At the limit, the
    ///     connection is closed, and the failure says that it has ended without an answer.
    /// - Throws: `Failure`, also for an error in the response or if the simulator closes the connection;
    ///   `DescriptorError` if the task is cancelled.
    static func ask(
        _ request: JSONValue, at path: String, _ loop: EventLoop, within limit: Duration? = nil
    ) async throws -> JSONValue {
        let channel: DescriptorChannel
        do throws(DescriptorError) {
            channel = try await .connect(to: .unix(path: path), on: loop, deadline: .now + .seconds(10))
        } catch {
            guard let errno = error.errno else { throw error }
            var failure = Failure(file: path, errno: errno)
            if errno == ECONNREFUSED { (failure.status, failure.code) = (ExitStatus.noInput, "not_found") }
            if failure.code == "not_found" { failure.hint = "start a simulator there: pumpctl sim pump --control PATH" }
            throw failure
        }
        let timer = limit.map { limit in
            Task(executorPreference: loop) {
                try await EventLoopClock(loop).sleep(for: limit)
                await channel.close()
            }
        }
        defer { timer?.cancel() }
        return try await withCleanup({ await channel.close() }) {
            // If the write fails, read anyway: the simulator may have sent a reason before it closed the connection.
            try? await channel.write(Array((request.json + "\n").utf8))
            var lines = JSONLines()
            while let bytes = try await Self.read(channel) {
                lines.append(bytes)
                while let line = lines.next() {
                    if let response = try Self.response(in: line) { return response }
                }
            }
            throw Failure(.ioError, code: "disconnected", "\(path): the simulator's connection ended without an answer")
        }
    }

    /// Reads the next bytes; nil if either side has closed the connection.
    private static func read(_ channel: DescriptorChannel) async throws(DescriptorError) -> [UInt8]? {
        do throws(DescriptorError) { return try await channel.read() } catch {
            if error.code == .disconnected { return nil }
            throw error
        }
    }

    /// Parses a line as a response. Returns nil if the line is an event. Throws the error in the response, and an error
    /// if the line is not a JSON object.
    private static func response(in line: [UInt8]) throws -> JSONValue? {
        guard let message = try? JSONValue(line, size: .max), message.isObject else {
            throw Failure(.protocolError, code: "protocol", "not the control socket of a simulator")
        }
        if message["event"] != nil { return nil }
        guard message["ok"] != true, let error = message["error"], error.isObject else { return message }
        throw Failure(
            .usage, code: error["code"]?.text ?? "usage", error["message"]?.text ?? "the simulator refused the request",
            hint: error["hint"]?.text)
    }
}
