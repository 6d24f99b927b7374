internal import LineProtocol
internal import SerialPort

/// How an endpoint has a serial port opened.
///
///     serial:/dev/ttyUSB0?baud=9600&bits=8&parity=none&stop=1&flow=none&dtr=on&rts=untouched&hupcl=off&shared&lowlatency&reset
public struct SerialSettings: Sendable, Hashable {
    /// The baud rate, 1 to 12,000,000; nil if none is named. A port is opened at 9600 baud then.
    public var baudRate: Int?
    /// Whether the board is reset by its DTR line once the port is open.
    public var resetsBoard = false
    private var others = SerialOptions()

    /// Settings of a port of which nothing is said.
    init() {}

    /// Reads the options of a `serial:` or `usb:` endpoint.
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
        // Written out: to have the names from the cases is reflection, and takes longer than opening the port.
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

    /// All that the port is opened with.
    var options: SerialOptions {
        var options = others
        if let baudRate { options.baudRate = baudRate }
        return options
    }
}
