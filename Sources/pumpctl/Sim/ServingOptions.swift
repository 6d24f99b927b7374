import ArgumentParser
import BlueZ
import DescriptorIO
import DeviceKit
import FirmwareSim
import Glibc
import LineProtocol
import SerialPort
import SimControl
import Synchronization
import Terminal

/// Where a simulated device is offered.
struct ServingOptions: ParsableArguments {
    static let discussion = """
        Prints where the device is and serves until it is interrupted; with --background in a process of its own, whose number \
        is printed once the device is there: kill it to end. What it says while no program has the port open is \
        lost, as on a real line.
        """

    /// The process that `--background` starts.
    static let background = BackgroundProgram(mark: "PUMPCTL_IN_BACKGROUND")

    @Flag(name: .customLong("pty"), help: "On a pseudo-terminal (the default).")
    var usesPseudoTerminal = false

    @Option(help: ArgumentHelp("A symbolic link to the pseudo-terminal.", valueName: "path"))
    var link: String?

    @Option(
        help: ArgumentHelp(
            "On a TCP port of this machine; 0 takes a free one. One client at a time: others are hung up on.",
            valueName: "port"))
    var tcp: UInt16?

    @Flag(name: .customLong("broadcast"), help: "With --tcp: any number of clients, and all hear all replies.")
    var broadcasts = false

    @Option(
        help: ArgumentHelp(
            "How many devices, each with its own line: '%d' in --link is the number of one, --tcp is the port of the first.",
            valueName: "number"))
    var count: Int?

    @Option(
        help: ArgumentHelp(
            "A Unix socket at which 'pumpctl sim ctl' controls the device while it runs.", valueName: "path"))
    var control: String?

    @Flag(
        name: .customLong("background"),
        help: "Return once the device is there, and print the number of the process that serves it.")
    var isInBackground = false

    @Flag(
        name: .customLong("run"),
        help:
            "Serve while the command behind '--' runs, with PUMPCTL_PORT set to the device, and end with its exit code."
    )
    var runsCommand = false

    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("With --run: the command, and its arguments.", valueName: "command"))
    var command: [String] = []

    @Flag(name: .customLong("ble"), help: "Over BLE, as a device that phones find.")
    var usesRadio = false

    @Option(help: ArgumentHelp("The Bluetooth adapter, by its name or address.", valueName: "hci1"))
    var adapter: String?

    func validate() throws {
        if tcp != nil, usesPseudoTerminal || link != nil {
            throw ValidationError("--tcp cannot be combined with --pty and --link")
        }
        if broadcasts, tcp == nil { throw ValidationError("--broadcast requires --tcp") }
        if usesRadio, usesPseudoTerminal || link != nil || tcp != nil || count != nil {
            throw ValidationError("--ble cannot be combined with --pty, --link, --tcp and --count")
        }
        if let count { try validate(count) }
        if runsCommand, command.isEmpty { throw ValidationError("--run requires a command, as in --run -- make test") }
        if !runsCommand, !command.isEmpty { throw ValidationError("a command requires --run") }
        if runsCommand, usesRadio || isInBackground || (count ?? 1) > 1 {
            throw ValidationError("--run cannot be combined with --ble, --background and --count")
        }
        if !usesRadio, adapter != nil { throw ValidationError("--adapter requires --ble") }
    }

    private func validate(_ count: Int) throws {
        guard (1...100_000).contains(count) else { throw ValidationError("--count takes a number from 1 to 100000") }
        if let link, !link.contains(Self.numberMark) {
            throw ValidationError("--count requires '%d' in --link, as in --link '/tmp/pump-%d'")
        }
        if let tcp, tcp > 0, Int(tcp) + count - 1 > UInt16.max {
            throw ValidationError("there are not \(count) ports from \(tcp) on; --tcp 0 takes free ones")
        }
    }

    /// What stands for the number of a device in the path of its link.
    private static let numberMark = "%d"

    /// Where the devices are offered, one after another.
    private var places: [ServingPlace] {
        (0..<(count ?? 1)).map { index in
            if let tcp {
                let port = tcp == 0 ? 0 : tcp + UInt16(index)
                return .socket(.tcp(host: "127.0.0.1", port: port), broadcasts: broadcasts)
            }
            return .terminal(link: count == nil ? link : link?.replacing(Self.numberMark, with: "\(index + 1)"))
        }
    }

    /// Starts the program in the background, if that is asked for and this is not the one there.
    func startInBackground(_ output: Output) throws -> Bool {
        guard isInBackground, !Self.background.isThis else { return false }
        let start: BackgroundProgram.Start
        do {
            start = try Self.background.start(["pumpctl"] + CommandLine.arguments.dropFirst())
        } catch {
            throw Failure(
                .ioError, code: "system", "can't start in the background: \(error)",
                hint: "close programs you do not need, or omit --background")
        }
        switch start {
        case .ended(let status, let text):
            output.draw(text)
            throw ExitCode(status)
        case .ready(_, let text) where output.isJSON: output.draw(text)
        case .ready(let process, let text):
            // What a script keeps is the process: pid=$(pumpctl sim pump --background).
            output.note("pumpctl: \(text.dropLast())")
            output.text("\(process)")
        }
        return true
    }

    /// Is told of each device, with its number, before it is offered.
    typealias OnDevice = @Sendable (Int, DeviceHandle) -> Void

    /// What offers the device of a number at a place, and tells what becomes of it.
    typealias Offer = @Sendable (Int, ServingPlace, @escaping @Sendable (ServingEvent) -> Void) async throws -> Void

    /// Has `serve` offer devices of a family, which can be controlled where that is asked for, until it returns, or somebody
    /// who controls them asks for the end. `serve` tells `onDevice` of each device.
    func controlling(
        _ family: String, _ context: CommandContext,
        _ serve: @escaping @Sendable (_ onDevice: @escaping OnDevice) async throws -> Void
    ) async throws {
        guard let control else { return try await serve { _, _ in } }
        let server: SimulationServer
        do throws(DescriptorError) {
            server = try await SimulationServer.open(for: family, at: control, on: context.loop)
        } catch {
            var failure = Failure(file: control, errno: error.errno ?? EIO)
            if error.errno == EADDRINUSE {
                (failure.status, failure.code, failure.hint) = (
                    ExitStatus.unavailable, "path_taken", "choose another path"
                )
            }
            throw failure
        }
        try await withCleanup({ await server.close() }) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask(executorPreference: context.loop) {
                    try await serve { number, device in server.assumeIsolated { $0.add(device, number: number) } }
                }
                group.addTask(executorPreference: context.loop) { await server.untilStopped() }
                // Whichever ends first ends the other.
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    /// Has `serve` offer each device on its line, and tells `onReady` where that is, or else prints it.
    func serve(
        _ context: CommandContext, onReady: (@Sendable (_ text: String, _ endpoint: String) -> Void)? = nil,
        _ serve: @escaping Offer
    ) async throws {
        let places = places
        guard places.count > 1 else {
            let number = count
            return try await Self.serve(1, at: places[0], context, serve) { text, port in
                if let onReady { onReady(text, port) } else { Self.tell(text, port, number, context.output) }
                Self.background.release()
            }
        }
        DescriptorLimit.raise()
        let missing = Countdown(from: places.count)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, place) in places.enumerated() {
                group.addTask(executorPreference: context.loop) {
                    try await Self.serve(index + 1, at: place, context, serve) { text, port in
                        Self.tell(text, port, index + 1, context.output)
                        if missing.goesToZero() { Self.background.release() }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private static func serve(
        _ number: Int, at place: ServingPlace, _ context: CommandContext, _ serve: Offer,
        onReady: @escaping @Sendable (_ text: String, _ endpoint: String) -> Void
    ) async throws {
        do {
            try await serve(number, place) { event in
                switch event {
                case .onTerminal(let path): onReady("PTY \(path)", path)
                case .onSocket(let address): onReady("TCP \(address)", "\(address)")
                case .isBack(let path):
                    context.output.note("pumpctl: the cable was pulled; the device is back at \(path)")
                case .refusedClient:
                    context.output.note(
                        "pumpctl: a second client was hung up on: the line has one",
                        hint: "serve with --broadcast to let several clients hear all replies")
                }
            }
        } catch let error as SerialError {
            throw Failure(error)
        } catch let error as DescriptorError {
            let port = if case .socket(.tcp(_, let port), _) = place { port } else { UInt16(0) }
            throw Failure(
                error.errno == EADDRINUSE ? .unavailable : .ioError, code: "system", "port \(port): \(error)",
                hint: "choose a free port: --tcp 0")
        }
    }

    private static func tell(_ text: String, _ port: String, _ number: Int?, _ output: Output) {
        output.result(text, ready(at: port, number.map { ["number": $0] } ?? [:]))
    }

    /// Has `offer` offer a device of a family on its line while the command runs. Nothing but the command writes to standard
    /// output.
    ///
    /// - Returns: The exit status of the command.
    func servingCommand(
        _ family: String, _ context: CommandContext, _ offer: @escaping Offer
    ) async throws -> Int32 {
        let (ports, ready) = AsyncStream<String>.makeStream()
        // What is served outlives a signal: the command may need it to come to its end.
        let serving = Task(executorPreference: context.loop) {
            defer { ready.finish() }
            try await serve(context, onReady: { ready.yield($1) }, offer)
        }
        return try await withCleanup({
            serving.cancel()
            _ = await serving.result
        }) {
            guard let port = await ports.first(where: { _ in true }) else {
                try Task.checkCancellation()
                try await serving.value
                throw CancellationError()
            }
            var variables = ["PUMPCTL_PORT": port, "PUMPCTL_PORT_\(family.uppercased())": port]
            variables["PUMPCTL_CONTROL"] = control
            let process: ServedCommand
            do throws(ServedCommand.StartFailure) {
                process = try ServedCommand(command, with: variables)
            } catch {
                context.output.note(
                    "pumpctl: \(command[0].printable()): \(String(cString: strerror(error.errno)))",
                    hint: "give a program and its arguments behind '--'; for a shell's line, --run -- sh -c '…'")
                return error.exitStatus
            }
            return try await process.end(on: context.loop) {
                // Who has typed Ctrl-C has sent it to the command too.
                let signal = (context.work.exitStatus ?? 128 + SIGTERM) - 128
                return signal == SIGINT && tcgetpgrp(STDIN_FILENO) == getpgrp() ? nil : signal
            }
        }
    }

    /// That a device is there, as programs are told of it.
    private static func ready(at port: String, _ more: ResultRecord = [:]) -> ResultRecord {
        ResultRecord(more, with: ["ok": true, "event": "ready", "port": port, "pid": getpid()])
    }

    /// Prints what becomes of a device that is offered over BLE.
    static func tell(_ event: PeripheralEvent, of name: String, _ output: Output) {
        switch event {
        case .offered(let adapter):
            let address = "\(adapter.address)"
            output.result(
                "BLE \(name) on \(adapter.name) (\(address))",
                ready(at: "ble:\(address)", ["name": name, "adapter": adapter.name, "address": address]))
            background.release()
        case .interrupted(let error):
            output.note("pumpctl: \(error); \(name) is offered again once that is mended")
            let code = error.code.rawValue
            output.record(["ok": false, "event": "interrupted", "name": name, "error": code] as ResultRecord)
        case .connected(let central):
            output.record(["ok": true, "event": "connected", "name": name, "central": "\(central)"] as ResultRecord)
        case .disconnected(let central):
            output.record(["ok": true, "event": "disconnected", "name": name, "central": "\(central)"] as ResultRecord)
        case .subscribed, .unsubscribed: break
        }
    }
}

/// How many are still missing.
private final class Countdown: Sendable {
    private let count: Mutex<Int>

    init(from count: Int) { self.count = Mutex(count) }

    /// Whether the one that has come was the last.
    func goesToZero() -> Bool {
        count.withLock { count in
            count -= 1
            return count == 0
        }
    }
}

extension Failure {
    /// Why a pseudo-terminal could not be offered.
    fileprivate init(_ error: SerialError) {
        self.init(file: error.path, errno: error.errno ?? 0)
        if error.code == .pathTaken { (status, code) = (.unavailable, "path_taken") }
        let detail = error.errno.map { " (\(String(cString: strerror($0))))" } ?? ""
        message = "\(error.activity) \(error.path): \(error.reason)\(detail)"
        hint = error.hint
    }
}
