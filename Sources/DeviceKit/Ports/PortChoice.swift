public import SerialPort

/// Which serial port a program uses where its user names none.
public enum PortChoice {
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
