extension HostVerification {
    /// Programs and apps that read a storm sensor.
    static let storm = HostVerification(
        family: "storm",
        devices: [
            PlayedDevice(
                "plain", "the sensor as it is", [:],
                [
                    HostCheck(
                        "commands", "2: \"Host writes GET_LOG\"", .rule("commands"),
                        expecting: "the program sends GET_LOG, and nothing else"), fastBaud,
                    understands("2: \"LOG Values: <text>\""),
                ]),
            PlayedDevice(
                "echoing", "a sensor that echoes what it is asked", ["echo": "on"],
                [understands("2: \"may echo GET_LOG back: ignore it\"")]),
            PlayedDevice(
                "long", "a sensor with a log that takes several notifications", ["rows": "2000"],
                [understands("2: \"A long log spans several notifications\"")]),
        ])

    /// Programs and apps that switch an LED.
    static let led = HostVerification(
        family: "led",
        devices: [
            PlayedDevice(
                "plain", "the board as it is", [:],
                [
                    HostCheck(
                        "commands", "3: \"LED:1, LED:0 set, LED asks\"; over BLE one byte", .rule("commands"),
                        expecting: "the program sends only commands that the board has"),
                    fastBaud, understands("3: \"reply LED:<0|1>\""),
                ]),
            PlayedDevice(
                "lit", "a board that is lit already", ["lit": "on"],
                [understands("3: \"the value written is the new state\"")]),
        ])

    /// Programs and apps that talk to a peer.
    static let peer = HostVerification(
        family: "peer",
        devices: [
            PlayedDevice(
                "plain", "the published peer", [:],
                [fastBaud, understands("4: \"acknowledges nothing else\": it must work without")]),
            PlayedDevice(
                "acknowledging", "a peer that acknowledges Hello", ["acks": "on"],
                [understands("4: \"where it comes, it is a sign that the peer listens, no more\"")]),
        ])

    /// Phones and programs that take rescue messages.
    static let rescue = HostVerification(
        family: "rescue",
        devices: [
            PlayedDevice(
                "plain", "a phone as it is", [:],
                [
                    HostCheck(
                        "messages", "5: \"One JSON object per message\"", .rule("commands"),
                        expecting: "the program sends only messages, each a JSON object of its own"), fastBaud,
                    understands("5: \"A received message is stored\""),
                ]),
            PlayedDevice(
                "cut", "a phone whose messages come in pieces", ["split": "20"],
                [understands("5: \"one notification where it fits the MTU, else several\"")]),
            PlayedDevice(
                "duplicating", "a phone whose messages come twice", ["fault": "duplicate"],
                [understands("5: \"a duplicate is not stored again\"")]),
        ])
}
