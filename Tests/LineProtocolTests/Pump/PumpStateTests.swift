import LineProtocol
import Testing

@Suite("The pump's state")
struct PumpStateTests {
    static let running = "STATUS:{State:ON,Speed:78%,Runtime:5m,Remaining:25m,WaterTemp:12.0C,SkinTemp:34.5C}"

    @Test("is unknown before the pump has said anything, and after what says nothing of it")
    func beginsUnknown() {
        let state = PumpState()
        #expect(state.power == .unknown)
        #expect(state.speed == nil && state.speedPercent == nil)
        #expect(state.temperatures == PumpTemperatures())
        #expect(state.runtimeMinutes == nil && state.remainingMinutes == nil && state.runtimeProgress == nil)
        #expect(state.lastControl == nil && state.error == nil && !state.isSafetyShutOff)
        #expect(PumpState(after: ["OK", "Ready for commands...", "[BT] ON", "garbage", ""]) == state)
    }

    @Test("takes all from a status line")
    func takesStatus() {
        let state = PumpState(after: [Self.running])
        #expect(state.power == .on)
        #expect(state.speed == nil, "a percentage does not tell the duty")
        #expect(state.speedPercent == 78)
        #expect(state.runtimeMinutes == 5)
        #expect(state.remainingMinutes == 25)
        #expect(state.temperatures.water?.celsius == 12)
        #expect(state.temperatures.skin?.celsius == 34.5)
        #expect(state.lastControl == nil)
    }

    @Test("drops speed and times when a status line has none")
    func dropsWhatStatusLacks() {
        let state = PumpState(after: [Self.running, "STATUS:{State:OFF,WaterTemp:12.5C,SkinTemp:34.5C}"])
        #expect(state.power == .off)
        #expect(state.speedPercent == nil && state.runtimeMinutes == nil && state.remainingMinutes == nil)
        #expect(state.temperatures.water?.celsius == 12.5)
    }

    @Test("starts by ON, at a speed that only a status tells, and forgets the run before")
    func startsByCommand() {
        let state = PumpState(after: [Self.running, "PUMP:ON"])
        #expect(state.power == .on)
        #expect(state.speed == nil && state.speedPercent == nil)
        #expect(state.runtimeMinutes == nil && state.remainingMinutes == nil)
        #expect(state.lastControl == .app)
        #expect(state.temperatures.skin?.celsius == 34.5)
    }

    private static let off = "STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5C}"

    @Test(
        "is off by a status alone: a firmware may acknowledge OFF and keep running",
        arguments: ["PUMP:OFF", "MANUAL:OFF"])
    func isOffByStatus(line: String) {
        #expect(PumpState(after: [Self.running, line]).power == .unknown)
        #expect(PumpState(after: [Self.running, line, Self.off]).power == .off)
        #expect(PumpState(after: [Self.off, line]).power == .off)
    }

    @Test("stops by OFF")
    func stopsByCommand() {
        let state = PumpState(after: ["PUMP:ON", "PUMP:OFF"])
        #expect(state.power == .unknown)
        #expect(state.speed == nil && state.speedPercent == nil)
        #expect(state.lastControl == .app)
    }

    @Test(
        "names the button as the last control",
        arguments: [("MANUAL:ON", PumpStatus.Power.on), ("MANUAL:OFF", .unknown)])
    func namesButton(line: String, power: PumpStatus.Power) {
        let state = PumpState(after: ["PUMP:ON", line])
        #expect(state.power == power)
        #expect(state.lastControl == .manual)
        #expect(state.speed == nil, "the button's speed is not said")
        #expect(PumpState(after: [line, "SPEED:10"]).lastControl == .app)
    }

    @Test("keeps the duty that was set until a status line shows another percentage")
    func keepsDuty() {
        #expect(PumpState(after: ["SPEED:200", Self.running]).speed?.pwm == 200)
        let turned = PumpState(after: ["SPEED:200", "STATUS:{State:ON,Speed:40%}"])
        #expect(turned.speed == nil)
        #expect(turned.speedPercent == 40)
        #expect(PumpState(after: ["SPEED:0"]).power == .on)
    }

    @Test("takes temperatures without a word on the rest")
    func takesTemperatures() {
        let state = PumpState(after: [Self.running, "TEMP:{Water:10.0C,Skin:33.0C}"])
        #expect(state.temperatures.water?.celsius == 10)
        #expect(state.temperatures.skin?.celsius == 33)
        #expect(state.power == .on && state.speedPercent == 78)
    }

    @Test(
        "tells how much of the 30 minutes is used",
        arguments: [(0, 0.0), (15, 0.5), (30, 1.0), (31, 1.0), (65535, 1.0)])
    func tellsProgress(minutes: Int, progress: Double) {
        #expect(PumpState(after: ["STATUS:{State:ON,Runtime:\(minutes)m}"]).runtimeProgress == progress)
    }

    @Test("is an error after the pump stopped itself", arguments: [PumpErrorCode.safetyShutoff, .overheat])
    func stopsItself(code: PumpErrorCode) {
        let state = PumpState(after: [Self.running, "ERROR:\(code.rawValue)", "Maximum runtime exceeded"])
        #expect(state.power == .error)
        #expect(state.error == code)
        #expect(state.isSafetyShutOff == (code == .safetyShutoff))
        #expect(state.speedPercent == nil && state.runtimeMinutes == nil && state.remainingMinutes == nil)
    }

    @Test(
        "stays a safety shut-off until the pump leaves the error state",
        arguments: [
            ([], true),
            (["STATUS:{State:ERROR,WaterTemp:12.0C,SkinTemp:34.0C}"], true),
            (["ERROR:PUMP_START_FAILED"], true),
            (["ERROR:UNKNOWN_COMMAND", "STATUS:{State:ERROR}"], true),
            (["PUMP:OFF"], false),
            (["MANUAL:OFF"], false),
            (["STATUS:{State:OFF}"], false),
            (["STATUS:{State:OFF}", "STATUS:{State:ERROR}"], false),
            (["ERROR:OVERHEAT"], false),
        ])
    func staysShutOff(lines: [String], isShutOff: Bool) {
        let state = PumpState(after: ["PUMP:ON", "ERROR:SAFETY_SHUTOFF"] + lines)
        #expect(state.isSafetyShutOff == isShutOff)
    }

    @Test("names the last error and does not stop by a refusal")
    func namesRefusal() {
        let state = PumpState(after: [Self.running, "ERROR:INVALID_SPEED_VALUE"])
        #expect(state.error == .invalidSpeedValue)
        #expect(state.power == .on && state.speedPercent == 78)
    }

    @Test("forgets an error once the pump says that it runs or is off", arguments: ["PUMP:OFF", "MANUAL:ON", running])
    func forgetsError(line: String) {
        #expect(PumpState(after: ["ERROR:OVERHEAT", line]).error == nil)
    }

    @Test("keeps an error while a status line names no known state", arguments: ["STATUS:{State:ERROR}", "STATUS:{}"])
    func keepsError(line: String) {
        #expect(PumpState(after: ["ERROR:OVERHEAT", line]).error == .overheat)
    }

    @Test("keeps a temperature that can't be read in the pump's words, and nothing else that is not known")
    func unreadTemperatures() {
        let state = PumpState(after: ["STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5°C,Uptime:7}"])
        #expect(state.temperatures.water?.celsius == 12 && state.temperatures.skin == nil)
        #expect(state.temperatures.otherFields == [PumpStatusField(name: "SkinTemp", value: "34.5°C")])
    }

    @Test("keeps only the temperatures when it comes into doubt")
    func becomesUncertain() {
        var state = PumpState(after: ["SPEED:200", Self.running])
        state.becomeUncertain()
        #expect(state.power == .unknown)
        #expect(state.speed == nil && state.speedPercent == nil)
        #expect(state.runtimeMinutes == nil && state.remainingMinutes == nil)
        #expect(state.lastControl == nil)
        #expect(state.temperatures.skin?.celsius == 34.5)
    }

    @Test("doubts a speed that was said to nobody here: it may be the rest of a damaged line")
    func doubtsOverheardSpeed() {
        var state = PumpState(after: ["PUMP:ON"])
        state.overhear(PumpMessage(text: "SPEED:18"))
        #expect(state.power == .on)
        #expect(state.speed == nil && state.speedPercent == nil)
    }

    @Test("takes a refused ON for the state in which the pump was stopped")
    func refusedOnIsError() {
        #expect(PumpState(after: ["ERROR:PUMP_START_FAILED"]).power == .error)
    }

    @Test("no longer takes a pump for running that says it is not")
    func notRunningIsNotOn() {
        #expect(PumpState(after: ["PUMP:ON", "ERROR:PUMP_NOT_RUNNING"]).power == .unknown)
        #expect(PumpState(after: [Self.off, "ERROR:PUMP_NOT_RUNNING"]).power == .off)
    }

    @Test("is unknown once the firmware says that it starts", arguments: ["HELLO:pump", "Ready for commands..."])
    func startForgets(banner: String) {
        let state = PumpState(after: ["PUMP:ON", banner])
        #expect(state.power == .unknown && state.speed == nil && state.lastControl == nil)
    }
}

extension PumpState {
    /// The state after the pump has sent `lines`.
    fileprivate init(after lines: [String]) {
        self.init()
        for line in lines { apply(PumpMessage(text: line)) }
    }
}
