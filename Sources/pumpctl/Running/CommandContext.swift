import DescriptorIO
import DeviceKit
import LineProtocol
import RecordFormat
import Synchronization
import Terminal
import Transports

/// What a running command works with: its options, its output, and links to devices.
struct CommandContext: Sendable {
    /// What is recorded of a command.
    enum RecordedContent {
        /// The values that it reads; it records them itself.
        case values
        /// What goes over its links, line by line.
        case lines
        /// Nothing: it takes no `--record`.
        case nothing
    }

    let options: SharedOptions
    /// What kind of device the command is for.
    let family: Family
    let loop: EventLoop
    let output: Output
    /// The user's configuration, read once; or what is wrong with it.
    var configuration = Result { () throws(UserConfigurationError) in try UserConfiguration.load() }
    /// What is recorded of it, where that is asked for.
    let records: RecordedContent
    /// What it has recorded.
    let record: SharedRecording
    /// Where all that goes over its links is noted, where that is asked for.
    let capture: Capture?
    /// Schemes of endpoints beside those of the program, or in their place.
    var furtherSchemes: [String: LinkSchemes.Opener] = [:]
    /// What plays captures back to it.
    let replays = ReplayOpener()
    /// The command itself, which signals end.
    let work: InterruptibleWork

    /// How long an answer is waited for.
    var timeout: Duration { options.timeout?.duration ?? PumpSession.defaultTimeout }

    /// The clock of this run.
    var clock: EventLoopClock { EventLoopClock(loop) }

    /// Where the device is, as far as it is named.
    var place: DevicePlace? { options.namedPort.map { DevicePlace($0) } }

    /// Where the device is that the options name.
    func endpoint() throws -> Endpoint {
        let endpoint: Endpoint
        do { endpoint = try PortChoice.endpoint(options.port) } catch let error where !(error is LinkError) {
            throw Failure(of: error)
        }
        // A command of one family must not reach a device that is known to be of another. A capture may well be one of a
        // device that was taken for another: playing it back does nothing to it.
        if endpoint.scheme != "replay", family != .raw,
            let other = Family.named(by: endpoint.text), other != family
        {
            throw Failure(
                .usage, code: "wrong_family",
                "\(endpoint.text) is of the family \(other), and this command is for \(family)",
                hint: "name another endpoint, or use a command for \(other): see pumpctl --help", outcome: "not_sent")
        }
        var adapted = endpoint.adapted(to: family)
        guard options.reset else { return adapted }
        guard adapted.serial != nil else {
            throw Failure(
                .usage, code: "usage", "\(endpoint.text): --reset needs the DTR line of a serial port",
                hint: "omit --reset", outcome: "not_sent")
        }
        adapted.serial?.resetsBoard = true
        return adapted
    }

    // MARK: Links

    /// Opens the link to the device that the options name.
    func openLink(for use: LinkUse = .transfer) async throws -> any Link {
        try await openLink(endpoint(), for: use, note: output.note)
    }

    /// Opens a link.
    ///
    /// - Parameters:
    ///   - use: What the command has it for.
    ///   - onStop: Called when another pumpctl asks for OFF.
    ///   - isBounded: Whether `--timeout` bounds opening a BLE device, and a busy device is waited for.
    ///   - tellsSteps: Whether a step of opening a BLE device that takes more than a second is shown, also where no terminal is.
    ///   - note: Where to show what goes over it, if that is asked for.
    func openLink(
        _ endpoint: Endpoint, for use: LinkUse = .transfer, onStop: (@Sendable () -> Void)? = nil,
        isBounded: Bool = true, tellsSteps: Bool = false, note: @escaping @Sendable (String) -> Void
    ) async throws -> any Link {
        if use == .watching { output.neverWait() }
        if endpoint.scheme == "serial" { TerminalSettings.save(ifAt: endpoint.address) }
        let link = try await opening(isBounded: isBounded, tellsSteps: tellsSteps, note: note).link(
            to: endpoint, for: use, onStop: onStop)
        // A device that is asked nothing refuses nothing either: a wrong one would be listened to in silence.
        return use == .watching && family.question == nil ? namingOthers(link, note: note) : link
    }

    /// The link, with a warning once what comes over it is what a device of another family says.
    private func namingOthers(_ link: any Link, note: @escaping @Sendable (String) -> Void) -> any Link {
        let hasWarned = Mutex(false)
        return TracedLink(link) { [family, name = link.name] entry in
            guard case .received(let line) = entry, let other = family.other(recognizing: line) else { return }
            let isFirst = hasWarned.withLock { hasWarned in
                defer { hasWarned = true }
                return !hasWarned
            }
            guard isFirst else { return }
            note(
                "pumpctl: warning: \(name.printable()): this is what \(other.device) says: \(line.printable(limit: 60))\n"
                    + "  hint: use a command of the family \(other): pumpctl --help; or name another device by --port")
        }
    }

    /// How this command opens links.
    ///
    /// - Parameters:
    ///   - isBounded: Whether `--timeout` bounds opening a BLE device, and a busy device is waited for.
    ///   - note: Where to show what comes to light.
    func opening(
        isBounded: Bool = true, tellsSteps: Bool = false, note: @escaping @Sendable (String) -> Void
    ) -> LinkOpening {
        let drawsSteps = !options.verbose && StandardStream.error.isTerminal
        var opening = LinkOpening(of: family, on: loop) { [options, output] name, report in
            switch report {
            case .step(let step) where drawsSteps:
                output.progress(step.map { "\(name.printable()): \($0) …" } ?? "")
            case .step(let step?) where tellsSteps && !options.verbose:
                note("pumpctl: \(name.printable()): \(step), for up to a minute")
            case .step where !options.verbose, .throughDaemon where !options.verbose: break
            default: note(report.text(of: name))
            }
        }
        opening.schemes.add("sim") { endpoint, loop throws(LinkError) in
            try await SimLink.open(endpoint, loop, note: note)
        }
        opening.schemes.add("replay") { [replays, family] endpoint, loop throws(LinkError) in
            let link = try await replays.open(endpoint, on: loop)
            if family != .raw, let other = Family.captured(in: endpoint.text), other != family {
                note(
                    "pumpctl: \(endpoint.text.printable()): captured with the family \(other), and played back to a "
                        + "command for \(family)")
            }
            return link
        }
        for (scheme, opener) in furtherSchemes { opening.schemes.add(scheme, opener) }
        opening.memory = { [isVerbose = options.verbose] in
            .user { error in
                guard isVerbose else { return }
                note("pumpctl: cannot store the address of this BLE name: \("\(error)".printable())")
            }
        }
        opening.limit = isBounded ? options.timeout?.duration : nil
        opening.isPersistent = !isBounded
        if isBounded {
            opening.wait = options.wait?.duration ?? .zero
            opening.commandWait = timeout
        }
        opening.patience = drawsSteps || tellsSteps && !options.verbose ? .seconds(1) : nil
        opening.isTraced = options.verbose
        opening.looksForRestarts = family != .pump && family != .raw
        opening.recording = recordsLines ? record : nil
        opening.capture = capture
        opening.explain = { [place] in OffFailure($0, at: place) }
        return opening
    }

    /// What finds the device again that `link` was opened to.
    ///
    /// - Parameter note: Where to show what goes over its links, if that is asked for, and what is not taken for it.
    func reconnector(
        _ endpoint: Endpoint, _ link: any Link, note: @escaping @Sendable (String) -> Void
    ) -> Reconnector {
        Reconnector(endpoint, link, on: loop) { [self] endpoint in
            // A module that saves power may be heard only once in a while.
            try await openLink(endpoint.adapted(to: family), for: .watching, isBounded: false, note: note)
        } doubt: { error in
            note("pumpctl: \("\(error)".printable()); waiting")
        }
    }
}
