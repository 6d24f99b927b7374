import BlueZ
import DescriptorIO
import DeviceKit
import FirmwareSim
import Glibc
import LineProtocol
import RecordFormat
import SerialPort

/// Conversion of the libraries' errors to failures of a command.
extension Failure {
    /// Converts any error.
    ///
    /// - Parameters:
    ///   - family: The family of the device, on which the hint for an error of a session depends.
    ///   - place: The place of the device; nil if it is unknown.
    init(of error: any Error, _ family: Family = .usual, at place: DevicePlace? = nil) {
        switch error {
        case let failure as Failure: self = failure
        case let error as LinkError: self.init(error)
        case let error as SessionError: self.init(error, family, at: place)
        case let error as BLEError: self.init(error)
        case let error as RescueStoreError: self.init(error)
        case let error as DeviceFileError: self.init(error)
        case let error as SimulatorOptionError: self.init(.usage, code: "usage", error.words)
        case let error as FileError: self.init(error)
        case let trouble as Trouble: self.init(trouble)
        case let error as PortChoiceError: self.init(error)
        case let error as UserConfigurationError: self.init(error)
        case is CancellationError: self.init(.interrupted, code: "cancelled", "interrupted")
        case let error as DescriptorError where error.code == .cancelled: self.init(of: CancellationError())
        default: self.init(.ioError, code: "system", "\(error)")
        }
    }

    // MARK: Links and devices

    /// Converts an error of a link, with hints that name commands of pumpctl.
    init(_ error: LinkError) {
        self.init(
            ExitStatus(error.code), code: error.code.rawValue, "\(error)", hint: error.remedy?.words ?? error.hint)
        let name = String(error.name.prefix { $0 != "?" }).asWord
        switch (error.code, error.hint) {
        case (.unfit, let advice?): hint = "\(advice); list its services: pumpctl gatt \(name)"
        case (.timedOut, nil):
            if hint == nil { hint = "raise --timeout, or find the cause: pumpctl doctor \(name)" }
        case (.notFound, let advice?) where error.name.hasPrefix("usb:"):
            hint = "\(advice); find the cause: pumpctl doctor"
        case (.changedDevice, let advice?):
            hint = "\(advice); if it replaces the first device: pumpctl forget \(name)"
        default: break
        }
    }

    /// Converts an error of Bluetooth in a command that opens no link, such as `scan`.
    init(_ error: BLEError) {
        let status: ExitStatus =
            switch error.code {
            case .notRunning, .noBus, .adapterOff, .adapterFull, .busy: .unavailable
            case .noAdapter, .notFound: .noInput
            case .notPermitted, .notPaired: .noPermission
            case .unsupported, .invalidArgument: .usage
            case .disconnected, .closed, .failed: .ioError
            case .timedOut: .temporaryFailure
            case .cancelled: .interrupted
            }
        self.init(status, code: error.code.rawValue, "\(error.activity): \(error.reason)", hint: error.hint)
    }

    /// Creates the failure for a system whose ports can't be listed.
    init(discovery error: SerialError) { self.init(.ioError, code: "system", "\(error)") }

    private init(_ error: PortChoiceError) {
        let (ports, code) = (error.ports, error.code.rawValue)
        switch error.code {
        case .notFound:
            self.init(
                .noInput, code: code, "no USB serial port was found",
                hint: ports.isEmpty
                    ? "plug the device in, or name an endpoint: --port ble:HMSoft, --port sim:pump"
                    : "plug the device in, or name another port: --port \(ports[0].path)")
        case .ambiguous:
            let list = ports.map { $0.phrase(among: ports) }.joined(separator: ", ")
            self.init(
                .usage, code: code, "several USB serial ports were found: \(list)",
                hint: "choose one: --port \(ports[0].path)")
        }
    }

    /// Creates the failure for a device that another program could not switch off, in that program's words.
    init(_ failure: OffFailure) {
        self.init(
            ExitStatus(rawValue: failure.status) ?? .ioError, code: failure.code, failure.message, hint: failure.hint,
            outcome: failure.outcome, deviceCode: failure.deviceCode)
    }

    // MARK: Files

    /// Creates the failure for a file that could not be opened, read or written.
    init(_ error: FileError) { self.init(file: error.path ?? "standard output", errno: error.errno) }

    /// Creates the failure for a file or socket that could not be opened, read or written.
    init(file path: String, errno: CInt) {
        let (status, code): (ExitStatus, String) =
            switch errno {
            case ENOENT, ENOTDIR, EISDIR: (.noInput, "not_found")
            case EACCES, EPERM, EROFS: (.noPermission, "not_permitted")
            case EPIPE: (.brokenPipe, "broken_pipe")
            case EFBIG: (.ioError, "too_large")
            default: (.ioError, "system")
            }
        let hint = Self.hint(onRoom: errno, "name another file")
        self.init(status, code: code, "\(path): \(String(cString: strerror(errno)))", hint: hint)
    }

    /// Creates the failure for a file that a simulator's option names and that can't be used.
    private init(_ error: DeviceFileError) {
        switch error.code {
        case .unreadable(let errno): self.init(file: error.path, errno: errno)
        case .tooLarge: self.init(.usage, code: "too_large", "\(error)", hint: error.hint)
        case .notPNG: self.init(.usage, code: "not_png", "\(error)", hint: error.hint)
        case .malformed: self.init(.usage, code: "usage", "\(error)", hint: error.hint)
        }
    }

    /// Creates the failure for a failed write to standard output.
    ///
    /// - Parameter outcome: The result of the command, which may not have been printed; nil if there is none.
    init(standardOutput errno: Int32, outcome: String? = nil) {
        self.init(file: "standard output", errno: errno)
        if errno == EAGAIN { message = "standard output: its reader has read nothing for too long" }
        message += outcome.map { "; the command was carried out: \($0)" } ?? "; some results were not written"
        hint = Self.hint(onRoom: errno, "redirect the results elsewhere")
    }

    /// Returns the hint for a file that can't be opened, read or written.
    ///
    /// - Parameter otherwise: The instruction for any cause. For EFBIG, ENOSPC and EDQUOT, it follows a more specific one.
    private static func hint(onRoom errno: CInt, _ otherwise: String) -> String {
        switch errno {
        case EFBIG: "raise the limit on file sizes (ulimit -f), or \(otherwise)"
        case ENOSPC, EDQUOT: "free space on the disk, or \(otherwise)"
        default: otherwise
        }
    }

    /// Creates the failure for a configuration that can't be used.
    init(_ error: UserConfigurationError, _ path: String = UserConfiguration.path ?? "") {
        let flaw: String
        switch error.flaw {
        case .unreadable(let errno):
            self.init(file: path, errno: errno)
            hint =
                "make the file readable: sudo chmod a+r \(path.asWord); or set XDG_CONFIG_HOME to another folder"
            return
        case .notAnObject: flaw = "not a JSON object"
        case .wrongType(.port): flaw = "\"port\" must be a string"
        case .wrongType(.record): flaw = "\"record\" must be true or false"
        }
        self.init(
            .usage, code: "bad_configuration", "\(path): \(flaw)",
            hint: "write JSON, e.g. {\"port\": \"/dev/ttyUSB0\", \"record\": false}")
    }
}

extension LinkError.Remedy {
    /// The remedy as an instruction for a person who has typed a command.
    fileprivate var words: String {
        switch self {
        case .useAs(let family): "use a command of the family \(family), or --family \(family)"
        case .nameDevice: "\(self): see pumpctl --help"
        case .sendNoBreak: "omit --break: only a serial port has a break condition"
        case .waitForHolder: "wait longer: --wait TIME"
        case .share: "end it first, or share the device between both programs: pumpctl serve --help"
        }
    }
}

extension OffFailure {
    /// Creates the reply to another program whose request for OFF this program could not fulfil.
    init(_ problem: OffProblem, at place: DevicePlace?) {
        guard case .session(let error) = problem.cause else {
            self.init(problem, words: problem.family.words)
            return
        }
        let failure = Failure(off: error, at: place)
        self.init(
            status: failure.status.rawValue, code: failure.code, message: failure.message, hint: failure.hint,
            outcome: failure.outcome, deviceCode: failure.deviceCode)
    }
}

extension UserConfiguration {
    /// Warnings about problems that do not prevent the use of the configuration.
    var warnings: [String] {
        let known = Key.allCases.map(\.rawValue)
        return unknownKeys.map { name in
            let nearest = EditDistance.nearest(to: name, among: known).map { "write \"\($0)\" instead" }
            let hint = nearest ?? "remove it: the keys are \(known.joined(separator: ", "))"
            return "warning: \(Self.path ?? ""): unknown key \"\(name.printable())\"\n  hint: \(hint)"
        }
    }
}

extension OutputFile {
    /// Writes results of a command.
    func write(results: [UInt8]) throws(Failure) {
        do throws(FileError) { try write(results) } catch { throw Failure(error) }
    }
}
