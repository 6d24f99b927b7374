/// The options of a simulated pump, for the variants of the firmware in the field.
public struct PumpFirmwareOptions: Sendable, Hashable {
    /// The number of temperature probes that the firmware supports.
    public enum Thermistors: Int, Sendable, Hashable {
        /// No probe, and so no overheat protection. Each temperature is a question mark: `WaterTemp:?C,SkinTemp:?C` in
        /// a status line, `TEMP:{Water:?C,Skin:?C}`.
        case zero
        /// Skin only: `Temp:34.5C` in a status line, `TEMP:34.5`.
        case one
        /// Water and skin: `WaterTemp:…,SkinTemp:…` in a status line, `TEMP:{Water:…,Skin:…}`.
        case two
    }

    /// The text that the firmware prints at the end of `setup()`.
    public enum BootBanner: String, Sendable, Hashable, CaseIterable {
        /// Nothing.
        case off
        /// One line, `HELLO:…`.
        case hello
        /// Device, version, baud rate and `Ready for commands...` between lines of `=`.
        case banner
    }

    /// The end of each line that the device prints.
    public enum LineEnding: String, Sendable, Hashable {
        /// `\r\n`, as Arduino's `println` does.
        case carriageReturnLineFeed = "\r\n"
        /// `\n`, as older firmware does.
        case lineFeed = "\n"
    }

    /// The UART's line rate. The pump protocol: 9600 8N1.
    public var lineRate: LineRate
    /// The number of thermistors that the firmware supports.
    public var thermistors: Thermistors
    /// The text that is printed after a reset.
    public var bootBanner: BootBanner
    /// The end of each printed line.
    public var lineEnding: LineEnding
    /// Whether the overheat text names the temperature. If not, it contains `?C`, because AVR's printf has no `%f`.
    public var printsFloats: Bool
    /// Whether a status line of a stopped pump contains `Speed:0%,Runtime:0m,Remaining:30m`.
    public var reportsTimesWhenStopped: Bool
    /// Whether to print the free text of debug builds: `[BT] …`, `[PUMP] …` and the like.
    public var printsDebugLines: Bool
    /// Whether, while a command waits, the button and the periodic status line are served after the first line of the
    /// command's reply instead of before the reply.
    public var interruptsReplies: Bool
    /// Whether a speed that is too long for 16 bits is out of range, as in the firmware of hardware/nano-pump. If not,
    /// the lowest 16 bits of the speed count.
    public var saturatesNumbers: Bool
    /// The initial temperatures.
    public var heat: HeatModel
    /// The initial position of the speed potentiometer: an ADC reading, 0...1023.
    ///
    /// The firmware assumes a position of 716, which stands for the speed at which ON starts (PWM 180). If the real
    /// position stands for a speed that differs by more than PWM 5, the first turn after the first ON sets that speed,
    /// some 160 ms after ON.
    public var potentiometer: Int

    /// Creates options. By default, the firmware supports two thermistors at 9600 baud and is silent at boot, and the
    /// potentiometer stands half-way.
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
