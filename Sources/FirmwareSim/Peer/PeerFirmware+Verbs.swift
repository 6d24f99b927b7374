extension PeerFirmware {
    public static var verbs: [DeviceVerb<PeerFirmware>] {
        [
            DeviceVerb(
                "say", [SimulatorOption("message", .text, help: "The message.")], help: "Send a message."
            ) { peer, values, now in
                peer.say(Array((values.text("message") ?? "").utf8), at: now)
            },
            // The protocol has no message for this from the peer to the host.
            DeviceVerb("toggle", help: "Switch the peer on or off at the peer, without a message to the host.") {
                peer, _, _ in
                peer.isOn.toggle()
            },
        ]
    }

    public static var settings: [DeviceSetting<PeerFirmware>] {
        [
            DeviceSetting(PeerFirmwareOptions.imageOption) { peer, values, _ throws(DeviceVerbError) in
                do throws(DeviceFileError) {
                    peer.setImage(try PeerImageFile(path: values.text("image") ?? ""))
                } catch {
                    throw .failed("\(error)", hint: error.hint)
                }
            },
            DeviceSetting(PeerFirmwareOptions.chunkOption) { peer, values, _ in
                peer.options.chunkLength = values.number("chunk") ?? 180
            },
            DeviceSetting(PeerFirmwareOptions.intervalOption) { peer, values, now in
                peer.setInterval(values.time("interval"), at: now)
            },
            DeviceSetting(PeerFirmwareOptions.acksOption) { peer, values, _ in
                peer.options.acknowledges = values.flag("acks")
            },
        ]
    }

    public var observations: [String: ObservedValue] {
        [
            "on": .boolean(isOn), "listener": .boolean(hasListener), "messages": .integer(messages.count),
            "image_bytes": .integer(picture.bytes.count),
        ]
    }
}
