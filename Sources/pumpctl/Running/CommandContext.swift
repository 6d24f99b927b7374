import ArgumentParser
import BlueZ
import DescriptorIO
import Glibc
import LineProtocol
import RecordFormat
import Transports

/// What a running command works with: its options, its output, and links to devices.
struct CommandContext: Sendable {
    let options: SharedOptions
    /// What kind of device the command is for.
    let family: FamilyName
    let loop: EventLoop
    let output: Output
    /// Where the user is.
    let userTerminal = UserTerminal()

    /// How long an answer is waited for.
    var timeout: Duration { options.timeout?.duration ?? PumpSession.defaultTimeout }

    /// The clock of this run.
    var clock: EventLoopClock { EventLoopClock(loop) }

    /// Where the device is that the options name.
    func endpoint() throws -> Endpoint {
        var endpoint = try Endpoint(PortChoice.choose(options.port))
        if endpoint.isSerialPort, endpoint.options["baud"] == nil {
            endpoint = endpoint.adding("baud", "\(family.facts.baudRate)")
        }
        if endpoint.scheme == "ble", endpoint.options["family"] == nil {
            endpoint = endpoint.adding("family", family.rawValue)
        }
        return options.reset ? endpoint.adding("reset", "true") : endpoint
    }

    /// Opens the link to the device that the options name.
    func openLink() async throws -> any Link { try await openLink(endpoint(), note: output.note) }

    /// Opens a link.
    ///
    /// - Parameter note: Where to show what goes over it, if that is asked for.
    func openLink(_ endpoint: Endpoint, note: @escaping @Sendable (String) -> Void) async throws -> any Link {
        var schemes = LinkSchemes.standard
        schemes.add("sim", SimLink.open)
        if endpoint.scheme == "ble", let memory = BLEMemoryFile(note: options.verbose ? note : nil) {
            schemes.addBLE(memory)
        }
        if endpoint.scheme == "serial" { userTerminal.keepSettings(ifAt: endpoint.address) }
        let link = try await schemes.open(endpoint, on: loop)
        if let remark = link.openingNote { note("pumpctl: \(endpoint.text): \(remark)") }
        return options.verbose ? TracedLink(link, note: note) : link
    }

    /// Runs `body` in a session with the pump, and closes it.
    func withPump<Value>(_ body: (PumpSession) async throws -> Value) async throws -> Value {
        let endpoint = try endpoint()
        let session = try await PumpSession.begin(over: openLink(endpoint, note: output.note), clock: clock)
        guard let recording = try await Recording.begin(self, endpoint, isDefault: false) else {
            return try await closing(session, body)
        }
        return try await recording.ending {
            try await closing(session) { session in
                let result: Result<Value, any Error>
                do { result = .success(try await body(session)) } catch { result = .failure(error) }
                let state = await session.state
                if state != PumpState() { recording.record(.reading(kind: "state", Reading(state))) }
                return try result.get()
            }
        }
    }

    private func closing<Value>(_ session: PumpSession, _ body: (PumpSession) async throws -> Value) async throws
        -> Value
    {
        if await session.hasDeviceStarted {
            output.note("pumpctl: opening the port has reset the board, and so the pump was switched off")
        }
        do {
            let value = try await body(session)
            await session.close()
            return value
        } catch let error as SessionError where error.outcome == .unknown && error.code != .linkLost {
            let failure = await describe(error, session)
            await session.close()
            throw failure
        } catch {
            await session.close()
            throw error
        }
    }

    /// A command of unknown outcome: looks at what it has done.
    private func describe(_ error: SessionError, _ session: PumpSession) async -> Failure {
        var failure = Failure(error, .pump)
        guard error.code != .cancelled, let status = try? await session.readStatus(timeout: timeout) else {
            return failure
        }
        failure.hint = "the device now says: \(PumpText.summary(status))"
        return failure
    }
}

/// Runs the asynchronous part of a command to its end.
enum CommandRunner {
    /// Runs `body` on an event loop on this thread, for the family that the command is of, or else the options name.
    /// SIGINT and SIGTERM cancel it, so that it can close its link; a second one ends the program at once.
    ///
    /// - Throws: `ExitCode` where the command failed; the failure was reported.
    static func run(
        _ options: SharedOptions, for family: FamilyName? = nil,
        _ body: @Sendable @escaping (CommandContext) async throws -> Void
    ) throws {
        let output = Output(isJSON: options.json)
        if let family, let named = options.family, family != named {
            let failure = Failure(
                .usage, code: "usage", "this command is for the family \(family), and --family says \(named)",
                hint: "leave --family out")
            output.report(failure)
            throw ExitCode(failure.status.rawValue)
        }
        let family = family ?? options.family ?? .pump
        let status = EventLoop.run { loop in
            await run(body, CommandContext(options: options, family: family, loop: loop, output: output))
        }
        if status != .done { throw ExitCode(status.rawValue) }
    }

    private static func run(
        _ body: @Sendable @escaping (CommandContext) async throws -> Void, _ context: CommandContext
    ) async -> ExitStatus {
        let task = Task(executorPreference: context.loop) { try await body(context) }
        let interruption = Interruption(task)
        let signals = try? await SignalSource.open([SIGINT, SIGTERM, SIGHUP], on: context.loop) {
            interruption.take($0)
        }
        var status = ExitStatus.done
        do {
            try await task.value
        } catch {
            let failure = failure(for: error, context.family)
            status = failure.status
            if status != .interrupted || interruption.status == nil || failure.outcome == "unknown" {
                context.output.report(failure)
            }
        }
        await signals?.close()
        context.userTerminal.putBack()
        return interruption.status ?? status
    }

    private static func failure(for error: any Error, _ family: FamilyName) -> Failure {
        switch error {
        case let failure as Failure: failure
        case let error as LinkError: Failure(error)
        case let error as SessionError: Failure(error, family)
        case let error as BLEError: Failure(error)
        case let error as RescueStoreError: Failure(error)
        case let trouble as Trouble: Failure(trouble)
        case is CancellationError: Failure(.interrupted, code: "cancelled", "interrupted")
        default: Failure(.ioError, code: "system", "\(error)")
        }
    }
}
