import DescriptorIO
import DeviceKit
import LineProtocol
import RecordFormat
import SerialPort
import Terminal
import Transports

/// What a running command works with: its options, its output, and links to devices.
struct CommandContext: Sendable {
    let options: SharedOptions
    /// What kind of device the command is for.
    let family: Family
    let loop: EventLoop
    let output: Output
    /// What is recorded of it, where that is asked for.
    let records: RecordedContent
    /// What it has recorded.
    let record = CommandRecord()
    /// What a second signal leaves said.
    let lastWords = LastWords()

    /// How long an answer is waited for.
    var timeout: Duration { options.timeout?.duration ?? PumpSession.defaultTimeout }

    /// The clock of this run.
    var clock: EventLoopClock { EventLoopClock(loop) }

    /// Where the device is, as far as it is named.
    var place: DevicePlace? { options.namedPort.map { DevicePlace($0) } }

    /// Where the device is that the options name.
    func endpoint() throws -> Endpoint {
        var endpoint = try Endpoint(NamedPort.choose(options.port))
        try checkFamily(of: endpoint)
        endpoint = endpoint.adapted(to: family)
        guard options.reset else { return endpoint }
        guard endpoint.isSerialPort else { throw Failure(reset: endpoint) }
        return endpoint.adding("reset", "true")
    }

    /// A command of one family must not reach a device that is known to be of another.
    private func checkFamily(of endpoint: Endpoint) throws(Failure) {
        guard let other = Family.named(by: endpoint.text), other != family else { return }
        throw Failure(
            .usage, code: "wrong_family",
            "\(endpoint.text) is of the family \(other), and this command is for \(family)",
            hint: "name another endpoint, or use a command for \(other): see pumpctl --help", outcome: "not_sent")
    }

    /// Opens the link to the device that the options name.
    func openLink(for use: LinkUse = .transfer) async throws -> any Link {
        try await openLink(endpoint(), for: use, note: output.note)
    }

    /// Opens a link.
    ///
    /// - Parameters:
    ///   - use: What the command has it for.
    ///   - onStop: Called when another pumpctl asks for OFF.
    ///   - isBounded: Whether `--timeout` bounds opening a BLE device.
    ///   - note: Where to show what goes over it, if that is asked for.
    func openLink(
        _ endpoint: Endpoint, for use: LinkUse = .transfer, onStop: (@Sendable () -> Void)? = nil,
        isBounded: Bool = true,
        note: @escaping @Sendable (String) -> Void
    ) async throws -> any Link {
        var schemes = LinkSchemes.standard
        schemes.add("sim", SimLink.open)
        let progress = OpeningProgress(endpoint, self, note: note)
        defer { progress.end() }
        if endpoint.scheme == "ble" {
            schemes.add(
                "ble", BLEEndpoint.opener(bleUse(for: use, progress, isBounded: isBounded, note: note)))
        }
        if endpoint.scheme == "serial" { TerminalSettings.save(ifAt: endpoint.address) }
        let link = try await schemes.open(endpoint, on: loop)
        progress.end()
        if let remark = link.openingNote { note("pumpctl: warning: \(endpoint.text): \(remark)") }
        let reporting = ReportingLink(
            link, clock: clock, note: note, mayRestart: family != .pump, lookAround: Self.search(forUsersOf: link, note)
        )
        let traced: any Link = options.verbose ? TracedLink(reporting, note: note) : reporting
        let shown = recorded(
            traced, as: endpoint.nameForPeople, device: endpoint.attachedSerialPort?.deviceName, note: note)
        return use == .watching ? await held(shown, onStop: onStop, note: note) : shown
    }

    /// How a command uses a BLE device.
    ///
    /// - Parameter isBounded: Whether `--timeout` bounds opening it.
    func bleUse(
        for use: LinkUse, _ progress: OpeningProgress, isBounded: Bool = true,
        note: @escaping @Sendable (String) -> Void
    ) -> BLEUse {
        // Nobody is to wait for the 2 s that bluetoothd takes to disconnect.
        BLEUse(
            profiles: .families, isBrief: use == .oneCommand, closesAtOnce: true,
            memory: BLEMemoryFile.user(note: options.verbose ? note : nil),
            openingLimit: isBounded ? options.timeout?.duration : nil, onStep: { progress.begin($0) })
    }

    /// What tells of other programs that have the serial port of a link open; nil where it is none.
    private static func search(
        forUsersOf link: any Link, _ note: @escaping @Sendable (String) -> Void
    ) -> (@Sendable () -> Void)? {
        guard let path = (link as? DescriptorLink)?.portPath else { return nil }
        return {
            guard let warning = PortWarning(PortUse.now(of: path)) else { return }
            note("\(warning.text)\n  hint: \(warning.hint)")
        }
    }

    /// Runs `body` in a session with the pump, and closes it.
    ///
    func withPump<Value>(_ body: (PumpSession) async throws -> Value) async throws -> Value {
        let endpoint = try endpoint()
        let link = try await openLink(endpoint, for: .oneCommand, note: output.note)
        return try await withPump(over: link, endpoint, body)
    }

    /// Runs `body` in a session over `link`, and closes both.
    ///
    /// - Parameter isStop: Whether `body` switches the pump off. Nothing goes before that, neither waiting for a board that
    ///   was reset nor starting to record.
    func withPump<Value>(
        over link: any Link, _ endpoint: Endpoint, isStop: Bool = false,
        _ body: (PumpSession) async throws -> Value
    ) async throws -> Value {
        let session = try await PumpSession.begin(over: link, clock: clock, waitsUntilReady: !isStop)
        var recording = isStop ? nil : try await Recording.begin(self, endpoint, isDefault: false)
        return try await closing(session) { session in
            let result: Result<Value, any Error>
            do { result = .success(try await body(session)) } catch { result = .failure(error) }
            if isStop { recording = (try? await Recording.begin(self, endpoint, isDefault: false)) ?? nil }
            let state = await session.state
            if state != PumpState() { recording?.record(.reading(kind: "state", Reading(state))) }
            return try result.get()
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
        } catch let error as SessionError where error.code != .linkLost {
            let failure = await describe(error, session)
            await session.close()
            throw failure
        } catch {
            await session.close()
            throw error
        }
    }

    /// What went wrong; after a command of unknown outcome also what the device says now.
    private func describe(_ error: SessionError, _ session: PumpSession) async -> Failure {
        var failure = Failure(error, .pump, at: place)
        if error.code == .noAnswer, let hint = session.link.silenceHint { failure.hint = hint }
        if error.deviceCode == PumpErrorCode.pumpNotRunning.rawValue,
            let status = try? await session.readStatus(timeout: timeout), status.power == .error
        {
            failure.message += "; the pump was stopped for safety"
            failure.hint = Family.pump.hint(PumpErrorCode.pumpStartFailed.rawValue)
        }
        guard case .status(let status)? = await session.reconcile(after: error, timeout: timeout) else {
            return failure
        }
        failure.message += "; the device now says: \(PumpText.summary(status))"
        failure.hint = "repeat the command if that is not what you asked for"
        return failure
    }
}

extension Failure {
    /// A device that has no line to be reset by.
    fileprivate init(reset endpoint: Endpoint) {
        self.init(
            .usage, code: "usage", "\(endpoint.text): --reset needs the DTR line of a serial port",
            hint: "omit --reset", outcome: "not_sent")
    }
}
