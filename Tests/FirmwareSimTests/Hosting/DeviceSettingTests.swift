import DescriptorIO
import FirmwareSim
import Foundation
import TestSupport
import Testing

@Suite("Settings of a running device", .timeLimit(.minutes(5)))
struct DeviceSettingTests {
    /// A device to which the faults common to all devices could be added. The time of its host stands still.
    private struct Bench<Device: SimulatedDevice> {
        let host: DeviceHost<FaultyDevice<Device>>

        init(_ device: Device) { host = DeviceHost(FaultyDevice(device), pace: .onDemand) }

        func perform(_ words: String...) async throws {
            try await host.handle.perform(words[0], Array(words.dropFirst()))
        }

        /// Sends `command`, and returns the device's output up to `time`. Since the host's time stands still, `time`
        /// counts from the beginning of the test, and a test that waits again must name a later time.
        func hear(_ command: String = "", in time: Duration = .seconds(1)) async -> String {
            await host.change { device, now in
                device.receive(Array(command.utf8), at: now)
                return String(decoding: device.advance(to: now + time).flatMap(\.bytes), as: UTF8.self)
            }
        }
    }

    @Test("A storm sensor's interval and echo can be changed")
    func storm() async throws {
        let bench = Bench(StormFirmware(options: StormFirmwareOptions(lineRate: .unlimited, rows: 0)))
        #expect(await bench.hear(in: .seconds(60)) == "")
        try await bench.perform("set", "interval", "2s")
        #expect(await bench.hear(in: .seconds(70)).split(separator: "\r\n").count == 5)
        try await bench.perform("set", "interval", "off")
        try await bench.perform("set", "echo", "on")
        #expect(await bench.hear("GET_LOG\n", in: .seconds(80)).hasPrefix("GET_LOG\r\nLOG Values: "))
        try await bench.perform("set", "echo", "off")
        #expect(await bench.hear("GET_LOG\n", in: .seconds(90)).hasPrefix("LOG Values: "))
    }

    @Test("An LED board can be muted and its LED switched by hand")
    func led() async throws {
        let bench = Bench(LEDFirmware(lineRate: .unlimited))
        try await bench.perform("set", "mute", "on")
        #expect(await bench.hear("LED:1\n") == "")
        try await bench.perform("light", "off")
        #expect(await bench.hear() == "")
        #expect(await bench.hear("LED\n") == "LED:0\r\n")
        try await bench.perform("set", "mute", "off")
        #expect(await bench.hear("LED:1\n") == "LED:1\r\n")
    }

    @Test("A peer's acknowledgements, interval, chunk length and image can be changed")
    func peer() async throws {
        let options = PeerFirmwareOptions(carrier: .line(.unlimited), imageByteCount: 300)
        let bench = Bench(PeerFirmware(options: options))
        await bench.host.change { $0.hostCame(at: $1) }
        _ = await bench.hear()
        #expect(await bench.hear("Hello\n") == "")
        try await bench.perform("set", "acks", "on")
        #expect(await bench.hear("Hello\n") == "Hello ack\r\n")
        try await bench.perform("set", "interval", "500ms")
        #expect(await bench.hear(in: .seconds(2)) != "")
        try await bench.perform("set", "interval", "off")
        #expect(await bench.hear(in: .seconds(4)) == "")
        try await bench.perform("set", "chunk", "100")
        #expect(await bench.hear("GET\n", in: .seconds(5)).split(separator: "\r\n").map(\.count).max() == 100)

        let file = TemporaryFolder()
        let image = PeerPicture(seed: 3, byteCount: 150).bytes
        try Data(image).write(to: URL(filePath: file.path("photo.png")))
        try await bench.perform("set", "image", file.path("photo.png"))
        #expect(await bench.hear("GET\n", in: .seconds(6)).hasPrefix("IMG_BEGIN photo.png 150\r\n"))
        #expect(await bench.host.handle.observe()["image_bytes"] == .integer(150))
        let missing = file.path("none.png")
        let failure = await #expect(throws: DeviceVerbError.self) { try await bench.perform("set", "image", missing) }
        #expect(failure?.description.contains(missing) == true)
        #expect(failure?.hint == "name another file")
        try await bench.perform("toggle")
        #expect(await bench.host.handle.observe()["on"] == .boolean(true))
    }

    @Test("A phone's interval, splits, faults and forwarding can be changed")
    func rescue() async throws {
        let bench = Bench(
            RescueFirmware(options: RescueFirmwareOptions(carrier: .line(.unlimited), messages: 1000)))
        let message = String(decoding: PhoneStock(seed: 9).message(0).json, as: UTF8.self)
        try await bench.perform("set", "hoard", "on")
        #expect(await !bench.hear(message, in: .milliseconds(500)).contains("{"))
        try await bench.perform("set", "interval", "1h")
        #expect(await bench.hear(in: .seconds(60)) == "")
        try await bench.perform("set", "hoard", "off")
        let other = String(decoding: PhoneStock(seed: 9).message(1).json, as: UTF8.self)
        #expect(await bench.hear(other, in: .seconds(61)) != "")
        try await bench.perform("set", "split", "5")
        try await bench.perform("set", "malformed", "100")
        try await bench.perform("set", "interval", "1s")
        let pieces = await bench.host.change { $0.advance(to: $1 + .seconds(70)).map(\.bytes) }
        // About ten messages of more than 100 bytes, each with malformed content before it.
        #expect(pieces.count > 100 && pieces.allSatisfy { $0.count <= 5 })
        let sent = String(decoding: pieces.joined(), as: UTF8.self)
        #expect(sent.contains(String(decoding: PhoneStock(seed: 1).message(0).json, as: UTF8.self)))
        #expect(sent.utf8.count > PhoneStock(seed: 1).message(0).json.count * 12)
    }

    @Test("A message written on a phone is sent once a host listens")
    func write() async throws {
        let bench = Bench(RescueFirmware(options: RescueFirmwareOptions(carrier: .notifications, messages: 0)))
        try await bench.perform("write", "SOS", "three on the roof")
        try await bench.perform("write", "Road Closure", "a tree")
        #expect(await bench.host.handle.observe()["waiting"] == .integer(2))
        let sent = await bench.host.change { device, now in
            device.hostCame(at: now)
            return device.advance(to: now + .seconds(1)).flatMap(\.bytes)
        }
        let messages = String(decoding: sent, as: UTF8.self).replacing("}{", with: "}\n{").split(separator: "\n")
            .compactMap { PhoneMessage(json: Array($0.utf8)) }
        #expect(messages.map(\.content) == ["three on the roof", "a tree"])
        #expect(messages.map(\.category) == ["SOS", "Road Closure"])
        #expect(Set(messages.map(\.id)).count == 2)
        #expect(await bench.host.handle.observe()["sent"] == .integer(2))
        await #expect(throws: DeviceVerbError.self) { try await bench.perform("write", "Weather", "rain") }
    }

    @Test("A running pump's knob can be set to a reading from 0 to 1023")
    func pump() async throws {
        let bench = Bench(PumpFirmware())
        try await bench.perform("set", "knob", "1023")
        #expect(await bench.host.handle.observe()["knob"] == .number(1))
    }

    @Test(
        "An invalid setting is refused with the words of the start option",
        arguments: [
            (["set"], "'set' takes name value"), (["set", "interval"], "'set' takes name value"),
            (["set", "interval", "0"], "interval takes a time above 0, up to 1000000 s, as 500ms or 2s, or off"),
            (["set", "echo", "perhaps"], "echo takes on or off"),
            (["set", "rows", "7"], "'rows' can't be changed while the device runs"),
        ])
    func refusals(words: [String], text: String) async throws {
        let bench = Bench(StormFirmware())
        let failure = await #expect(throws: DeviceVerbError.self) {
            try await bench.host.handle.perform(words[0], Array(words.dropFirst()))
        }
        #expect(failure?.description == text)
        #expect(failure?.hint == (text.hasPrefix("'rows'") ? "use one of: interval, echo" : nil))
    }
}
