import LineProtocol
import Testing

@Suite("The pump's state")
struct PumpStateTests {
    static let running = "STATUS:{State:ON,Speed:78%,Runtime:5m,Remaining:25m,WaterTemp:12.0C,SkinTemp:34.5C}"

    @Test("The state is unknown at first and after lines without a state")
    func beginsUnknown() {
        let state = PumpState()
        #expect(state.power == .unknown)
        #expect(state.speed == nil && state.speedPercent == nil)
        #expect(state.temperatures == PumpTemperatures())
        #expect(state.runtimeMinutes == nil && state.remainingMinutes == nil && state.runtimeProgress == nil)
        #expect(state.lastControl == nil && state.error == nil && !state.isSafetyShutOff)
        #expect(PumpState(after: ["OK", "Ready for commands...", "[BT] ON", "garbage", ""]) == state)
    }

    @Test("A status line sets the whole state")
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

    @Test("A status line without speed and times clears them")
    func dropsWhatStatusLacks() {
        let state = PumpState(after: [Self.running, "STATUS:{State:OFF,WaterTemp:12.5C,SkinTemp:34.5C}"])
        #expect(state.power == .off)
        #expect(state.speedPercent == nil && state.runtimeMinutes == nil && state.remainingMinutes == nil)
        #expect(state.temperatures.water?.celsius == 12.5)
    }

    @Test("ON sets the power and clears the speed and the run times")
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
        "Only a status proves that the pump is off",
        arguments: ["PUMP:OFF", "MANUAL:OFF"])
    func isOffByStatus(line: String) {
        #expect(PumpState(after: [Self.running, line]).power == .unknown)
        #expect(PumpState(after: [Self.running, line, Self.off]).power == .off)
        #expect(PumpState(after: [Self.off, line]).power == .off)
    }

    @Test("OFF leaves the power unknown and clears the speed")
    func stopsByCommand() {
        let state = PumpState(after: ["PUMP:ON", "PUMP:OFF"])
        #expect(state.power == .unknown)
        #expect(state.speed == nil && state.speedPercent == nil)
        #expect(state.lastControl == .app)
    }

    @Test(
        "After a press of the button, the last control is manual and the speed unknown",
        arguments: [("MANUAL:ON", PumpStatus.Power.on), ("MANUAL:OFF", .unknown)])
    func namesButton(line: String, power: PumpStatus.Power) {
        let state = PumpState(after: ["PUMP:ON", line])
        #expect(state.power == power)
        #expect(state.lastControl == .manual)
        #expect(state.speed == nil, "the button's speed is not said")
        #expect(PumpState(after: [line, "SPEED:10"]).lastControl == .app)
    }

    @Test("A duty is kept until a status shows another percentage")
    func keepsDuty() {
        #expect(PumpState(after: ["SPEED:200", Self.running]).speed?.pwm == 200)
        let turned = PumpState(after: ["SPEED:200", "STATUS:{State:ON,Speed:40%}"])
        #expect(turned.speed == nil)
        #expect(turned.speedPercent == 40)
        #expect(PumpState(after: ["SPEED:0"]).power == .on)
    }

    @Test("A temperature line changes only the temperatures")
    func takesTemperatures() {
        let state = PumpState(after: [Self.running, "TEMP:{Water:10.0C,Skin:33.0C}"])
        #expect(state.temperatures.water?.celsius == 10)
        #expect(state.temperatures.skin?.celsius == 33)
        #expect(state.power == .on && state.speedPercent == 78)
    }

    @Test(
        "The progress is the run time's share of 30 minutes, at most 1",
        arguments: [(0, 0.0), (15, 0.5), (30, 1.0), (31, 1.0), (65535, 1.0)])
    func tellsProgress(minutes: Int, progress: Double) {
        #expect(PumpState(after: ["STATUS:{State:ON,Runtime:\(minutes)m}"]).runtimeProgress == progress)
    }

    @Test("A pump that stopped itself is in the error state", arguments: [PumpErrorCode.safetyShutoff, .overheat])
    func stopsItself(code: PumpErrorCode) {
        let state = PumpState(after: [Self.running, "ERROR:\(code.rawValue)", "Maximum runtime exceeded"])
        #expect(state.power == .error)
        #expect(state.error == code)
        #expect(state.isSafetyShutOff == (code == .safetyShutoff))
        #expect(state.speedPercent == nil && state.runtimeMinutes == nil && state.remainingMinutes == nil)
    }

    @Test(
        "A safety shut-off lasts until the pump leaves the error state or reports OVERHEAT",
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

    @Test("A refusal sets the last error and does not stop the pump")
    func namesRefusal() {
        let state = PumpState(after: [Self.running, "ERROR:INVALID_SPEED_VALUE"])
        #expect(state.error == .invalidSpeedValue)
        #expect(state.power == .on && state.speedPercent == 78)
    }

    @Test(
        "An error is cleared when the pump reports that it runs or is off",
        arguments: ["PUMP:OFF", "MANUAL:ON", running])
    func forgetsError(line: String) {
        #expect(PumpState(after: ["ERROR:OVERHEAT", line]).error == nil)
    }

    @Test("An error is kept if a status has the state ERROR or none", arguments: ["STATUS:{State:ERROR}", "STATUS:{}"])
    func keepsError(line: String) {
        #expect(PumpState(after: ["ERROR:OVERHEAT", line]).error == .overheat)
    }

    @Test("An unreadable temperature is kept as text, other unknown fields are dropped")
    func unreadTemperatures() {
        let state = PumpState(after: ["STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5°C,Uptime:7}"])
        #expect(state.temperatures.water?.celsius == 12 && state.temperatures.skin == nil)
        #expect(state.temperatures.otherFields == [PumpStatusField(name: "SkinTemp", value: "34.5°C")])
    }

    @Test("A doubtful state keeps only the temperatures")
    func becomesUncertain() {
        var state = PumpState(after: ["SPEED:200", Self.running])
        state.becomeUncertain()
        #expect(state.power == .unknown)
        #expect(state.speed == nil && state.speedPercent == nil)
        #expect(state.runtimeMinutes == nil && state.remainingMinutes == nil)
        #expect(state.lastControl == nil)
        #expect(state.temperatures.skin?.celsius == 34.5)
    }

    @Test("A SPEED line without a command makes the speed unknown")
    func doubtsOverheardSpeed() {
        var state = PumpState(after: ["PUMP:ON"])
        state.overhear(PumpMessage(text: "SPEED:18"))
        #expect(state.power == .on)
        #expect(state.speed == nil && state.speedPercent == nil)
    }

    @Test("A refused ON sets the error state")
    func refusedOnIsError() {
        #expect(PumpState(after: ["ERROR:PUMP_START_FAILED"]).power == .error)
    }

    @Test("PUMP_NOT_RUNNING makes a running pump's power unknown")
    func notRunningIsNotOn() {
        #expect(PumpState(after: ["PUMP:ON", "ERROR:PUMP_NOT_RUNNING"]).power == .unknown)
        #expect(PumpState(after: [Self.off, "ERROR:PUMP_NOT_RUNNING"]).power == .off)
    }

    @Test("A boot banner makes the state unknown", arguments: ["HELLO:pump", "Ready for commands..."])
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
