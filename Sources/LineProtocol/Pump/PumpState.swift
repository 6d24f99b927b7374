/// The state of the pump, as far as its lines show it. The state covers everything that the phone app shows.
public struct PumpState: DeviceState, Hashable {
    public typealias Message = PumpMessage

    /// The origin of the last change of the pump's state or speed.
    public enum ControlSource: String, Sendable, Hashable {
        /// A command, from this host or the phone app.
        case app
        /// The button on the lid.
        case manual
    }

    /// The time after which the firmware stops a running pump.
    public static let maximumRuntime = Duration.seconds(30 * 60)

    /// Whether the pump runs; `unknown` until a line of the pump shows it, and whenever a command or restart has put it
    /// in doubt.
    ///
    /// Only a status line makes it `off`: a firmware may acknowledge OFF and keep running.
    public private(set) var power: PumpStatus.Power = .unknown
    /// The speed as a PWM duty, from the last reply to SPEED; nil if there was none, or if a later line or a doubt
    /// about a command has made the speed unknown.
    public private(set) var speed: PumpSpeed?
    /// The speed in whole percent, truncated, 0 to 100; nil if it is unknown.
    public private(set) var speedPercent: Int?
    /// The last readings of the thermistors. Readings that could not be parsed are kept as text in
    /// ``PumpTemperatures/otherFields``.
    public private(set) var temperatures = PumpTemperatures()
    /// The time for which the pump has run, in whole minutes, truncated; nil if it is unknown.
    public private(set) var runtimeMinutes: Int?
    /// The time after which the firmware will stop the pump, in whole minutes, truncated; nil if it is unknown.
    public private(set) var remainingMinutes: Int?
    /// The origin of the last change of the pump's state or speed that a line has reported; nil if it is unknown.
    public private(set) var lastControl: ControlSource?
    /// The last error that the pump reported; nil if there was none since a status of ON or OFF, a successful ON, OFF
    /// or SPEED, or a press of the button.
    public private(set) var error: PumpErrorCode?
    /// The error by which the pump stopped itself; unlike ``error``, later refusals of commands do not replace it.
    /// Cleared together with ``error``.
    private var stopCause: PumpErrorCode?

    /// Creates a state in which nothing is known.
    public init() {}

    /// The used share of the 30 minutes, 0 to 1; nil if it is unknown.
    public var runtimeProgress: Double? {
        runtimeMinutes.map { min(1, Double($0 * 60) / Double(Self.maximumRuntime.components.seconds)) }
    }

    /// Whether the 30-minute limit has stopped the pump.
    public var isSafetyShutOff: Bool { power == .error && stopCause == .safetyShutoff }

    public mutating func apply(_ message: PumpMessage) {
        switch message {
        case .pump(let isOn): switched(on: isOn, by: .app)
        case .manual(let isOn): switched(on: isOn, by: .manual)
        case .speed(let speed):
            power = .on
            self.speed = speed
            speedPercent = speed.percent
            lastControl = .app
            forgetError()
        case .status(let status): apply(status)
        case .temperatures(let temperatures): self.temperatures = temperatures
        case .error(let code):
            apply(code)
        case .text:
            if PumpFamily.isStart(message) { becomeUncertain() }
        case .ok, .unknown: break
        }
    }

    public mutating func overhear(_ message: PumpMessage) {
        apply(message)
        // The line may answer another host, or be damaged: 18 may have been 180. The next status line will show the
        // speed.
        if case .speed = message {
            speed = nil
            speedPercent = nil
        }
    }

    private mutating func apply(_ code: PumpErrorCode) {
        // A server sends these codes, not the pump.
        if code == .deviceAway || code == .overtaken { return }
        error = code
        switch code {
        case .safetyShutoff, .overheat:
            stopped(.error)
            stopCause = code
        case .pumpStartFailed:
            if power != .error { stopped(.error) }
        case .pumpNotRunning:
            // The pump is off, or was stopped for safety: the code does not say which.
            if power == .on { stopped(.unknown) }
        default: break
        }
    }

    public mutating func becomeUncertain() {
        stopped(.unknown)
        lastControl = nil
    }

    /// Updates the state after the pump was switched on or off. The speed is unknown until the next status line, since
    /// the potentiometer may change the speed a tenth of a second later.
    private mutating func switched(on isOn: Bool, by source: ControlSource) {
        stopped(isOn ? .on : power == .off ? .off : .unknown)
        lastControl = source
        forgetError()
    }

    private mutating func forgetError() {
        error = nil
        stopCause = nil
    }

    /// Sets ``power``, and forgets the speed and the times.
    private mutating func stopped(_ power: PumpStatus.Power) {
        self.power = power
        speed = nil
        speedPercent = nil
        runtimeMinutes = nil
        remainingMinutes = nil
    }

    private mutating func apply(_ status: PumpStatus) {
        power = status.power
        speedPercent = status.speedPercent.map(Int.init)
        // The potentiometer changes the speed without a message: only the percentage shows it.
        if power != .on || speed?.percent != speedPercent { speed = nil }
        runtimeMinutes = status.runtimeMinutes.map(Int.init)
        remainingMinutes = status.remainingMinutes.map(Int.init)
        temperatures = status.temperatures
        temperatures.otherFields = status.otherFields.filter { $0.temperatureName != nil }
        if power == .on || power == .off { forgetError() }
    }
}
