import BlueZ
import DeviceKit
import LineProtocol
import SerialPort
import StrictJSON
import Testing
import TestSupport
import Transports

@testable import Sharing

@Suite("The computer's ports, BLE devices and problems for programs", .timeLimit(.minutes(5)))
struct SurroundingsTests {
    private static func answer(_ surroundings: Surroundings, to request: String) async throws -> JSONValue {
        let rig = try ControlRig(surroundings: surroundings)
        var answer = JSONValue.null
        try await rig.run { answer = try await rig.client().answer(to: request) }
        return answer
    }

    @Test("ports lists each port with its USB device and the programs that have it open")
    func ports() async throws {
        var port = SerialPortInfo(path: "/dev/ttyUSB9")
        port.driver = "ch341"
        port.usb = .init(USBIdentifier(vendor: 0x1A86, product: 0x7523), physicalPath: "1-2")
        let answer = try await Self.answer(
            Surroundings(ports: { [port] in [(port, ["pumpctld (pid 811)"])] }), to: #"{"id":1,"do":"ports"}"#)
        #expect(
            answer["ports"]?.options.first
                == .object([
                    "path": "/dev/ttyUSB9", "driver": "ch341", "usb_id": "1a86:7523", "usb_path": "1-2",
                    "board": .text(try #require(port.board).description), "holders": .array(["pumpctld (pid 811)"]),
                ]))
    }

    @Test("scan lists the devices in sight, and needs 1 to 30 seconds")
    func scan() async throws {
        let address = try #require(BluetoothAddress("AA:BB:CC:DD:EE:FF"))
        let surroundings = Surroundings(devices: { seconds in
            seconds == 30 ? [ScannedDevice(address, name: "\u{1B}[2J", rssi: -61)] : []
        })
        let answer = try await Self.answer(surroundings, to: #"{"id":1,"do":"scan","seconds":30}"#)
        #expect(
            answer["found"]?.options.first
                == .object([
                    "address": "AA:BB:CC:DD:EE:FF", "name": "\u{1B}[2J", "rssi_dbm": -61, "services": .array([]),
                    "possible_families": .array([]), "connected": false,
                ]))
        for members in ["", #","seconds":0"#, #","seconds":31"#] {
            let refused = try await Self.answer(surroundings, to: #"{"id":1,"do":"scan"\#(members)}"#)
            #expect(refused["error"]?["message"] == "'seconds' must be 1 to 30")
        }
    }

    @Test("findings returns the findings on the device's endpoint, or without a device on the computer")
    func findings() async throws {
        let surroundings = Surroundings(findings: { endpoint in
            [.init(code: "present", severity: "ok", subject: endpoint?.text, sentence: "it is there", remedy: nil)]
        })
        for (members, subject) in [(#","device":"pump""#, "tcp:nowhere:1"), ("", nil)] {
            let answer = try await Self.answer(surroundings, to: #"{"id":1,"do":"findings"\#(members)}"#)
            let finding = try #require(answer["findings"]?.options.first)
            #expect(finding["code"] == "present" && finding["sentence"] == "it is there" && finding["severity"] == "ok")
            #expect(finding["subject"]?.text == subject && finding["remedy"] == nil)
        }
        let stranger = try await Self.answer(surroundings, to: #"{"id":1,"do":"findings","device":"hose"}"#)
        #expect(stranger["error"]?["code"] == "no_such_device")
    }

    @Test("A scan with Bluetooth switched off fails with a code of its own")
    func failures() async throws {
        for (code, word) in [(BLEError.Code.adapterOff, "no_bluetooth"), (.failed, "failed")] {
            let surroundings = Surroundings(devices: { _ in throw BLEError(code, activity: "scanning", hint: "wait") })
            let error = try await Self.answer(surroundings, to: #"{"id":1,"do":"scan","seconds":1}"#)["error"]
            #expect(error?["code"] == .text(word) && error?["hint"] == "wait")
            #expect(error?["outcome"] == "nothing_changed")
        }
    }
}
