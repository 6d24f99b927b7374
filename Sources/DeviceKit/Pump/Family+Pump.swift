internal import LineProtocol

extension Family {
    /// The pump on an Arduino Nano, which speaks the pump protocol.
    public static let pump = Family(
        name: "pump", device: "a pump", baudRate: 9600, readingTime: PumpFamily.readingTime,
        commands: [
            FamilyCommand(
                "on", sends: "ON",
                "Start the pump at 70 %, or as its knob says; if it runs, reset it to 70 % and restart its 30 minutes.",
                effect: .change, danger: "the pump is worn: it starts to move", in: ["on", "off"]),
            FamilyCommand("off", sends: "OFF", "Stop the pump; also leaves the error state.", effect: .stop),
            FamilyCommand(
                "speed", sends: "SPEED:{speed}", "Set the speed of a running pump.", effect: .change,
                parameters: [.init("speed", "the motor's speed (255 is full)", .integer(0...255))],
                danger: "the pump is worn: it moves at another speed", in: ["on"]),
            FamilyCommand("status", sends: "STATUS", "Ask for the status.", effect: .query, tellsState: true),
            FamilyCommand("temp", sends: "TEMP", "Ask for the temperatures.", effect: .query),
        ],
        events: [
            FamilyEvent("STATUS:", "The status of the pump; sent every 5 s while it runs."),
            FamilyEvent(
                "MANUAL:", "The button on the lid has switched the pump on or off.", name: "manual",
                phrase: "button pressed", isByHand: true),
            FamilyEvent("ERROR:SAFETY_SHUTOFF", "The pump was stopped after its 30 minutes."),
            FamilyEvent("ERROR:OVERHEAT", overheat),
        ],
        errors: pumpErrors, state: pumpState,
        wire: WireRules(
            danger: { SpeedLineCheck.reason(against: $0) },
            errorCode: { line, ending in
                guard case .error(let code) = PumpMessage(line: line, ending: ending) else { return nil }
                return code.rawValue
            },
            recognizes: { line in
                switch PumpMessage(line: line.span, ending: .lineFeed) {
                case .text, .unknown: false
                case .ok, .pump, .speed, .status, .temperatures, .error, .manual: true
                }
            },
            stop: { link, timeout, clock throws(SessionError) in
                let pump = try await PumpSession.begin(over: link, clock: clock, waitsUntilReady: false)
                defer { Task(executorPreference: link.executor) { await pump.close() } }
                try await pump.turnOff(timeout: timeout)
            }, follow: FamilyMonitor.follower(of: PumpFamily.self)))

    private static let leavingErrorState =
        "find out why the pump was stopped for safety, then leave the error state: {off}; then {on}"
    private static let damaged =
        "try again: the command was damaged in transit, or another program writes to the device"

    /// The meaning of ``PumpErrorCode/overheat``. The text after the error says which of these causes it was.
    private static let overheat =
        "The pump was stopped: the skin was warmer than 40.0 °C or too cold, or a thermistor is broken."

    private static let pumpErrors = [
        FamilyError(
            PumpErrorCode.pumpNotRunning.rawValue, "The pump is off, or was stopped for safety.",
            remedy: "switch the pump on first: {on}; after a stop for safety: {off}, then {on}"),
        FamilyError(
            PumpErrorCode.pumpStartFailed.rawValue, "The pump was stopped for safety.", remedy: leavingErrorState),
        FamilyError(
            PumpErrorCode.invalidSpeedValue.rawValue, "The speed is out of range.",
            remedy: "give a number from 0 to 255, or a percentage from 0% to 100%"),
        FamilyError(PumpErrorCode.unknownCommand.rawValue, "The firmware does not know the command.", remedy: damaged),
        FamilyError(PumpErrorCode.commandTooLong.rawValue, "The command is longer than 63 bytes.", remedy: damaged),
        FamilyError(
            PumpErrorCode.safetyShutoff.rawValue, "The pump was stopped after its 30 minutes.",
            remedy: "leave the error state: {off}; then {on} for another 30 minutes", isUnsolicited: true),
        FamilyError(
            PumpErrorCode.overheat.rawValue, overheat, remedy: leavingErrorState, isUnsolicited: true),
    ]

    /// The judgements of a skin temperature. The firmware stops the pump above 40.0 °C; the other limits, and
    /// all limits of the water, are only for programs that show the temperature. A limit such as 39.9 includes all
    /// temperatures below 40, because the pump reports tenths of a degree.
    private static let skinLevels: [StateField.Level] = [
        .init(upTo: 33.9, "cool", .good), .init(upTo: 35, "optimal", .good), .init(upTo: 39.9, "warm", .warning),
        .init("too hot", .bad),
    ]

    private static let pumpState = [
        StateField(
            "state", "pump", .choice(["on", "off", "error"]),
            unknownWord: "unknown"),
        StateField(
            "speed_percent", "speed", .integer(0...100), unit: "%"),
        StateField(
            "speed_pwm", "speed", .integer(0...255), unit: "PWM"),
        StateField(
            "water_temp_c", "water", .number(ThermistorReading.plausibleRange), unit: "°C",
            levels: [
                .init(upTo: 15, "optimal", .good), .init(upTo: 25, "warming up", .warning), .init("too warm", .bad),
            ]),
        StateField(
            "skin_temp_c", "skin", .number(ThermistorReading.plausibleRange), unit: "°C", levels: skinLevels),
        // Firmware with one thermistor: it is at the skin.
        StateField("temp_c", "temp", .number(ThermistorReading.plausibleRange), unit: "°C", levels: skinLevels),
        StateField(
            "runtime_min", "runtime", .integer(0...30), unit: "min"),
        StateField(
            "remaining_min", "remaining", .integer(0...30), unit: "min",
            levels: [.init(upTo: 4, "less than 5 minutes", .warning), .init("", .good)]),
        StateField(
            "runtime_progress", "of 30 minutes", .number(0...1),
            isRecorded: false),
        StateField(
            "last_control", "by", .choice(["app", "manual"])),
        StateField("error", "error", .choice(pumpErrors.map(\.code))),
        StateField(
            "safety_shutoff", "stopped after 30 minutes", .boolean,
            isRecorded: false),
    ]
}
