internal import Glibc
public import LineProtocol

/// The name by which a program finds a device, as a person writes it: a scheme, an address, and options.
///
///     /dev/ttyUSB0          serial:/dev/ttyUSB0?baud=115200
///     usb:1a86:7523@1-2.3   tcp:bench:4000        unix:/run/pump.sock        sim:pump?seed=7
public struct Endpoint: Sendable, Hashable {
    /// The text before the first colon, in lower case; `serial` for a bare path.
    public let scheme: String
    /// The text after the scheme, up to the question mark.
    public let address: String
    /// The options after the question mark, separated by `&`: `name=value`, or `name` alone for the value `true`.
    public let options: [String: String]
    /// The settings of a serial port, read from ``options``; nil for other carriers.
    public var serial: SerialSettings?
    /// The endpoint as it was written.
    public let text: String
    /// The address at which a daemon shares this endpoint's device; nil if unknown. Set by ``shared(at:)``; ``text``
    /// does not contain it.
    public let sharedAddress: SharedDeviceAddress?

    /// Parses an endpoint.
    ///
    /// A text that begins with `.`, or has a `/` without a colon before it, is the path of a serial port: colons and
    /// question marks are then part of the path.
    ///
    /// - Throws: `invalidEndpoint`.
    public init(_ text: String) throws(LinkError) {
        if text.hasPrefix(".") || text.prefix(while: { $0 != ":" }).contains("/") {
            self.init(scheme: "serial", address: text, options: [:], text: text)
            serial = SerialSettings()
            return
        }
        guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else {
            throw LinkError(
                .invalidEndpoint, name: text, activity: "read the endpoint", hint: Self.hint(forBareName: text))
        }
        let rest = text[text.index(after: colon)...]
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first, !address.isEmpty else {
            throw LinkError(
                .invalidEndpoint, name: text, activity: "read the endpoint",
                remedy: .nameDevice(scheme: String(text[..<colon])))
        }
        self.init(
            scheme: text[..<colon].lowercased(), address: String(address),
            options: parts.count > 1 ? try Self.options(parts[1], in: text) : [:], text: text)
        if isSerialPort { serial = try SerialSettings(of: self) }
    }

    private init(
        scheme: String, address: String, options: [String: String], text: String, serial: SerialSettings? = nil,
        sharedAddress: SharedDeviceAddress? = nil
    ) {
        self.serial = serial
        self.sharedAddress = sharedAddress
        self.scheme = scheme
        self.address = address
        self.options = options
        self.text = text
    }

    /// Returns the hint for a name without a path.
    private static func hint(forBareName name: String) -> String {
        if name.isEmpty { return "name a port, e.g. /dev/ttyUSB0" }
        if access("/dev/\(name)", F_OK) == 0 { return "write the port with its path: /dev/\(name)" }
        // `pumpctl sim --link NAME` creates such a symbolic link in the current folder.
        if access(name, F_OK) == 0 { return "write the port with its path: ./\(name)" }
        return "write a port with its path, e.g. /dev/\(name) or ./\(name)"
    }

    /// The `serial:` spelling of a bare path that ends in options or a baud rate, such as
    /// `serial:/dev/ttyUSB0?baud=9600`; nil for any other endpoint.
    var spelledWithOptions: String? {
        guard text == address else { return nil }
        let parts = text.split(separator: "?", maxSplits: 1)
        if parts.count == 2, parts[1].contains("=") { return "serial:\(text)" }
        guard let colon = text.lastIndex(of: ":"), let rate = UInt32(text[text.index(after: colon)...]) else {
            return nil
        }
        return "serial:\(text[..<colon])?baud=\(rate)"
    }

    private static func options(_ query: Substring, in text: String) throws(LinkError) -> [String: String] {
        var options: [String: String] = [:]
        for item in query.split(separator: "&") {
            let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(pair[0])
            guard !name.isEmpty, options[name] == nil else {
                throw LinkError(
                    .invalidEndpoint, name: text, activity: "read the endpoint",
                    hint: "write options as name=value, each once: ?baud=9600")
            }
            options[name] = pair.count > 1 ? String(pair[1]) : "true"
        }
        return options
    }

    /// Whether the endpoint leads to a serial port, by path or by USB device.
    public var isSerialPort: Bool { scheme == "serial" || scheme == "usb" }

    /// Returns the endpoint of the serial port at `path`, with the settings of this endpoint.
    public func serialPort(at path: String) -> Endpoint {
        Endpoint(scheme: "serial", address: path, options: options, text: path, serial: serial ?? SerialSettings())
    }

    /// Returns this endpoint with another address. ``text`` stays as it was written.
    public func replacingAddress(_ address: String) -> Endpoint { with(address: address) }

    /// Returns this endpoint with one option changed. ``text`` and the settings of a serial port (``serial``) stay as
    /// they are.
    public func adding(_ option: String, _ value: String) -> Endpoint {
        var options = options
        options[option] = value
        return with(options: options)
    }

    /// Returns this endpoint with the address at which a daemon shares its device.
    public func shared(at address: SharedDeviceAddress) -> Endpoint {
        Endpoint(
            scheme: scheme, address: self.address, options: options, text: text, serial: serial, sharedAddress: address)
    }

    private func with(address: String? = nil, options: [String: String]? = nil) -> Endpoint {
        Endpoint(
            scheme: scheme, address: address ?? self.address, options: options ?? self.options, text: text,
            serial: serial, sharedAddress: sharedAddress)
    }

    /// Returns an `invalidEndpoint` error for this endpoint.
    ///
    /// - Parameter hint: The instruction for the user.
    public func invalid(_ hint: String) -> LinkError {
        LinkError(.invalidEndpoint, name: text, activity: "read the endpoint", hint: hint)
    }

    /// Checks the names of the options.
    ///
    /// - Throws: `invalidEndpoint` if there is an option that `known` does not contain.
    public func allowOptions(_ known: Set<String>) throws(LinkError) {
        guard let unknown = options.keys.filter({ !known.contains($0) }).min() else { return }
        let list = known.sorted().joined(separator: ", ")
        throw invalid(
            "leave out '\(unknown)': '\(scheme):' takes " + (known.isEmpty ? "no options" : "the options \(list)"))
    }

    /// Returns the integer value of an option; nil if the option is missing.
    ///
    /// - Throws: `invalidEndpoint` if the value is not an integer within `range`.
    public func number(_ name: String, in range: ClosedRange<Int>) throws(LinkError) -> Int? {
        guard let text = options[name] else { return nil }
        guard let value = Int(text), range.contains(value) else {
            throw invalid("set \(name) to a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    /// Returns the Boolean value of an option; nil if the option is missing. `name`, `name=on` and `name=true` are
    /// true; `name=off` and `name=false` are false.
    ///
    /// - Throws: `invalidEndpoint` for any other value.
    public func flag(_ name: String) throws(LinkError) -> Bool? {
        guard let text = options[name] else { return nil }
        switch text {
        case "on", "true": return true
        case "off", "false": return false
        default: throw invalid("set \(name) to on or off")
        }
    }

    /// Returns the choice that an option names; nil if the option is missing.
    ///
    /// - Throws: `invalidEndpoint` if the value is not one of `choices`.
    public func choice<Value>(_ name: String, of choices: [(String, Value)]) throws(LinkError) -> Value? {
        guard let text = options[name] else { return nil }
        if let choice = choices.first(where: { $0.0 == text }) { return choice.1 }
        throw invalid("set \(name) to one of: " + choices.map(\.0).joined(separator: ", "))
    }
}

extension Endpoint: CustomStringConvertible {
    public var description: String { text }
}
