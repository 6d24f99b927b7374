internal import LineProtocol
internal import SerialPort

/// The settings with which an endpoint opens a serial port.
///
///     serial:/dev/ttyUSB0?baud=9600&bits=8&parity=none&stop=1&flow=none
///     serial:/dev/ttyUSB0?dtr=on&rts=untouched&hupcl=off&shared&lowlatency&reset
public struct SerialSettings: Sendable, Hashable {
    /// The baud rate, from 1 to 12,000,000, the highest rate of FTDI and Prolific adapters; nil if the endpoint sets
    /// none. A program may then set the rate of the device's family; otherwise the port is opened at 9600 baud.
    public var baudRate: Int?
    /// Whether to reset the board after opening, with a pulse on DTR.
    public var resetsBoard = false
    /// The settings of all other options.
    private var others = SerialOptions()

    /// Creates the default settings.
    init() {}

    /// Parses the options of a `serial:` or `usb:` endpoint.
    ///
    /// - Throws: `invalidEndpoint`.
    init(of endpoint: Endpoint) throws(LinkError) {
        if endpoint.options.isEmpty { return }
        try endpoint.allowOptions([
            "baud", "bits", "parity", "stop", "flow", "dtr", "rts", "hupcl", "shared", "lowlatency", "reset",
        ])
        let lines: [(String, SerialOptions.LinePolicy)] = [
            ("on", .asserted), ("off", .deasserted), ("untouched", .untouched),
        ]
        baudRate = try endpoint.number("baud", in: 1...12_000_000)
        resetsBoard = try endpoint.flag("reset") ?? false
        if let bits = try endpoint.number("bits", in: 5...8) { others.dataBits = bits }
        if let stop = try endpoint.choice("stop", of: [("1", SerialOptions.StopBits.one), ("2", .two)]) {
            others.stopBits = stop
        }
        // The names are literals: deriving them from the cases needs reflection, which takes longer than opening the
        // port.
        let parities: [(String, SerialOptions.Parity)] = [
            ("none", .none), ("odd", .odd), ("even", .even), ("mark", .mark), ("space", .space),
        ]
        if let parity = try endpoint.choice("parity", of: parities) { others.parity = parity }
        let flows: [(String, SerialOptions.FlowControl)] = [
            ("none", .none), ("rtscts", .rtsCts), ("xonxoff", .xonXoff),
        ]
        if let flow = try endpoint.choice("flow", of: flows) { others.flowControl = flow }
        if let dtr = try endpoint.choice("dtr", of: lines) { others.dtrOnOpen = dtr }
        if let rts = try endpoint.choice("rts", of: lines) { others.rtsOnOpen = rts }
        if let hangUp = try endpoint.flag("hupcl") { others.hangUpOnClose = hangUp }
        if let isShared = try endpoint.flag("shared") { others.exclusivity = isShared ? .shared : .exclusive }
        if let lowLatency = try endpoint.flag("lowlatency") { others.lowLatency = lowLatency }
    }

    /// The complete options for opening the port.
    var options: SerialOptions {
        var options = others
        if let baudRate { options.baudRate = baudRate }
        return options
    }
}
