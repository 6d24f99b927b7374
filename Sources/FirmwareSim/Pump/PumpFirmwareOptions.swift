/// Which of the pump firmwares in the field to be.
public struct PumpFirmwareOptions: Sendable, Hashable {
    /// How many temperature probes the firmware knows.
    public enum Thermistors: Int, Sendable, Hashable {
        /// None, and so no overheat protection: a question mark for each temperature, `WaterTemp:?C,SkinTemp:?C` in a status
        /// line, `TEMP:{Water:?C,Skin:?C}`.
        case zero
        /// Skin only: `Temp:34.5C` in a status line, `TEMP:34.5`.
        case one
        /// Water and skin: `WaterTemp:…,SkinTemp:…` in a status line, `TEMP:{Water:…,Skin:…}`.
        case two
    }

    /// What the firmware prints at the end of `setup()`.
    public enum BootBanner: String, Sendable, Hashable, CaseIterable {
        /// Nothing.
        case off
        /// One line, `HELLO:…`.
        case hello
        /// Device, version, baud rate and `Ready for commands...` between lines of `=`.
        case banner
    }

    /// What ends the lines that the device prints.
    public enum LineEnding: String, Sendable, Hashable {
        /// `\r\n`, as Arduino's `println` does.
        case carriageReturnLineFeed = "\r\n"
        /// `\n`, as older firmware does.
        case lineFeed = "\n"
    }

    /// The UART's line rate. The pump protocol: 9600 8N1.
    public var lineRate: LineRate
    /// How many thermistors the firmware knows.
    public var thermistors: Thermistors
    /// What is printed after a reset.
    public var bootBanner: BootBanner
    /// What ends a printed line.
    public var lineEnding: LineEnding
    /// Whether the overheat text names the temperature. AVR's printf has no `%f` and prints `?C`.
    public var printsFloats: Bool
    /// Whether a status line says `Speed:0%,Runtime:0m,Remaining:30m` while the pump is not running, instead of nothing.
    public var reportsTimesWhenStopped: Bool
    /// Whether to print the free text of debug builds: `[BT] …`, `[PUMP] …` and the like.
    public var printsDebugLines: Bool
    /// Whether the button and the periodic status line, when a command waits, are served after the first line of its reply
    /// instead of before it.
    public var interruptsReplies: Bool
    /// Whether a speed that is too long for 16 bits is out of range, as in the firmware of hardware/nano-pump, and not what
    /// its lowest 16 bits make of it.
    public var saturatesNumbers: Bool
    /// The temperatures to begin with.
    public var heat: HeatModel
    /// Where the speed potentiometer stands to begin with: an ADC reading, 0...1023.
    ///
    /// The firmware believes it to stand at 716, which asks for the speed that ON starts at (PWM 180). Where it stands
    /// elsewhere, the first turn after the first ON takes its value: the pump runs at another speed 100 ms after ON.
    public var potentiometer: Int

    /// The two-thermistor firmware at 9600 baud, silent at boot, with the potentiometer half-way, unless told otherwise.
    public init(
        lineRate: LineRate = .baud(9600),
        thermistors: Thermistors = .two,
        bootBanner: BootBanner = .off,
        lineEnding: LineEnding = .carriageReturnLineFeed,
        printsFloats: Bool = false,
        reportsTimesWhenStopped: Bool = false,
        printsDebugLines: Bool = false,
        interruptsReplies: Bool = false,
        saturatesNumbers: Bool = false,
        heat: HeatModel = .moving(),
        potentiometer: Int = 512
    ) {
        self.lineRate = lineRate
        self.thermistors = thermistors
        self.bootBanner = bootBanner
        self.lineEnding = lineEnding
        self.printsFloats = printsFloats
        self.reportsTimesWhenStopped = reportsTimesWhenStopped
        self.printsDebugLines = printsDebugLines
        self.interruptsReplies = interruptsReplies
        self.saturatesNumbers = saturatesNumbers
        self.heat = heat
        self.potentiometer = potentiometer
    }
}
