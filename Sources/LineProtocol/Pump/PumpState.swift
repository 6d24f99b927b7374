/// What is known of the pump from what it said: what the phone app shows.
public struct PumpState: DeviceState, Hashable {
    public typealias Message = PumpMessage

    /// Who switched the pump or set its speed last.
    public enum ControlSource: String, Sendable, Hashable {
        /// A command, as from the phone app or from here.
        case app
        /// The button on the lid.
        case manual
    }

    /// How long the firmware lets the pump run.
    public static let maximumRuntime = Duration.seconds(30 * 60)

    /// Whether the pump runs; `unknown` until it has said so, and when that came into doubt.
    ///
    /// It is off only by a status line: a firmware may acknowledge OFF and keep running.
    public private(set) var power: PumpStatus.Power = .unknown
    /// The speed in PWM steps, where a reply gave it and no status line has contradicted it since.
    public private(set) var speed: PumpSpeed?
    /// The speed in whole percent, truncated, 0 to 100.
    public private(set) var speedPercent: Int?
    /// What the thermistors read last, and in the pump's words what could not be read of it.
    public private(set) var temperatures = PumpTemperatures()
    /// How long the pump has run, in whole minutes, truncated.
    public private(set) var runtimeMinutes: Int?
    /// How long the firmware will let it run on, in whole minutes, truncated.
    public private(set) var remainingMinutes: Int?
    /// Who switched the pump or set its speed last.
    public private(set) var lastControl: ControlSource?
    /// The last error that the pump named; nil once a status line says that all is well again.
    public private(set) var error: PumpErrorCode?
    /// Why the pump stopped itself, whatever it has refused since; nil once it is well again.
    private var stopCause: PumpErrorCode?

    /// Nothing is known.
    public init() {}

    /// How much of the 30 minutes is used, 0 to 1.
    public var runtimeProgress: Double? {
        runtimeMinutes.map { min(1, Double($0 * 60) / Double(Self.maximumRuntime.components.seconds)) }
    }

    /// Whether the pump was stopped by its 30-minute limit.
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
        // Another host's, or a damaged line: 18 may have been 180. The next status line tells.
        if case .speed = message {
            speed = nil
            speedPercent = nil
        }
    }

    private mutating func apply(_ code: PumpErrorCode) {
        // The pump has not said these.
        if code == .deviceAway || code == .overtaken { return }
        error = code
        switch code {
        case .safetyShutoff, .overheat:
            stopped(.error)
            stopCause = code
        case .pumpStartFailed:
            if power != .error { stopped(.error) }
        case .pumpNotRunning:
            // Off, or stopped for safety: it does not say which.
            if power == .on { stopped(.unknown) }
        default: break
        }
    }

    public mutating func becomeUncertain() {
        stopped(.unknown)
        lastControl = nil
    }

    /// At which speed is not known before a status says so: the potentiometer sets it a tenth of a second later.
    private mutating func switched(on isOn: Bool, by source: ControlSource) {
        stopped(isOn ? .on : power == .off ? .off : .unknown)
        lastControl = source
        forgetError()
    }

    private mutating func forgetError() {
        error = nil
        stopCause = nil
    }

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
        // The potentiometer sets the speed without a word: only the percentage tells.
        if power != .on || speed?.percent != speedPercent { speed = nil }
        runtimeMinutes = status.runtimeMinutes.map(Int.init)
        remainingMinutes = status.remainingMinutes.map(Int.init)
        temperatures = status.temperatures
        temperatures.otherFields = status.otherFields.filter { $0.temperatureName != nil }
        if power == .on || power == .off { forgetError() }
    }
}
