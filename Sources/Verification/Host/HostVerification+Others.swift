extension HostVerification {
    /// The checks of programs and apps that read a storm sensor.
    static let storm = HostVerification(
        family: "storm",
        devices: [
            PlayedDevice(
                "plain", "a sensor that measures nothing during the download", ["interval": "off"],
                [
                    HostCheck(
                        "commands", 3, "a host sends GET_LOG", .rule("commands"),
                        expecting: "the program sends GET_LOG, and nothing else"), fastBaud,
                    understands(3, "GET_LOG is answered by LOG Values: …", meeting: "LOG Values:"),
                ]),
            PlayedDevice(
                "echoing", "a sensor that echoes what it is asked", ["echo": "on", "interval": "off"],
                [understands(5, "a host ignores the GET_LOG that comes back", meeting: "GET_LOG")]),
            PlayedDevice(
                "long", "a sensor with a log that takes several notifications", ["rows": "2000", "interval": "off"],
                [
                    understands(
                        7, "a long log takes several lines or notifications", meeting: "LOG Values:")
                ]),
            PlayedDevice(
                "measuring", "a sensor that measures while its log is read", ["interval": "400ms"],
                [
                    understands(
                        8, "a live row neither ends nor prolongs the silence that ends a log", meeting: "LIVE LOG:")
                ]),
        ])

    /// The checks of programs and apps that switch an LED.
    static let led = HostVerification(
        family: "led",
        devices: [
            PlayedDevice(
                "plain", "the board as it is", [:],
                [
                    HostCheck(
                        "commands", 3, "LED asks, LED:1 and LED:0 set; over BLE one byte", .rule("commands"),
                        expecting: "the program sends only commands that the board has"),
                    fastBaud, understands(3, "LED is answered by LED:0 or LED:1", meeting: "LED:"),
                ]),
            PlayedDevice(
                "lit", "a board that is lit already", ["lit": "on"],
                [understands(6, "the value that was written is the new state", meeting: "LED:")]),
            PlayedDevice(
                "mute", "a board that says nothing when it is set", ["mute": "on"],
                [understands(8, "a board need not answer a command that sets the value", meeting: "LED:")]),
        ])

    /// The checks of programs and apps that talk to a peer.
    static let peer = HostVerification(
        family: "peer",
        devices: [
            PlayedDevice(
                "plain", "the published peer", [:],
                [fastBaud, understands(10, "the published peer acknowledges nothing")]),
            PlayedDevice(
                "acknowledging", "a peer that acknowledges Hello", ["acks": "on"],
                [
                    understands(
                        10, "Hello ack is a sign that the peer listens, and no more than that", meeting: "Hello ack")
                ]),
        ])

    /// The checks of phones and programs that receive rescue messages.
    static let rescue = HostVerification(
        family: "rescue",
        devices: [
            PlayedDevice(
                "plain", "a phone as it is", [:],
                [
                    HostCheck(
                        "messages", 3, "a message is one JSON object", .rule("commands"),
                        expecting: "the program sends only messages, each a JSON object of its own"), fastBaud,
                    understands(15, "a message that was received is stored"),
                ]),
            PlayedDevice(
                "cut", "a phone whose messages come in pieces", ["split": "20"],
                [understands(2, "a message that does not fit comes in several pieces")]),
            PlayedDevice(
                "duplicating", "a phone whose messages come twice", ["fault": "duplicate@always"],
                [understands(16, "one whose id is known is not stored again")]),
        ])
}
