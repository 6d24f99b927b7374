extension Mutant {
    /// For each check, at least one pump with a flaw that only this check finds.
    static let pumps: [Mutant] = statusMutants + lineMutants + commandMutants + timingMutants + runMutants + handMutants

    /// Replaces lines that begin with `line` by the lines `becomes`, after the write `behind`; nil for any write.
    private static func says(
        _ line: String, _ becomes: String..., behind: String? = nil, end: String = "\r\n", spared: Int = 0,
        late: Duration = .zero, again: Duration = .zero, times: Int = .max
    ) -> [Saying] {
        [
            Saying(
                line: line, becomes: becomes, behind: behind, end: end, spared: spared, late: late, again: again,
                times: times)
        ]
    }

    /// Replaces the text `from` by `to` within lines that begin with `line`.
    private static func replaces(_ line: String, _ from: String, _ to: String, behind: String? = nil, times: Int = .max)
        -> [Saying]
    {
        [Saying(line: line, becomes: [], behind: behind, replaces: (from, to), times: times)]
    }

    /// Pumps with a flaw that affects several checks, as in a real firmware. Only the first of these checks fails: the
    /// others rest on it.
    static let wholePumps = [
        Mutant(
            kills: "pump.speed.range-first", flaw: "looks whether it runs before it looks at the range",
            says: says("ERROR:INVALID_SPEED_VALUE", "ERROR:PUMP_NOT_RUNNING")),
        Mutant(
            kills: "pump.speed.range-first", flaw: "has another word for a speed out of range",
            says: says("ERROR:INVALID_SPEED_VALUE", "ERROR:RANGE")),
        Mutant(
            kills: "pump.speed.not-running", flaw: "has another word for a pump that does not run",
            says: says("ERROR:PUMP_NOT_RUNNING", "ERROR:PUMP_OFF")),
        Mutant(
            kills: "pump.overheat.limit", flaw: "stops at 45 °C only",
            feels: ["temperature skin 41.5": "temperature skin 39"]),
        Mutant(
            kills: "pump.overheat.stops", flaw: "has another word for hot skin",
            says: says("ERROR:OVERHEAT", "ERROR:HOT")),
        Mutant(
            kills: "pump.overheat.stops", flaw: "does not say how hot", says: says("Skin temperature too high:")),
        Mutant(
            kills: "pump.command.unknown", flaw: "has another word for what is no command",
            says: says("ERROR:UNKNOWN_COMMAND", "ERROR:WHAT")),
        Mutant(
            kills: "pump.line.too-long", flaw: "has another word for what is too long",
            says: says("ERROR:CMD_TOO_LONG", "ERROR:LONG")),
        Mutant(
            kills: "pump.temp.reply", flaw: "has another word for its temperatures",
            says: replaces("TEMP:", "TEMP:", "TEMPERATURE:")),
        Mutant(
            kills: "pump.temp.reply", flaw: "says OK before its temperatures", says: says("TEMP:", "OK", "*")),
        Mutant(
            kills: "pump.command.untrimmed", flaw: "trims spaces everywhere",
            garbles: Hearing(contains: " ", from: " ", to: "")),
        Mutant(
            kills: "pump.command.nul", flaw: "passes over NULs", garbles: Hearing(contains: "\0", from: "\0", to: "")),
        Mutant(
            kills: "pump.line.return", flaw: "passes over carriage returns",
            garbles: Hearing(contains: "\r", from: "\r", to: "")),
        Mutant(
            kills: "pump.speed.atoi-range", flaw: "takes no digits for no number",
            garbles: Hearing(contains: "SPEED:abc", from: "abc", to: "999")),
        Mutant(
            kills: "pump.status.times", flaw: "has 29 minutes",
            says: replaces("STATUS:{State:ON", "Remaining:29m", "Remaining:28m")
        ),
        Mutant(
            kills: "pump.speed.reply", flaw: "does not say which speed was set", says: says("SPEED:")),
        Mutant(
            kills: "pump.on.reply", flaw: "forgets OK behind ON", says: says("OK", behind: "ON\n")),
        Mutant(
            kills: "pump.on.speed", flaw: "starts a little slower",
            says: replaces("STATUS:{State:ON", "Speed:70%", "Speed:69%")),
    ]

    private static let statusMutants = [
        Mutant(
            kills: "pump.status.reply", flaw: "says STATUS twice",
            says: says("STATUS:", "*", "*", behind: "STATUS\n")),
        Mutant(
            kills: "pump.status.off-fields", flaw: "says a speed while it is off",
            says: replaces("STATUS:{State:OFF", "State:OFF,", "State:OFF,Speed:70%,")),
        Mutant(
            kills: "pump.status.temperatures", flaw: "has two decimals in STATUS",
            says: replaces("STATUS:{State:OFF", "WaterTemp:12.0C", "WaterTemp:12.00C")),
        Mutant(
            kills: "pump.temp.reply", flaw: "says the first TEMP twice", says: says("TEMP:", "*", "*", times: 1)),
        Mutant(
            kills: "pump.temp.form", flaw: "says the skin's temperature first",
            says: replaces("TEMP:", "Water:12.0C,Skin:34.0C", "Skin:34.0C,Water:12.0C")),
    ]

    /// The keys of `hears` are writes of the checks, which send a long line in parts.
    private static let lineMutants = [
        Mutant(
            kills: "pump.line.end", flaw: "ends one line of a reply in another way",
            says: says("OK", "*", behind: "OFF\n", end: "\n")),
        Mutant(
            kills: "pump.line.end", flaw: "sends the NUL of a C string behind each line end",
            says: says("", "*", end: "\r\n\0")),
        Mutant(kills: "pump.line.return", flaw: "takes \\r for no end", hears: ["TEMP\r": "TEMP"]),
        Mutant(
            kills: "pump.line.both", flaw: "takes an empty line for a command",
            hears: ["TEMP\r\n": "TEMP\nX\n"]),
        Mutant(
            kills: "pump.line.empty", flaw: "answers an empty line", hears: ["\n\r\n\nTEMP\n": "X\nTEMP\n"]),
        Mutant(
            kills: "pump.line.parts", flaw: "takes a pause for an end", hears: ["TE": "TE\n"]),
        Mutant(
            kills: "pump.line.longest", flaw: "has room for 62 bytes only",
            hears: [String(repeating: "X", count: 23): String(repeating: "X", count: 24)]),
        Mutant(
            kills: "pump.line.too-long", flaw: "keeps the byte that does not fit",
            hears: [String(repeating: "X", count: 24): String(repeating: "X", count: 25)]),
        Mutant(
            kills: "pump.line.behind-too-long", flaw: "drops all up to the next line end",
            hears: [String(repeating: "X", count: 24) + "TE": String(repeating: "X", count: 24) + "\n"]),
        Mutant(
            kills: "pump.line.rest-of-too-long", flaw: "drops all up to the next line end",
            hears: [String(repeating: "X", count: 30): String(repeating: "X", count: 24)]),
    ]

    private static let commandMutants = [
        Mutant(
            kills: "pump.off.reply", flaw: "forgets OK", says: says("OK", behind: "OFF\n")),
        Mutant(
            kills: "pump.command.unknown", flaw: "says nothing to what it does not know",
            hears: ["FOO\n": ""]),
        Mutant(kills: "pump.command.case", flaw: "knows STATUS in capitals only", hears: ["sTaTuS\n": "X\n"]),
        Mutant(kills: "pump.command.untrimmed", flaw: "trims spaces", hears: ["TEMP \n": "TEMP\n"]),
        Mutant(kills: "pump.command.whole", flaw: "takes a beginning for the command", hears: ["OFFF\n": "OFF\n"]),
        Mutant(kills: "pump.command.nul", flaw: "goes on behind a NUL", hears: ["TEMP\0junk\n": "TEMPjunk\n"]),
        Mutant(kills: "pump.speed.not-running", flaw: "starts with SPEED", hears: ["SPEED:99\n": "ON\n"]),
        Mutant(kills: "pump.speed.range-first", flaw: "accepts 1000", hears: ["SPEED:1000\n": "SPEED:255\n"]),
        Mutant(kills: "pump.speed.colon", flaw: "needs no colon", hears: ["SPEED 100\n": "SPEED:100\n"]),
        Mutant(
            kills: "pump.speed.atoi-range", flaw: "takes no leading zeros",
            hears: ["SPEED:00000255\n": "SPEED:300\n"]),
        Mutant(
            kills: "pump.speed.sixteen-bits", flaw: "wraps some numbers only", hears: ["SPEED:65736\n": "SPEED:300\n"]),
    ]

    private static let timingMutants = [
        Mutant(
            kills: "pump.off.silence", flaw: "reports while it is off",
            chatter: ("STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.0C}", "off")),
        Mutant(
            kills: "pump.reply.latency", flaw: "answers late", late: ["SPEED:998\n": .milliseconds(400)]),
        Mutant(
            kills: "pump.loop.one-command", flaw: "handles all commands in one turn",
            hears: [String(repeating: "TEMP\n", count: 5): "TEMP\n"],
            says: says(
                "TEMP:", "*", "*", "*", "*", "*", behind: String(repeating: "TEMP\n", count: 5))),
        Mutant(
            kills: "pump.loop.period", flaw: "has longer turns",
            says: says(
                "TEMP:", "*", behind: String(repeating: "TEMP\n", count: 5), again: .milliseconds(25)),
            late: ["TEMP\n": .milliseconds(25)]),
        Mutant(
            kills: "pump.loop.blink", flaw: "blinks for 29 ms", late: ["TEMP\n": .microseconds(20_700)]),
        Mutant(
            kills: "pump.boot.banner", flaw: "says no baud rate",
            says: says("Baud Rate:")),
    ]

    private static let runMutants = [
        Mutant(kills: "pump.boot.off", flaw: "runs on behind a reset", feels: ["reset": ""]),
        Mutant(
            kills: "pump.on.reply", flaw: "says PUMP:OFF for ON",
            says: says("PUMP:ON", "PUMP:OFF", behind: "ON\n")),
        Mutant(
            kills: "pump.on.state", flaw: "acknowledges ON, and is off", hears: ["ON\n": "OFF\n"],
            says: says("PUMP:OFF", "PUMP:ON", behind: "ON\n")),
        Mutant(kills: "pump.on.case", flaw: "knows ON in capitals only", hears: ["oN\n": "X\n"]),
        Mutant(kills: "pump.on.nul", flaw: "goes on behind a NUL", hears: ["ON\0junk\n": "ONjunk\n"]),
        Mutant(kills: "pump.on.untrimmed", flaw: "trims spaces", hears: ["ON \n": "ON\n"]),
        Mutant(
            kills: "pump.on.speed", flaw: "keeps its speed with a second ON",
            says: replaces("STATUS:{State:ON", "Speed:70%", "Speed:3%")),
        Mutant(
            kills: "pump.off.stops", flaw: "stays on behind OFF",
            sharedBecause: "an OFF that starts the pump is found while it is off, by pump.off.reply",
            hears: ["OFF\n": "ON\n"], says: says("PUMP:ON", "PUMP:OFF", behind: "OFF\n")),
        Mutant(
            kills: "pump.status.on-fields", flaw: "says its speed twice",
            says: replaces("STATUS:{State:ON", "Speed:70%,", "Speed:70%,Speed:70%,")),
        Mutant(
            kills: "pump.status.times", flaw: "says too little of what remains",
            says: replaces("STATUS:{State:ON", "Remaining:29m", "Remaining:28m")),
        Mutant(
            kills: "pump.speed.reply", flaw: "says another speed than was set",
            says: says("SPEED:77", "SPEED:76", behind: "SPEED:77\n")),
        Mutant(
            kills: "pump.speed.percent", flaw: "rounds the percentage",
            says: [(49, 50), (19, 20)].flatMap { told, rounded in
                says("STATUS:{State:ON,Speed:\(told)%", "STATUS:{State:ON,Speed:\(rounded)%,Runtime:0m,Remaining:29m}")
            }),
        Mutant(
            kills: "pump.speed.zero", flaw: "is off at speed 0", hears: ["SPEED:0\n": "OFF\n"],
            says: says("PUMP:OFF", "SPEED:0", behind: "SPEED:0\n")),
        Mutant(
            kills: "pump.speed.atoi", flaw: "has no plus sign", hears: ["SPEED:+7\n": "SPEED:0\n"]),
        Mutant(
            kills: "pump.speed.kept", flaw: "is set by what is out of range", hears: ["SPEED:-5\n": "SPEED:255\n"],
            says: says("SPEED:255", behind: "SPEED:-5\n")
                + says("OK", "ERROR:INVALID_SPEED_VALUE", behind: "SPEED:-5\n")),
        Mutant(
            kills: "pump.unasked.status", flaw: "leaves out every report but the first",
            says: says("STATUS:", behind: "ON\n", spared: 1)),
        Mutant(
            kills: "pump.unasked.status", flaw: "reports each 6 s",
            says: [Saying(line: "STATUS:", becomes: ["*"], behind: "ON\n", beat: .seconds(6))]),
        Mutant(
            kills: "pump.unasked.beat", flaw: "begins to count at ON",
            says: [Saying(line: "STATUS:", becomes: ["*"], behind: "ON\n", beat: .seconds(5))]),
    ]

    /// The keys of `feels` are actions of the checks. A position of the knob is a reading of 0 to 1023, divided by
    /// 1023.
    private static let handMutants = [
        Mutant(
            kills: "pump.button.on", flaw: "does not say that the button has started it",
            says: says("MANUAL:ON")),
        Mutant(
            kills: "pump.button.off", flaw: "does not say that the button has stopped it",
            says: says("MANUAL:OFF")),
        Mutant(
            kills: "pump.knob.speed", flaw: "has a knob that ends before the stop",
            feels: ["turn \(1023.0 / 1023)": "turn 0.9"]),
        Mutant(
            kills: "pump.knob.zero", flaw: "does not stand still at the knob's end",
            feels: ["turn \(19.0 / 1023)": "turn 0.05"]),
        Mutant(
            kills: "pump.knob.hysteresis", flaw: "follows each tremor of the knob",
            feels: ["turn \(734.0 / 1023)": "turn 0.8"]),
        Mutant(
            kills: "pump.knob.boot", flaw: "takes over any knob at its first ON",
            feels: ["turn \(739.0 / 1023)": "turn 0.9"]),
        Mutant(
            kills: "pump.knob.only-moved", flaw: "holds to the knob, and not to SPEED",
            hears: ["SPEED:102\n": "SPEED:179\n"], says: says("SPEED:179", "SPEED:102", behind: "SPEED:102\n")),
        Mutant(
            kills: "pump.status.minutes", flaw: "counts too slowly",
            feels: ["advance 90s": "advance 10s"]),
        Mutant(
            kills: "pump.on.restarts-timer", flaw: "does not begin anew with a second ON", from: "advance 30s",
            says: replaces("STATUS:{State:ON", "Runtime:0m", "Runtime:2m", behind: "STATUS\n", times: 1)),
        Mutant(
            kills: "pump.safety.thirty-minutes", flaw: "runs for longer",
            feels: ["advance 25s": "advance 1s"]),
        Mutant(
            kills: "pump.overheat.stops", flaw: "runs on with hot skin", feels: ["temperature skin 50.5": ""]),
        Mutant(
            kills: "pump.overheat.limit", flaw: "stops at 39 °C", feels: ["temperature skin 39": "temperature skin 41"]),
        Mutant(
            kills: "pump.error.start-failed", flaw: "says that it can't start in another way",
            says: says("ERROR:PUMP_START_FAILED", "ERROR:PUMP_NOT_RUNNING")),
        Mutant(
            kills: "pump.error.speed", flaw: "says nothing of SPEED in the error state", hears: ["SPEED:90\n": ""]),
        Mutant(
            kills: "pump.error.off", flaw: "stays in the error state",
            sharedBecause: "each check of a running pump ends with OFF, and one that does not work is found there",
            hears: ["OFF\n": "X\n"], says: says("ERROR:UNKNOWN_COMMAND", "OK", "PUMP:OFF", behind: "OFF\n")),
        Mutant(
            kills: "pump.motor.start", flaw: "starts a little slower than it says", drives: (179, "on"),
            insteadOfDuty: 180),
        Mutant(
            kills: "pump.motor.speed", flaw: "says another speed than it drives the motor with", drives: (180, "on")),
        Mutant(kills: "pump.motor.off", flaw: "says that it is off, and runs on", drives: (190, "off")),
        Mutant(kills: "pump.motor.overheat", flaw: "says that it has stopped, and runs on", drives: (180, "error")),
        Mutant(
            kills: "pump.temp.value", flaw: "reads a few degrees too much",
            feels: ["temperature skin 31": "temperature skin 33"]),
        Mutant(
            kills: "pump.temp.width", flaw: "leaves out the leading space",
            says: replaces("TEMP:", "Water: 9", "Water:9")),
    ]
}
