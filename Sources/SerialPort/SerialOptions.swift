/// How a serial port is opened: the settings of the line, and the manners of opening and closing.
///
/// The defaults suit a bench device on a USB adapter: 9600 baud, 8N1, no flow control, nobody else on the port, and no
/// reset of an Arduino when the next command comes.
///
/// ```swift
/// var options = SerialOptions(baudRate: 115_200)
/// options.parity = .even
/// let port = try SerialPort(path: "/dev/ttyUSB0", options: options)
/// ```
public struct SerialOptions: Sendable, Hashable {
    /// What is added to each character to detect a damaged bit.
    ///
    /// Parity of what is received is not checked by this library: characters that fail it are delivered as they came.
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

    /// How long the line rests between characters.
    public enum StopBits: Int, Sendable, Hashable, CaseIterable {
        /// One bit.
        case one = 1
        /// Two bits.
        case two = 2
    }

    /// How a receiver tells the sender to pause.
    public enum FlowControl: Sendable, Hashable, CaseIterable {
        /// It does not.
        case none
        /// By the RTS and CTS lines.
        case rtsCts
        /// By the bytes XOFF (0x13) and XON (0x11), which then cannot be data.
        case xonXoff
    }

    /// What opening does to a modem line.
    ///
    /// The kernel asserts DTR and RTS while it opens a port; for 50 to 260 µs that cannot be prevented (pyserial#124). The policy
    /// says what follows. It is carried out as far as the driver can, and is no error on a terminal without modem lines:
    /// an error there broke socat's ptys and gadget ttys (serialport-rs#204, #239).
    public enum LinePolicy: Sendable, Hashable, CaseIterable {
        /// Asserted once more.
        case asserted
        /// Released.
        case deasserted
        /// Left as the kernel has it.
        case untouched
    }

    /// Whether others may use the port meanwhile.
    public enum Exclusivity: Sendable, Hashable, CaseIterable {
        /// Nobody else: other programs find the port busy.
        case exclusive
        /// Others that ask for a shared port too. The settings of the line are one for all: the last to ask has them.
        case shared
    }

    /// A part of the options that a driver may refuse.
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

    /// Bits per second, both ways: any number from 1, not only the usual ones. 9600 by default.
    public var baudRate: Int
    /// Data bits in a character, 5 to 8. 8 by default.
    public var dataBits: Int
    /// ``Parity/none`` by default.
    public var parity: Parity
    /// ``StopBits/one`` by default.
    public var stopBits: StopBits
    /// ``FlowControl/none`` by default.
    public var flowControl: FlowControl
    /// What opening does to DTR. ``LinePolicy/untouched`` by default.
    public var dtrOnOpen: LinePolicy
    /// What opening does to RTS. ``LinePolicy/untouched`` by default.
    public var rtsOnOpen: LinePolicy
    /// Whether the last close releases DTR and RTS (`HUPCL`). False by default: with it, each open after a close is an
    /// edge on DTR, and resets an Arduino (pyserial#124).
    public var hangUpOnClose: Bool
    /// ``Exclusivity/exclusive`` by default.
    public var exclusivity: Exclusivity
    /// Whether to ask the driver to hand over each byte at once (an FTDI adapter keeps a lone byte for up to 16 ms).
    /// Opening asks where the driver can, and goes on where it cannot; ``SerialPort/currentOptions()`` tells. False by
    /// default, which leaves the driver as it is.
    public var lowLatency: Bool
    /// How long closing waits for what was written to leave the computer. 2 s by default.
    public var drainTimeout: Duration

    /// Options that differ from the defaults only where given.
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

    /// How long a byte takes on the line: a start bit, the data bits, the parity bit if there is one, and the stop bits.
    public var byteTime: Duration {
        let bits = 1 + dataBits + (parity == .none ? 0 : 1) + stopBits.rawValue
        return .seconds(bits) / max(1, baudRate)
    }

    /// The settings of the line in which a driver's answer differs from these.
    ///
    /// A rate within 2 % counts as the same: that is as close as a divided clock comes, as a UART needs, and as the
    /// kernel itself asks.
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

    /// The value of a setting, as a person writes it.
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
