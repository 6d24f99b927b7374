/// A fault that a simulated device or its carrier can have, described as data.
///
/// Faults of the output act on it in units. On a serial line, a unit is a line of text, or 64 bytes of a longer one;
/// over BLE, a unit is a notification.
public struct Fault: Sendable {
    /// The effect of a fault.
    enum Effect: Sendable, Hashable {
        /// Delays output by the fault's time: from the middle of a unit on if `inside`, otherwise from its beginning
        /// on.
        case pause(inside: Bool)
        /// Holds output back until the fault's time has passed since the first held byte, so that the output arrives in
        /// one piece.
        case gather
        /// Loses one byte of a unit.
        case loseByte
        /// Loses a unit.
        case loseUnit
        /// Sends a unit twice.
        case repeatUnit
        /// Flips one bit of a unit.
        case flipBit
        /// Sends 1 to 32 random bytes: before a unit, or, with the occasion `start`, when a host has come and when the
        /// board was reset.
        case noise
        /// Resets the board in the middle of a unit.
        case reset
        /// Stops input and output for the fault's time. Over BLE, reads and writes that expect a response fail
        /// immediately, because nothing can delay their responses.
        case silence
        /// Sends the bytes of a unit one by one, the fault's time apart.
        case trickle
        /// Loses one byte of a command.
        case overrun
        /// Makes the device's clock drift by the fault's percentage.
        case drift
        /// Sends a whole reply again.
        case repeatReply
        /// Puts the device into an error state that no command ends.
        case stick
        /// Garbles input and output if the host's baud rate differs from the device's.
        case garble
        /// Pulls the cable in the middle of a unit, for the fault's time.
        case unplug
        /// Drops the radio link in the middle of a write.
        case hangUp
        /// Acts as ``silence`` does, then drops the radio link.
        case loseRadio
        /// Repeats the last notification before a subscription is confirmed.
        case notifyEarly
    }

    /// The value that a fault takes after `=`: in a ``FaultOrder`` the given value, in a ``Fault`` the default.
    enum Amount: Sendable, Hashable {
        case nothing
        /// A time.
        case time(Duration)
        /// A percentage, as a fraction of 1.
        case share(Double)
    }

    /// The name, in lower case, such as `drop`.
    public let name: String
    /// A sentence that describes the fault, for help texts.
    public let help: String
    /// The URL of a public thread that reports the fault.
    public let source: String
    /// The only carrier on which the fault makes sense; nil for any carrier. If the device has a line behind its radio,
    /// faults of a line make sense over BLE too, except `baud` and `unplug`.
    public let carrier: SimulatorOption.Carrier?

    let effect: Effect
    let amount: Amount
    /// The occasion of the fault if its order names none.
    let occasion: Occasion

    private init(
        _ name: String, _ effect: Effect, _ amount: Amount = .nothing, _ occasion: Occasion = .chance(0.1),
        only carrier: SimulatorOption.Carrier? = nil, source: String, help: String
    ) {
        self.name = name
        self.effect = effect
        self.amount = amount
        self.occasion = occasion
        self.carrier = carrier
        self.source = source
        self.help = help
    }

    /// All faults, sorted by name.
    public static let all: [Fault] = [
        Fault(
            "baud", .garble, .nothing, .always, only: .line, source: "https://github.com/esp8266/Arduino/issues/2130",
            help: "A host at another baud rate sends and receives garbage; on a pseudo-terminal."),
        Fault(
            "corrupt", .flipBit, only: .line, source: "https://github.com/jeelabs/esp-link/issues/404",
            help: "A bit of a line arrives flipped."),
        Fault(
            "delay", .pause(inside: false), .time(.milliseconds(500)),
            source: "https://github.com/Fazecast/jSerialComm/issues/355",
            help: "Output is delayed by this time."),
        Fault(
            "disconnect", .hangUp, .nothing, .chance(0.05), only: .radio,
            source: "https://github.com/don/cordova-plugin-ble-central/issues/84",
            help: "The radio link drops during a write, and the rest of the write is lost."),
        Fault(
            "drain", .trickle, .time(.milliseconds(20)), only: .line,
            source: "https://github.com/mik3y/usb-serial-for-android/issues/155",
            help: "The bytes of a line arrive one by one, this time apart."),
        Fault(
            "drift", .drift, .share(0.02), .always, source: "https://github.com/adafruit/RTClib/pull/112",
            help: "The device's clock is slow by this percentage, or fast if it is negative."),
        Fault(
            "drop", .loseByte, only: .line, source: "https://github.com/espressif/esp-idf/issues/1075",
            help: "A byte of a line is lost."),
        Fault(
            "duplicate", .repeatUnit, source: "https://github.com/hbldh/bleak/issues/584",
            help: "A line, a notification or a message of a phone is sent twice."),
        Fault(
            "early", .notifyEarly, .nothing, .start, only: .radio,
            source: "https://github.com/hbldh/bleak/issues/1885",
            help: "The last notification is repeated before a subscription is confirmed."),
        Fault(
            "join", .gather, .time(.milliseconds(20)), only: .line,
            source: "https://github.com/M0r13n/pyais/pull/113",
            help: "Output within this time arrives in one piece."),
        Fault(
            "lost", .loseUnit, only: .radio,
            source: "https://github.com/dotnet-bluetooth-le/dotnet-bluetooth-le/issues/139",
            help: "A notification is lost."),
        Fault(
            "noise", .noise, .nothing, .start, only: .line, source: "https://github.com/esp8266/Arduino/issues/5025",
            help: "Garbage arrives when the line is opened, and after a reset of the board."),
        Fault(
            "overrun", .overrun, only: .line, source: "https://github.com/arduino/ArduinoCore-avr/issues/223",
            help: "A byte of a command is lost on its way to the device."),
        Fault(
            "reset", .reset, .nothing, .chance(0.05), source: "https://github.com/harmsm/PyCmdMessenger/issues/9",
            help: "The board resets during its output."),
        Fault(
            "silence", .silence, .time(.seconds(10)), .chance(0.05),
            source: "https://github.com/missionpinball/mpf/pull/2043",
            help: "The device receives and sends nothing for this time."),
        Fault(
            "split", .pause(inside: true), .time(.milliseconds(50)),
            source: "https://github.com/serialport/node-serialport/issues/1714",
            help: "A line or a notification arrives in two pieces, this time apart."),
        Fault(
            "stuck", .stick, .nothing, .chance(0.05), source: "https://github.com/grblHAL/plugins/issues/10",
            help: "The device enters an error state and never leaves it."),
        Fault(
            "supervision", .loseRadio, .time(.seconds(5)), .chance(0.05), only: .radio,
            source: "https://github.com/RPi-Distro/bluez-firmware/issues/8",
            help: "No data gets through for this time; then the radio link is lost."),
        Fault(
            "twice", .repeatReply, source: "https://github.com/pymodbus-dev/pymodbus/issues/2790",
            help: "A command is answered twice."),
        Fault(
            "unplug", .unplug, .time(.seconds(2)), .chance(0.02), only: .line,
            source: "https://github.com/berkowski/tokio-serial/issues/56",
            help: "The cable is pulled during output, and the device returns after this time as another port."),
    ]

    static func named(_ name: some StringProtocol) -> Fault? { all.first { $0.name == name } }
}
