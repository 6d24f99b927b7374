import DescriptorIO
import FirmwareSim
import Foundation
import TestSupport
import Testing

@Suite("pumpctl peer say and toggle")
struct SayTests {
    /// A peer that acknowledges each Hello, and records its input.
    private func peer() async throws -> ScriptedDevice {
        try await ScriptedDevice { $0 == "Hello" ? "Hello ack\r\n" : "" }
    }

    @Test("A message is sent between two acknowledged Hellos")
    func message() async throws {
        let peer = try await peer()
        let ending = try await Pumpctl.run("-p", peer.port, "peer", "say", "Grüße from ON")
        #expect(ending.status == 0)
        #expect(ending.output == "sent, acknowledged\n")
        #expect(ending.errors == "")
        #expect(peer.heard.state.text == "Hello\nGrüße from ON\nHello\n")
        await peer.close()
    }

    @Test("A message beyond 500 characters is sent whole, with a note")
    func long() async throws {
        let text = String(repeating: "雨", count: 612)
        let peer = try await peer()
        let ending = try await Pumpctl.run("-p", peer.port, "--json", "peer", "say", text)
        #expect(ending.errors == "pumpctl: the message has 612 characters; the peer shows the first 500\n")
        let record = try ending.object()
        #expect(record["characters"] as? Int == 612)
        #expect(record["shown_characters"] as? Int == 500)
        #expect(peer.heard.state.text == "Hello\n\(text)\nHello\n")
        await peer.close()
    }

    @Test(
        "Text that is no message is refused before anything is sent",
        arguments: [
            ("", "empty"), ("a\nb", "one line"), ("on", "pumpctl peer toggle"), ("GET", "pumpctl peer image get"),
        ])
    func noMessage(text: String, words: String) async throws {
        expectFailure(
            try await Pumpctl.run("-p", "/proc/nowhere", "peer", "say", text), 64, saying: words,
            hint: "pumpctl peer say")
    }

    @Test("toggle sends ON and OFF")
    func toggle() async throws {
        for (position, word) in [("on", "ON"), ("off", "OFF")] {
            let peer = try await peer()
            let ending = try await Pumpctl.run("-p", peer.port, "peer", "toggle", position)
            #expect(ending.output == "toggle \(position), acknowledged\n")
            #expect(peer.heard.state.text == "Hello\n\(word)\nHello\n")
            #expect(
                try await Pumpctl.run("-p", peer.port, "--json", "peer", "toggle", position).object()["toggle"]
                    as? String
                    == position)
            await peer.close()
        }
        expectFailure(try await Pumpctl.run("-p", "sim:peer", "peer", "toggle", "maybe"), 64, hint: "")
        expectFailure(try await Pumpctl.run("-p", "sim:peer", "--family", "led", "peer", "toggle", "on"), 64, hint: "")
    }

    @Test("A message to a peer without acknowledgements is sent and reported as unacknowledged")
    func published() async throws {
        for (arguments, word) in [
            (["peer", "say", "good morning"], "good morning"), (["peer", "toggle", "on"], "ON"),
        ] {
            let peer = try await ScriptedDevice()
            let ending = try await Pumpctl.start(["-p", peer.port, "--json"] + arguments).ending()
            #expect(ending.status == 0, "\(ending)")
            #expect(try ending.object()["acknowledged"] as? Bool == false)
            #expect(ending.errors.contains("has sent nothing"))
            // pumpctl may end before the peer has received the message. Without an acknowledgement, Hello is sent a
            // second time, unless this machine is too busy.
            let heard = try await peer.heard.text(upTo: "\(word)\n")
            #expect(["Hello\n\(word)\n", "Hello\nHello\n\(word)\n"].contains(heard))
            await peer.close()
        }
    }

    @Test("A device of another family fails with status 76")
    func foreign() async throws {
        let pump = try await BenchPump()
        let ending = try await Pumpctl.run("-p", pump.port, "--timeout", "10", "peer", "say", "hello")
        expectFailure(ending, 76, saying: "ERROR:UNKNOWN_COMMAND", hint: "use a command of the family pump")
        expectFailure(
            try await Pumpctl.run("-p", pump.port, "peer", "toggle", "on"), 76, saying: "ERROR:UNKNOWN_COMMAND")
        #expect(await pump.duty() == nil)
        await pump.close()
    }

    @Test("A peer unplugged after the message leaves its outcome unknown")
    func unplugged() async throws {
        let hellos = Watched(0)
        let peer = try await ScriptedDevice { line in
            guard line == "Hello" else { return "" }
            return hellos.update {
                $0 += 1; return $0 == 1
            } ? "Hello ack\r\n" : nil
        }
        let ending = try await Pumpctl.run("-p", peer.port, "--json", "peer", "say", "good bye")
        expectFailure(ending, 74, saying: "the link broke at good bye", "unknown", hint: "")
        #expect(try ending.object()["outcome"] as? String == "unknown")
        await peer.close()
    }

    @Test("An error of the peer fails send with status 1")
    func sent() async throws {
        let ending = try await Pumpctl.run(
            "-p", "sim:peer?unpaced&fault=not_png", "--family", "peer", "--json", "send", "GET")
        expectFailure(ending, 1, saying: "not_png")
        #expect(try ending.objects().last?["device_code"] as? String == "not_png")
    }

    @Test("sim:peer accepts messages and toggles")
    func simulated() async throws {
        #expect(try await Pumpctl.run("-p", "sim:peer", "peer", "say", "hello").output == "sent\n")
        #expect(try await Pumpctl.run("-p", "sim:peer?acks", "peer", "say", "hello").output == "sent, acknowledged\n")
        #expect(try await Pumpctl.run("-p", "sim:peer", "peer", "toggle", "off").status == 0)
    }
}
