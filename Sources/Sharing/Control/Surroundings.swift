internal import BlueZ
public import DeviceKit
internal import ControlProtocol
internal import LineProtocol
public import SerialPort
internal import StrictJSON
public import Transports

/// The ports, BLE devices and problems of this computer, for programs that look for a device or for the reason why it
/// is away. The program that serves devices supplies the functions, so that this library does not depend on Diagnosis.
public struct Surroundings: Sendable {
    /// A serial port, and the names of the programs that have it open.
    public typealias Port = (info: SerialPortInfo, holders: [String])

    /// Returns the serial ports. Opens none.
    public var ports: @Sendable () async throws -> [Port]
    /// Scans for `seconds`, and returns the BLE devices in sight at the end, the nearest first. Connects to none.
    public var devices: @Sendable (_ seconds: Int) async throws -> [ScannedDevice]
    /// Returns the findings of a check-up for the device of an endpoint; for the whole computer without one.
    public var findings: @Sendable (_ endpoint: Endpoint?) async throws -> [Finding]

    /// Creates surroundings.
    public init(
        ports: @escaping @Sendable () async throws -> [Port] = { [] },
        devices: @escaping @Sendable (_ seconds: Int) async throws -> [ScannedDevice] = { _ in [] },
        findings: @escaping @Sendable (_ endpoint: Endpoint?) async throws -> [Finding] = { _ in [] }
    ) {
        self.ports = ports
        self.devices = devices
        self.findings = findings
    }

    /// The result of a check, in the form for programs; made from a finding of the library Diagnosis.
    public struct Finding: Sendable, Hashable {
        /// The subject of the check, as a word for programs.
        public var code: String
        /// The severity, as a word for programs: `ok`, `warning`, `bad`.
        public var severity: String
        /// The port, device or adapter concerned; nil for the computer as a whole.
        public var subject: String?
        /// The result, one sentence without a full stop.
        public var sentence: String
        /// An instruction; nil if nothing needs to be done.
        public var remedy: String?

        /// Creates a finding from its parts.
        public init(code: String, severity: String, subject: String?, sentence: String, remedy: String?) {
            self.code = code
            self.severity = severity
            self.subject = subject
            self.sentence = sentence
            self.remedy = remedy
        }
    }
}

extension Surroundings {
    /// Converts an error of one of the functions. Nothing was changed.
    static func failure(_ error: any Error) -> ControlFailure {
        let outcome = "nothing_changed"
        guard var error = error as? BLEError else {
            let hint = (error as? SerialError)?.hint ?? (error as? LinkError)?.hint
            return ControlFailure("failed", "\(error)", hint: hint, outcome: outcome)
        }
        let hint = error.hint
        error.hint = nil
        let isAbsent = [.notRunning, .noBus, .noAdapter, .adapterOff, .notPermitted].contains(error.code)
        return ControlFailure(isAbsent ? "no_bluetooth" : "failed", "\(error)", hint: hint, outcome: outcome)
    }

    /// A port for programs, with the name of the served device at it. Members that do not apply are left out.
    static func json(_ port: Port, device: String?) -> JSONValue {
        let usb = port.info.usb
        return .members([
            "path": .text(port.info.path), "driver": port.info.driver.map(JSONValue.text),
            "board": port.info.board.map { .text($0.description) },
            "usb_id": usb.map { .text($0.identifier.description) },
            "serial_number": usb?.serialNumber.map(JSONValue.text), "usb_path": usb.map { .text($0.physicalPath) },
            "manufacturer": usb?.manufacturer.map(JSONValue.text), "product": usb?.product.map(JSONValue.text),
            "holders": .array(port.holders.map(JSONValue.text)), "device": device.map(JSONValue.text),
        ])
    }
}

extension ScannedDevice {
    /// The device for programs, with the keys of `pumpctl scan --json`, as far as they apply.
    var json: JSONValue {
        .members([
            "address": .text(address.description), "name": name.map(JSONValue.text),
            "rssi_dbm": rssi.map(JSONValue.integer), "services": .array(services.map { .text($0.description) }),
            "family": fit.certain.map(JSONValue.text),
            "possible_families": .array(fit.possible.map(JSONValue.text)), "connected": .boolean(isConnected),
        ])
    }
}

extension Surroundings.Finding {
    /// The finding for programs.
    var json: JSONValue {
        .members([
            "code": .text(code), "severity": .text(severity), "subject": subject.map(JSONValue.text),
            "sentence": .text(sentence), "remedy": remedy.map(JSONValue.text),
        ])
    }
}
