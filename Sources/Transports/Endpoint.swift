internal import Glibc
public import LineProtocol

/// The address that a link is opened from, as a person writes it.
///
///     /dev/ttyUSB0          serial:/dev/ttyUSB0?baud=115200
///     usb:1a86:7523@1-2.3   tcp:bench:4000        unix:/run/pump.sock        sim:pump?seed=7
public struct Endpoint: Sendable, Hashable {
    /// What stands before the first colon, in lower case; `serial` for a bare path.
    public let scheme: String
    /// What stands behind it, up to the question mark.
    public let address: String
    /// What stands behind the question mark, `name=value` parted by `&`.
    public let options: [String: String]
    /// How a serial port is opened, read from ``options``; nil for another carrier.
    public var serial: SerialSettings?
    /// As it was written.
    public let text: String
    /// Where a daemon shares the device that this endpoint was found to lead to; nil where that is not known. No text has it.
    public let sharedAddress: SharedDeviceAddress?

    /// Reads an endpoint.
    ///
    /// A text that begins with `/` or `.`, or has a `/` before any colon, is the path of a serial port, whatever else it holds.
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

    /// What to write in place of a name that has no path.
    private static func hint(forBareName name: String) -> String {
        if name.isEmpty { return "name a port, as /dev/ttyUSB0" }
        if access("/dev/\(name)", F_OK) == 0 { return "write it with its path: /dev/\(name)" }
        // As `sim --link` makes one in the current folder.
        if access(name, F_OK) == 0 { return "write it with its path: ./\(name)" }
        return "write a port with its path, as /dev/\(name) or ./\(name)"
    }

    /// How a bare path is to be written that has options or a baud rate behind it, as `serial:/dev/ttyUSB0?baud=9600`; nil if it
    /// has none.
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

    /// Whether it leads to a serial port, by its path or by its USB device.
    public var isSerialPort: Bool { scheme == "serial" || scheme == "usb" }

    /// The serial port at `path`, with the settings of this endpoint.
    public func serialPort(at path: String) -> Endpoint {
        Endpoint(scheme: "serial", address: path, options: options, text: path, serial: serial ?? SerialSettings())
    }

    /// This endpoint with another address.
    public func replacingAddress(_ address: String) -> Endpoint { with(address: address) }

    /// This endpoint with another option, of a carrier that is no serial port: see ``serial``.
    public func adding(_ option: String, _ value: String) -> Endpoint {
        var options = options
        options[option] = value
        return with(options: options)
    }

    /// This endpoint, whose device a daemon has and shares there.
    public func shared(at address: SharedDeviceAddress) -> Endpoint {
        Endpoint(
            scheme: scheme, address: self.address, options: options, text: text, serial: serial, sharedAddress: address)
    }

    private func with(address: String? = nil, options: [String: String]? = nil) -> Endpoint {
        Endpoint(
            scheme: scheme, address: address ?? self.address, options: options ?? self.options, text: text,
            serial: serial, sharedAddress: sharedAddress)
    }

    /// An error that says what is wrong with this endpoint.
    public func invalid(_ hint: String) -> LinkError {
        LinkError(.invalidEndpoint, name: text, activity: "read the endpoint", hint: hint)
    }

    /// Refuses options that are not among `known`.
    public func allowOptions(_ known: Set<String>) throws(LinkError) {
        guard let unknown = options.keys.filter({ !known.contains($0) }).min() else { return }
        let list = known.sorted().joined(separator: ", ")
        throw invalid(
            "leave out '\(unknown)': '\(scheme):' takes " + (known.isEmpty ? "no options" : "the options \(list)"))
    }

    /// The whole number that option `name` gives; nil if it is not given.
    ///
    /// - Throws: `invalidEndpoint` where it is no number of `range`.
    public func number(_ name: String, in range: ClosedRange<Int>) throws(LinkError) -> Int? {
        guard let text = options[name] else { return nil }
        guard let value = Int(text), range.contains(value) else {
            throw invalid("set \(name) to a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    /// Whether option `name` is on: `name`, `name=on`, `name=off`; `true` and `false` are taken as well.
    public func flag(_ name: String) throws(LinkError) -> Bool? {
        guard let text = options[name] else { return nil }
        switch text {
        case "on", "true": return true
        case "off", "false": return false
        default: throw invalid("set \(name) to on or off")
        }
    }

    /// The one of `choices` that option `name` gives; nil if it is not given.
    public func choice<Value>(_ name: String, of choices: [(String, Value)]) throws(LinkError) -> Value? {
        guard let text = options[name] else { return nil }
        if let choice = choices.first(where: { $0.0 == text }) { return choice.1 }
        throw invalid("set \(name) to one of: " + choices.map(\.0).joined(separator: ", "))
    }
}

extension Endpoint: CustomStringConvertible {
    public var description: String { text }
}
