internal import Glibc
public import SerialPort
public import Transports

/// Which endpoint a program uses.
public enum PortChoice {
    /// The endpoint that a program talks to: the one that is ``named(_:)``, else that of the only plausible port.
    ///
    /// ```swift
    /// let link = try await LinkSchemes.families.open(PortChoice.endpoint(CommandLine.arguments.dropFirst().first))
    /// ```
    ///
    /// - Parameter asked: The endpoint that the program was asked for; nil where it was asked for none.
    /// - Throws: `UserConfigurationError`, `SerialError` where the system could not be asked for its ports,
    ///   ``PortChoiceError``, `LinkError` for what is no endpoint.
    public static func endpoint(_ asked: String? = nil) throws -> Endpoint {
        try Endpoint(named(asked) ?? plausible(among: SerialPortDiscovery.ports()).path)
    }

    /// The endpoint that the user has named: to the program; else in `PUMPCTL_PORT`; else in the ``UserConfiguration``. Nil
    /// where none is.
    ///
    /// - Throws: Where the configuration counts, and can't be read.
    public static func named(_ asked: String? = nil) throws(UserConfigurationError) -> String? {
        if let asked { return asked }
        if let variable = getenv("PUMPCTL_PORT"), variable.pointee != 0 { return String(cString: variable) }
        return try UserConfiguration.load().port
    }

    /// The only port that a bench device can be at: the one of a USB device, where there is no other such port.
    ///
    /// ```swift
    /// let port = try PortChoice.plausible(among: SerialPortDiscovery.ports())
    /// ```
    ///
    /// - Parameter ports: The ports that there are.
    /// - Throws: Where there is none, or several: nobody but the user knows which.
    public static func plausible(among ports: [SerialPortInfo]) throws(PortChoiceError) -> SerialPortInfo {
        let candidates = ports.filter { $0.usb != nil }
        guard let port = candidates.first else { throw PortChoiceError(code: .notFound, ports: ports) }
        guard candidates.count == 1 else { throw PortChoiceError(code: .ambiguous, ports: candidates) }
        return port
    }
}

/// Why no port could be chosen.
public struct PortChoiceError: Error, Sendable {
    /// The kinds of failure.
    public enum Code: String, Sendable {
        /// There is no serial port of a USB device; ``PortChoiceError/ports`` has the others.
        case notFound = "not_found"
        /// There are several; ``PortChoiceError/ports`` has them.
        case ambiguous = "ambiguous_port"
    }

    /// The kind of failure.
    public var code: Code
    /// The ports that the user may choose one of.
    public var ports: [SerialPortInfo]
}

extension SerialPortInfo {
    /// The port in a sentence: where it is, what it probably is, and what names it: `/dev/ttyUSB0 (CH340, usb:1a86:7523)`.
    ///
    /// - Parameter ports: All that are there, from which the endpoint tells it.
    public func phrase(among ports: [SerialPortInfo]) -> String {
        let facts = [board?.description, USBEndpoint.naming(self, among: ports)?.description].compactMap(\.self)
        return facts.isEmpty ? path : "\(path) (\(facts.joined(separator: ", ")))"
    }
}
