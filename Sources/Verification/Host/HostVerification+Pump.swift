extension HostVerification {
    /// Programs and apps that use a pump.
    static let pump = HostVerification(
        family: "pump",
        devices: [
            PlayedDevice("plain", "the pump as it is", [:], rules + [baud, understands("1, table")]),
            PlayedDevice(
                "one-thermistor", "a pump with one thermistor", ["thermistors": "1"],
                [understands("1, status lines: \"one-thermistor firmware\"")]),
            PlayedDevice(
                "older", "an older firmware: bare line feeds, and times while the pump is off",
                ["line-end": "lf", "idle-times": "on"],
                [understands("1: \"older firmware and the apps' own tests use a bare \\n. Accept both.\"")]),
            PlayedDevice(
                "talkative", "a debug build", ["debug-lines": "on"],
                rules + [understands("1: \"Free text to expect and pass on as log lines\"")]),
            PlayedDevice(
                "interrupting", "a pump whose unasked lines come between the lines of a reply", ["interrupts": "on"],
                rules + [understands("1: \"at any moment, also between the two lines of a reply\"")]),
            PlayedDevice(
                "cut", "a pump behind a module that cuts its lines anywhere", ["fault": "split"],
                rules + [understands("1: \"notifications of at most 20 bytes that cut lines anywhere\"")]),
            PlayedDevice(
                "unheard", "a pump that is not heard for 3 s", ["fault": "silence=3s@command:1"],
                [
                    HostCheck(
                        "repeats-off", "1, table: \"OFF … always works\": it is sent again until it is known to work",
                        .rule("repeats=10s/OFF@line:PUMP:OFF|STATUS:{State:OFF"),
                        expecting: "OFF is sent again within 10 s, until PUMP:OFF or a status with State:OFF comes")
                ]),
            PlayedDevice(
                "overheating", "a pump that gets too warm once it runs",
                ["step": "command:1 temperature skin 41"],
                [
                    HostCheck(
                        "stays-off", "1: \"After both the state is ERROR until OFF\"",
                        .rule("refrains=ON@line:ERROR:OVERHEAT"),
                        expecting: "no ON is sent after ERROR:OVERHEAT, before OFF")
                ]),
        ])

    private static let rules = [
        HostCheck(
            "commands", "1, table: \"the host sends plain decimals only\", and no more than 63 bytes",
            .rule("commands"), expecting: "the program sends only commands that the pump has, with plain decimals"),
        HostCheck(
            "one-in-flight", "1: \"Keep one command in flight.\"", .rule("one-in-flight"),
            expecting: "each command but OFF is sent after the reply to the one before"),
    ]

    private static let baud = HostCheck(
        "baud", "table: \"9600 8N1\"", .rule("baud"), expecting: "the program sends at 9600 baud, 8N1",
        needsTerminal: true)
}

extension HostVerification {
    /// That a host gets along with a device.
    static func understands(_ paragraph: String) -> HostCheck {
        HostCheck("understands", paragraph, .exitStatus, expecting: "the program ends with exit status 0")
    }

    /// The baud rate of the boards with an ESP32.
    static let fastBaud = HostCheck(
        "baud", "table: \"115200 8N1\"", .rule("baud"), expecting: "the program sends at 115200 baud, 8N1",
        needsTerminal: true)
}
