import DescriptorIO
import DeviceKit
import LineProtocol
import RecordFormat
import Synchronization
import Terminal
import Transports

/// The environment of a running command: its options, its output, and links to devices.
struct CommandContext: Sendable {
    /// The part of a command that is recorded.
    enum RecordedContent {
        /// The values that the command reads and records itself. For the family `raw`, the lines instead.
        case values
        /// The traffic of the command's links, line by line.
        case lines
        /// Nothing: the command has no `--record`.
        case nothing
    }

    let options: SharedOptions
    /// The family of the command's device.
    let family: Family
    let loop: EventLoop
    let output: Output
    /// The user's configuration, read once, or the error in it.
    var configuration = Result { () throws(UserConfigurationError) in try UserConfiguration.load() }
    /// The part of the command that is recorded if recording is on.
    let records: RecordedContent
    /// The recording of this command. It begins when there is something to record.
    let record: SharedRecording
    /// The capture of the command's links; nil without `--capture`.
    let capture: Capture?
    /// Endpoint schemes that extend or replace the standard ones; set by tests.
    var furtherSchemes: [String: LinkSchemes.Opener] = [:]
    /// Opens `replay:` endpoints.
    let replays = ReplayOpener()
    /// The work of the command, which signals cancel.
    let work: InterruptibleWork

    /// The time-out of each reply: `--timeout`, or 3 s.
    var timeout: Duration { options.timeout?.duration ?? PumpSession.defaultTimeout }

    var clock: EventLoopClock { EventLoopClock(loop) }

    /// The place of the device; nil if ``SharedOptions/namedPort`` is.
    var place: DevicePlace? { options.namedPort.map { DevicePlace($0) } }

    /// Returns the endpoint from `--port`, PUMPCTL_PORT or the configuration, or else the only USB port; with the baud
    /// rate and profiles of the command's family.
    ///
    /// - Throws: `LinkError` if the endpoint is invalid; otherwise `Failure`.
    func endpoint() throws -> Endpoint {
        let endpoint: Endpoint
        do { endpoint = try PortChoice.endpoint(options.port) } catch let error where !(error is LinkError) {
            throw Failure(of: error)
        }
        // A command of one family must not reach a device that is known to be of another. A capture may have been made
        // with the wrong family, and replaying it affects no device.
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

    /// Opens the link to the device that the options name. The caller closes the link.
    func openLink(for use: LinkUse = .transfer) async throws -> any Link {
        try await openLink(endpoint(), for: use, note: output.note)
    }

    /// Opens a link, which the caller closes.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint of the device.
    ///   - use: The purpose of the link. Over a link for `watching`, other programs can request OFF, and output that
    ///     nobody reads ends the command: see ``Output/neverWait()``.
    ///   - onStop: Called when another program requests OFF, before OFF is sent; only with `watching`.
    ///   - isBounded: Whether `--timeout` limits the opening of a BLE device, and `--wait` the wait for a busy device.
    ///     Otherwise, a busy device is an error, and a BLE device is connected again and again for up to 60 s.
    ///   - tellsSteps: Whether steps of opening a BLE device are shown after a second even if standard error is no
    ///     terminal.
    ///   - note: Prints reports about the link, and its traffic with `-v`.
    func openLink(
        _ endpoint: Endpoint, for use: LinkUse = .transfer, onStop: (@Sendable () -> Void)? = nil,
        isBounded: Bool = true, tellsSteps: Bool = false, note: @escaping @Sendable (String) -> Void
    ) async throws -> any Link {
        if use == .watching { output.neverWait() }
        if endpoint.scheme == "serial" { TerminalSettings.save(ifAt: endpoint.address) }
        let link = try await opening(isBounded: isBounded, tellsSteps: tellsSteps, note: note).link(
            to: endpoint, for: use, onStop: onStop)
        // A device that receives no command refuses none: without a warning, a device of the wrong family would be
        // watched in silence.
        return use == .watching && family.question == nil ? namingOthers(link, note: note) : link
    }

    /// Returns a link that prints a warning, once, when the device sends a line of another family.
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
                "pumpctl: warning: \(name.printable()): this looks like \(other.device): \(line.printable(limit: 60))\n"
                    + "  hint: use a command of the family \(other): pumpctl --help; or name another device with --port"
            )
        }
    }

    /// Returns the settings with which this command opens links.
    ///
    /// - Parameters:
    ///   - isBounded: As for ``openLink(_:for:onStop:isBounded:tellsSteps:note:)``.
    ///   - tellsSteps: As for ``openLink(_:for:onStop:isBounded:tellsSteps:note:)``.
    ///   - note: Prints reports about the link, and its traffic with `-v`.
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
        // Only an ESP32 prints a message at a restart. A raw device may send the same text with another meaning.
        opening.looksForRestarts = family != .pump && family != .raw
        opening.recording = recordsLines ? record : nil
        opening.capture = capture
        opening.explain = { [place] in OffFailure($0, at: place) }
        return opening
    }

    /// Returns a reconnector to the device of `link`.
    ///
    /// - Parameter note: Prints reports about the new links, their traffic with `-v`, and doubts about the device's
    ///   identity.
    func reconnector(
        _ endpoint: Endpoint, _ link: any Link, note: @escaping @Sendable (String) -> Void
    ) -> Reconnector {
        Reconnector(endpoint, link, on: loop) { [self] endpoint in
            // `--timeout` does not apply: a BLE module that saves power may be heard only rarely.
            try await openLink(endpoint.adapted(to: family), for: .watching, isBounded: false, note: note)
        } doubt: { error in
            note("pumpctl: \("\(error)".printable()); waiting")
        }
    }
}
