internal import DescriptorIO
internal import Glibc
internal import LineProtocol
internal import SerialPort

/// Opens links over serial ports and pseudo-terminals.
enum SerialLink {
    /// A path, or `serial:PATH?baud=9600&bits=8&parity=none&stop=1&flow=none&dtr=…&rts=…&hupcl=…&shared=…&reset=…`.
    static func open(_ endpoint: Endpoint, on loop: EventLoop) async throws(LinkError) -> any Link {
        try await open(endpoint.address, endpoint, on: loop)
    }

    /// Opens the port at `path` with the options of `endpoint`, under its name.
    static func open(_ path: String, _ endpoint: Endpoint, on loop: EventLoop) async throws(LinkError) -> any Link {
        let options = try options(of: endpoint)
        let isReset = try endpoint.flag("reset") ?? false
        do throws(SerialError) {
            let port = try SerialPort(path: path, options: options)
            if isReset { try await port.pulseDTR(on: loop) }
            return DescriptorLink(
                port.channel(on: loop), name: endpoint.text,
                deviceID: options.exclusivity == .exclusive ? DeviceID.serialPort(at: path) : nil, portPath: path,
                byteTime: options.byteTime, mayHaveReset: port.raisedDTR || isReset, mayBeMidLine: port.echoed,
                setBreak: { isOn throws(LinkError) in
                    do throws(SerialError) { try port.setBreak(isOn) } catch {
                        throw LinkError(error, name: endpoint.text)
                    }
                }
            ) { _ in
                _ = await port.drain(on: loop, within: options.drainTimeout)
            }
        } catch {
            var failure = LinkError(error, name: endpoint.text)
            if error.code == .noSuchPort, let spelling = endpoint.spelledWithOptions {
                failure.hint = "write it as '\(spelling)'"
            }
            throw failure
        }
    }

    /// The options of a `serial:` or `usb:` endpoint.
    static func options(of endpoint: Endpoint) throws(LinkError) -> SerialOptions {
        try endpoint.allowOptions([
            "baud", "bits", "parity", "stop", "flow", "dtr", "rts", "hupcl", "shared", "lowlatency", "reset",
        ])
        var options = SerialOptions()
        let lines: [(String, SerialOptions.LinePolicy)] = [
            ("on", .asserted), ("off", .deasserted), ("untouched", .untouched),
        ]
        if let baud = try endpoint.number("baud", in: 1...12_000_000) { options.baudRate = baud }
        if let bits = try endpoint.number("bits", in: 5...8) { options.dataBits = bits }
        if let stop = try endpoint.choice("stop", of: [("1", SerialOptions.StopBits.one), ("2", .two)]) {
            options.stopBits = stop
        }
        // Written out: to have the names from the cases is reflection, and takes longer than opening the port.
        let parities: [(String, SerialOptions.Parity)] = [
            ("none", .none), ("odd", .odd), ("even", .even), ("mark", .mark), ("space", .space),
        ]
        if let parity = try endpoint.choice("parity", of: parities) { options.parity = parity }
        let flows: [(String, SerialOptions.FlowControl)] = [
            ("none", .none), ("rtscts", .rtsCts), ("xonxoff", .xonXoff),
        ]
        if let flow = try endpoint.choice("flow", of: flows) { options.flowControl = flow }
        if let dtr = try endpoint.choice("dtr", of: lines) { options.dtrOnOpen = dtr }
        if let rts = try endpoint.choice("rts", of: lines) { options.rtsOnOpen = rts }
        if let hangUp = try endpoint.flag("hupcl") { options.hangUpOnClose = hangUp }
        if let isShared = try endpoint.flag("shared") { options.exclusivity = isShared ? .shared : .exclusive }
        if let lowLatency = try endpoint.flag("lowlatency") { options.lowLatency = lowLatency }
        return options
    }
}

extension LinkError {
    /// What a serial port's error means to the user of a link.
    init(_ error: SerialError, name: String) {
        let code: Code =
            switch error.code {
            case .noSuchPort, .notATerminal: .notFound
            case .busy: .busy
            case .notPermitted: .notPermitted
            case .settingsRefused, .unsupported: .unsupported
            case .invalidOption: .invalidEndpoint
            case .disconnected: .disconnected
            case .timedOut: .timedOut
            case .closed: .closed
            case .pathTaken, .system: .system
            }
        self.init(code, name: name, activity: error.activity, detail: Self.detail(error), hint: error.hint)
        guard case .busy(let holder) = error.code else { return }
        self.holder = holder.map { LinkHolder(processID: $0.processID, command: $0.command) }
        deviceID = DeviceID.serialPort(at: error.path)
    }

    /// What the error tells beyond its code.
    private static func detail(_ error: SerialError) -> String? {
        switch error.code {
        case .noSuchPort, .notPermitted, .disconnected, .timedOut, .closed: nil
        case .busy(let holder): holder.map { "open in \($0)" } ?? "open in another program"
        case .system: error.errno.map { String(cString: strerror($0)) } ?? error.reason
        case .notATerminal, .settingsRefused, .unsupported, .invalidOption, .pathTaken: error.reason
        }
    }
}
