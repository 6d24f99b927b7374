extension HostVerification {
    /// The checks of programs and apps that use a pump.
    static let pump = HostVerification(
        family: "pump",
        devices: [
            PlayedDevice(
                "plain", "a pump with default options", [:],
                rules + [baud, understands(11, "each command has its reply")]),
            PlayedDevice(
                "one-thermistor", "a pump with one thermistor", ["thermistors": "1"],
                [
                    understands(
                        29, "firmware with one thermistor sends Temp in STATUS, and TEMP:34.5", meeting: "STATUS:|TEMP:"
                    )
                ]),
            PlayedDevice(
                "older", "an older firmware: bare line feeds, and times while the pump is off",
                ["line-end": "lf", "idle-times": "on"],
                [understands(6, "lines of older firmware end with a bare \\n: a host accepts both")]),
            PlayedDevice(
                "talkative", "a debug build", ["debug-lines": "on"],
                rules + [understands(41, "a host skips the lines of a debug build")]),
            PlayedDevice(
                "interrupting", "a pump that sends unsolicited lines between the lines of a reply",
                ["interrupts": "on"],
                rules + [
                    understands(
                        36, "unsolicited lines are sent at any moment, also between the two lines of a reply",
                        meeting: "OK\nSTATUS:|OK\nMANUAL:")
                ]),
            PlayedDevice(
                "cut", "a pump behind a module that cuts its lines anywhere", ["fault": "split"],
                rules + [understands(2, "a notification has at most 20 bytes, and cuts lines anywhere")]),
            // The silence is longer than any reply takes, and ends before the 10 s of the rule are over.
            PlayedDevice(
                "unheard", "a pump that is silent for 3 s", ["fault": "silence=3s@command:1"],
                [
                    HostCheck(
                        "repeats-off", 19, "a host repeats OFF until a status says that the pump is off",
                        .rule("repeats=10s/OFF@line:STATUS:{State:OFF"),
                        expecting: "OFF is sent again within 10 s, until a status says State:OFF")
                ]),
            PlayedDevice(
                "overheating", "a pump that overheats when it runs",
                ["step": "command:1 temperature skin 41"],
                [
                    HostCheck(
                        "stays-off", 38, "after a stop for safety a host sends no ON before OFF",
                        .rule("refrains=ON@line:ERROR:OVERHEAT"),
                        expecting: "no ON is sent between ERROR:OVERHEAT and OFF")
                ]),
        ])

    /// The checks of the commands that the host sends, which are made with several of the played devices.
    private static let rules = [
        HostCheck(
            "commands", 22, "a host sends speeds as plain decimal numbers, and only documented commands",
            .rule("commands"), expecting: "the program sends only commands that the pump supports, with plain decimals"),
        HostCheck(
            "one-in-flight", 46, "keep one command in flight", .rule("one-in-flight"),
            expecting: "each command except OFF is sent after the reply to the previous command"),
    ]

    private static let baud = HostCheck(
        "baud", 1, "a serial port has 9600 baud, 8N1", .rule("baud"), expecting: "the program sends at 9600 baud, 8N1",
        needsTerminal: true)
}

extension HostVerification {
    /// Returns a check that a host ends with exit status 0, and so has understood the played device.
    ///
    /// - Parameter lines: Beginnings of lines, separated by `|`. A line feed joins the beginnings of two consecutive
    ///   lines. The played device must have sent one of them; otherwise the host counts as untested. nil means that no
    ///   particular line is needed.
    static func understands(_ number: Int, _ words: String, meeting lines: String? = nil) -> HostCheck {
        HostCheck(
            "understands", number, words, .exitStatus, expecting: "the program ends with exit status 0",
            premise: lines.map { "meets=line:" + $0 })
    }

    /// The check of the baud rate of all families but the pump.
    static let fastBaud = HostCheck(
        "baud", 1, "a serial port has 115200 baud, 8N1", .rule("baud"),
        expecting: "the program sends at 115200 baud, 8N1",
        needsTerminal: true)
}
