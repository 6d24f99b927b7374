/// The state of the pump, in the words of its status line.
public enum PumpState: String, Sendable, Hashable {
    /// Not running, ready to start.
    case off = "OFF"
    /// Running, perhaps at speed 0.
    case on = "ON"
    /// Shut off by the firmware. Only OFF, the button and a reset end this state.
    case error = "ERROR"
}

/// The motor's state machine. Times are the firmware's `millis()`.
struct PumpMotor: Sendable, Hashable {
    /// The PWM duty at which ON starts. The pump protocol: 180.
    static let startDuty: UInt8 = 180
    /// The longest run in milliseconds. The pump protocol: 30 minutes.
    static let longestRun = 30 * 60_000

    private(set) var state = PumpState.off
    /// PWM on D9, 0...255; 0 unless the state is ``PumpState/on``.
    private(set) var duty: UInt8 = 0
    /// The time at which the last run began.
    private var startedAt = 0
    /// Whether the pump stays in the error state, whatever command it receives. No real pump is known to do this.
    var isStuck = false {
        didSet { if isStuck { shutOff() } }
    }

    /// Starts or restarts the run. In the error state, returns `false` and changes nothing.
    mutating func start(at millis: Int) -> Bool {
        guard state != .error else { return false }
        state = .on
        duty = Self.startDuty
        startedAt = millis
        return true
    }

    /// Stops the pump, and ends the error state of a pump that is not stuck.
    mutating func stop() {
        state = isStuck ? .error : .off
        duty = 0
    }

    /// Stops the pump, and enters the error state.
    mutating func shutOff() {
        state = .error
        duty = 0
    }

    /// Changes the speed of a running pump. Has no effect on a pump that does not run.
    mutating func setDuty(_ duty: UInt8) {
        guard state == .on else { return }
        self.duty = duty
    }

    /// Returns the milliseconds since the run began; 0 if the pump does not run.
    func runtime(at millis: Int) -> Int {
        state == .on ? millis - startedAt : 0
    }
}
