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
                "echoing", "a sensor that echoes GET_LOG", ["echo": "on", "interval": "off"],
                [understands(5, "a host ignores the echo of GET_LOG", meeting: "GET_LOG")]),
            PlayedDevice(
                "long", "a sensor with a long log", ["rows": "2000", "interval": "off"],
                [
                    understands(
                        7, "a long log takes several lines or notifications", meeting: "LOG Values:")
                ]),
            // The interval is shorter than the silence that ends a log, which is 1 s in pumpctl: live rows come within
            // that silence.
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
                "plain", "a board with default options", [:],
                [
                    HostCheck(
                        "commands", 3, "LED reads the value, LED:1 and LED:0 set it; over BLE it is one byte",
                        .rule("commands"),
                        expecting: "the program sends only commands that the board supports"),
                    fastBaud, understands(3, "LED is answered by LED:0 or LED:1", meeting: "LED:"),
                ]),
            PlayedDevice(
                "lit", "a board whose LED is on", ["lit": "on"],
                [understands(6, "the written value is the new state", meeting: "LED:")]),
            PlayedDevice(
                "mute", "a board that does not reply to commands that set the value", ["mute": "on"],
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
                        10, "Hello ack only means that the peer listens", meeting: "Hello ack")
                ]),
        ])

    /// The checks of phones and programs that receive rescue messages.
    static let rescue = HostVerification(
        family: "rescue",
        devices: [
            PlayedDevice(
                "plain", "a phone with default options", [:],
                [
                    HostCheck(
                        "messages", 3, "a message is one JSON object", .rule("commands"),
                        expecting: "the program sends only messages, each as one JSON object"), fastBaud,
                    understands(15, "a received message is stored"),
                ]),
            // 20 bytes is what a BLE packet holds unless both sides have agreed on more.
            PlayedDevice(
                "cut", "a phone that sends messages in pieces", ["split": "20"],
                [understands(2, "a message that does not fit into one packet is sent in pieces")]),
            PlayedDevice(
                "duplicating", "a phone that sends each message twice", ["fault": "duplicate@always"],
                [understands(16, "a message whose id is known is not stored again")]),
        ])
}
