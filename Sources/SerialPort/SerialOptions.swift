/// The options of a serial port: the line settings, and its behaviour at opening and closing.
///
/// The defaults suit a bench device on a USB adapter: 9600 baud, 8N1, no flow control, exclusive access, and no reset
/// of an Arduino at each command.
///
/// ```swift
/// var options = SerialOptions(baudRate: 115_200)
/// options.parity = .even
/// let port = try SerialPort(path: "/dev/ttyUSB0", options: options)
/// ```
public struct SerialOptions: Sendable, Hashable {
    /// The bit that is added to each character to detect damage.
    ///
    /// This library does not check the parity of received characters: it delivers characters with a wrong
    /// parity bit unchanged.
    public enum Parity: Sendable, Hashable, CaseIterable {
        /// No parity bit.
        case none
        /// The number of ones, parity bit included, is odd.
        case odd
        /// The number of ones, parity bit included, is even.
        case even
        /// The parity bit is always 1.
        case mark
        /// The parity bit is always 0.
        case space
    }

    /// The minimum length of the pause between characters.
    public enum StopBits: Int, Sendable, Hashable, CaseIterable {
        /// One bit.
        case one = 1
        /// Two bits.
        case two = 2
    }

    /// The method by which a receiver asks the sender to pause.
    public enum FlowControl: Sendable, Hashable, CaseIterable {
        /// No flow control.
        case none
        /// Flow control by the RTS and CTS lines.
        case rtsCts
        /// Flow control by the bytes XOFF (0x13) and XON (0x11), which then cannot be data.
        case xonXoff
    }

    /// The state of a modem line after opening.
    ///
    /// The kernel asserts DTR and RTS while it opens a port; for 50 to 260 µs this cannot be prevented (pyserial#124).
    /// Then the policy applies, as far as the driver supports it. A terminal without modem lines causes no error: such
    /// errors broke socat's ptys and gadget ttys (serialport-rs#204, #239).
    public enum LinePolicy: Sendable, Hashable, CaseIterable {
        /// Asserts the line explicitly.
        case asserted
        /// Releases the line.
        case deasserted
        /// Leaves the line as the kernel set it.
        case untouched
    }

    /// Whether other programs may use the port at the same time.
    public enum Exclusivity: Sendable, Hashable, CaseIterable {
        /// Other programs find the port busy, and opening fails while another program has locked it.
        case exclusive
        /// Programs that open the port as shared too may use it at the same time. All programs share one set of line
        /// settings: the last change applies.
        case shared
    }

    /// An option that a driver may refuse.
    public enum Setting: Sendable, Hashable, CaseIterable {
        /// ``SerialOptions/baudRate``.
        case baudRate
        /// ``SerialOptions/dataBits``.
        case dataBits
        /// ``SerialOptions/parity``.
        case parity
        /// ``SerialOptions/stopBits``.
        case stopBits
        /// ``SerialOptions/flowControl``.
        case flowControl
        /// ``SerialOptions/hangUpOnClose``.
        case hangUpOnClose
    }

    /// The line rate in bit/s, both ways: any number from 1, not only the usual ones. 9600 by default.
    public var baudRate: Int
    /// The number of data bits in a character, 5 to 8. 8 by default.
    public var dataBits: Int
    /// The parity bit. ``Parity/none`` by default.
    public var parity: Parity
    /// The number of stop bits. ``StopBits/one`` by default.
    public var stopBits: StopBits
    /// The flow control. ``FlowControl/none`` by default.
    public var flowControl: FlowControl
    /// The state of DTR after opening. ``LinePolicy/untouched`` by default.
    public var dtrOnOpen: LinePolicy
    /// The state of RTS after opening. ``LinePolicy/untouched`` by default.
    public var rtsOnOpen: LinePolicy
    /// Whether the last close releases DTR and RTS (`HUPCL`). False by default: if true, each open after a close raises
    /// DTR again and resets an Arduino (pyserial#124).
    public var hangUpOnClose: Bool
    /// Whether other programs may use the port at the same time. ``Exclusivity/exclusive`` by default.
    public var exclusivity: Exclusivity
    /// Whether to ask the driver to deliver each byte at once. By default an FTDI adapter holds a lone byte for up to
    /// 16 ms.
    ///
    /// Opening continues if the driver lacks this feature; ``SerialPort/currentOptions()`` returns the actual state.
    /// False by default; opening then leaves the driver's state unchanged.
    public var lowLatency: Bool
    /// The longest time that closing waits for written bytes to leave the computer. 2 s by default, enough for 1.9 kB
    /// at 9600 baud.
    public var drainTimeout: Duration

    /// Creates options. Each omitted parameter has the default of its property.
    public init(
        baudRate: Int = 9600,
        dataBits: Int = 8,
        parity: Parity = .none,
        stopBits: StopBits = .one,
        flowControl: FlowControl = .none,
        dtrOnOpen: LinePolicy = .untouched,
        rtsOnOpen: LinePolicy = .untouched,
        hangUpOnClose: Bool = false,
        exclusivity: Exclusivity = .exclusive,
        lowLatency: Bool = false,
        drainTimeout: Duration = .seconds(2)
    ) {
        self.baudRate = baudRate
        self.dataBits = dataBits
        self.parity = parity
        self.stopBits = stopBits
        self.flowControl = flowControl
        self.dtrOnOpen = dtrOnOpen
        self.rtsOnOpen = rtsOnOpen
        self.hangUpOnClose = hangUpOnClose
        self.exclusivity = exclusivity
        self.lowLatency = lowLatency
        self.drainTimeout = drainTimeout
    }

    /// The transmission time of a byte: a start bit, the data bits, the parity bit if there is one, and the stop bits.
    public var byteTime: Duration {
        let bits = 1 + dataBits + (parity == .none ? 0 : 1) + stopBits.rawValue
        return .seconds(bits) / max(1, baudRate)
    }

    /// Returns the line settings in which a driver's choice differs from these options.
    ///
    /// Baud rates within 2 % of each other count as equal: a divided clock often gets no closer, a UART tolerates as
    /// much, and the kernel uses the same limit.
    ///
    /// - Parameter taken: The settings that the driver reports.
    public func differences(from taken: SerialOptions) -> [Setting] {
        Setting.allCases.filter { setting in
            switch setting {
            case .baudRate: abs(taken.baudRate - baudRate) > baudRate / 50
            case .dataBits: taken.dataBits != dataBits
            case .parity: taken.parity != parity
            case .stopBits: taken.stopBits != stopBits
            case .flowControl: taken.flowControl != flowControl
            case .hangUpOnClose: taken.hangUpOnClose != hangUpOnClose
            }
        }
    }

    /// Returns the value of a setting as readable text.
    func text(of setting: Setting) -> String {
        switch setting {
        case .baudRate: "\(baudRate) baud"
        case .dataBits: "\(dataBits) data bits"
        case .parity: "parity \(parity)"
        case .stopBits: stopBits == .one ? "1 stop bit" : "2 stop bits"
        case .flowControl: "flow control \(flowControl)"
        case .hangUpOnClose: hangUpOnClose ? "hang up on close" : "no hang-up on close"
        }
    }
}
