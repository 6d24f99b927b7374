internal import DescriptorIO
internal import Glibc
internal import LineProtocol
internal import SerialPort

/// Opens links over serial ports and pseudo-terminals.
enum SerialLink {
    /// Opens the port of a bare path or of `serial:PATH?…`.
    static func open(_ endpoint: Endpoint, on loop: EventLoop) async throws(LinkError) -> any Link {
        try await open(endpoint.address, endpoint, on: loop)
    }

    /// Opens the port at `path` with the settings of `endpoint`. The link has the name of the endpoint.
    static func open(_ path: String, _ endpoint: Endpoint, on loop: EventLoop) async throws(LinkError) -> any Link {
        let settings = endpoint.serial ?? SerialSettings()
        let (options, isReset) = (settings.options, settings.resetsBoard)
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
                failure.hint = "write the endpoint as '\(spelling)'"
            }
            throw failure
        }
    }
}

extension LinkError {
    /// Converts an error of a serial port.
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

    /// Returns the details of the error that its code does not cover; nil if there are none.
    private static func detail(_ error: SerialError) -> String? {
        switch error.code {
        case .noSuchPort, .notPermitted, .disconnected, .timedOut, .closed: nil
        case .busy(let holder): holder.map { "open in \($0)" } ?? "open in another program"
        case .system: error.errno.map { String(cString: strerror($0)) } ?? error.reason
        case .notATerminal, .settingsRefused, .unsupported, .invalidOption, .pathTaken: error.reason
        }
    }
}
