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
    let record: SharedRecording
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
}

extension Failure {
    /// A device that has no line to be reset by.
    fileprivate init(reset endpoint: Endpoint) {
        self.init(
            .usage, code: "usage", "\(endpoint.text): --reset needs the DTR line of a serial port",
            hint: "omit --reset", outcome: "not_sent")
    }
}
