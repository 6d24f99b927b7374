internal import Glibc
public import SerialPort
public import Transports

/// The choice of the endpoint that a program uses.
public enum PortChoice {
    /// Returns the endpoint to use: the ``named(_:)`` endpoint, or else that of the only plausible port.
    ///
    /// ```swift
    /// let link = try await LinkSchemes.families.open(PortChoice.endpoint(CommandLine.arguments.dropFirst().first))
    /// ```
    ///
    /// - Parameter asked: The endpoint that was passed to the program; nil if none was.
    /// - Throws: `UserConfigurationError`; `SerialError` if the system's ports can't be listed; ``PortChoiceError``;
    ///   `LinkError` if the text that the user has named is not a valid endpoint.
    public static func endpoint(_ asked: String? = nil) throws -> Endpoint {
        try Endpoint(named(asked) ?? plausible(among: SerialPortDiscovery.ports()).path)
    }

    /// Returns the endpoint that the user has named: in `asked`, or else in the environment variable `PUMPCTL_PORT`,
    /// unless it is empty, or else in the ``UserConfiguration``. Returns nil if none of them names one.
    ///
    /// - Parameter asked: The endpoint that was passed to the program; nil if none was.
    /// - Throws: `UserConfigurationError` if the configuration is needed, but can't be read or is invalid.
    public static func named(_ asked: String? = nil) throws(UserConfigurationError) -> String? {
        if let asked { return asked }
        if let variable = getenv("PUMPCTL_PORT"), variable.pointee != 0 { return String(cString: variable) }
        return try UserConfiguration.load().port
    }

    /// Returns the only port that a bench device can be at: the port of a USB device, if there is exactly one such
    /// port.
    ///
    /// ```swift
    /// let port = try PortChoice.plausible(among: SerialPortDiscovery.ports())
    /// ```
    ///
    /// - Parameter ports: The ports of this computer.
    /// - Throws: ``PortChoiceError`` if there is no such port or more than one, so that only the user can choose.
    public static func plausible(among ports: [SerialPortInfo]) throws(PortChoiceError) -> SerialPortInfo {
        let candidates = ports.filter { $0.usb != nil }
        guard let port = candidates.first else { throw PortChoiceError(code: .notFound, ports: ports) }
        guard candidates.count == 1 else { throw PortChoiceError(code: .ambiguous, ports: candidates) }
        return port
    }
}

/// The reason that no port could be chosen.
public struct PortChoiceError: Error, Sendable {
    /// The kinds of failure.
    public enum Code: String, Sendable {
        /// There is no serial port of a USB device; ``PortChoiceError/ports`` lists all ports.
        case notFound = "not_found"
        /// There are several ports of USB devices; ``PortChoiceError/ports`` lists them.
        case ambiguous = "ambiguous_port"
    }

    /// The kind of failure.
    public var code: Code
    /// The ports from which the user may choose.
    public var ports: [SerialPortInfo]
}

extension SerialPortInfo {
    /// Returns a description of the port for a sentence: its path and, if known, its probable board and its endpoint,
    /// as in `/dev/ttyUSB0 (CH340, usb:1a86:7523)`.
    ///
    /// - Parameter ports: All ports of this computer, among which the endpoint must be unique.
    public func phrase(among ports: [SerialPortInfo]) -> String {
        let facts = [board?.description, USBEndpoint.naming(self, among: ports)?.description].compactMap(\.self)
        return facts.isEmpty ? path : "\(path) (\(facts.joined(separator: ", ")))"
    }
}
