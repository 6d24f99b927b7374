import DBus
import FakeBlueZ
import Foundation
import TestSupport
import Testing

@Suite("pumpctl led over BLE", .timeLimit(.minutes(5)))
struct LEDBLETests {
    /// An LED board that shares no code with the simulator.
    @Radio
    private final class Board {
        let radio = RadioDevice(
            "C0:FF:EE:00:00:01",
            Advertisement(name: "ece196", services: ["937312E0-2354-11EB-9F10-FBC30A62CF38"]))
        let led: RadioCharacteristic
        /// The values that were written with response.
        nonisolated let writes = Watched<[[UInt8]]>([])

        init(_ flags: [RadioCharacteristic.Flag] = [.read, .write], value: UInt8 = 0) {
            led = RadioCharacteristic("957312E0-2354-11EB-9F10-FBC30A62CF38", flags, value: [value])
            radio.services = [RadioService("937312E0-2354-11EB-9F10-FBC30A62CF38", [led])]
            led.onWrite = { [writes, led] bytes, request in
                if request.wantsAnswer { writes.update { $0.append(bytes) } }
                led.value = bytes
                led.notify(bytes)
            }
        }

        func join(_ fake: FakeBlueZ) { fake.add(radio) }
    }

    /// Calls `body` with a bench that has the board in reach.
    private func withBoard(_ board: Board, _ body: (BLEBench, Board) async throws -> Void) async throws {
        try await withBLEBench { bench in
            await board.join(bench.fake)
            try await body(bench, board)
        }
    }

    @Test(
        "The LED is read, and written as one confirmed byte",
        arguments: [[.read, .write], [.read, .write, .notify]] as [[RadioCharacteristic.Flag]])
    func commands(flags: [RadioCharacteristic.Flag]) async throws {
        // Any byte except 0 means on.
        try await withBoard(Board(flags, value: 0x20)) { bench, board in
            var written: [[UInt8]] = []
            let steps: [(String, Bool, UInt8?)] = [
                ("get", true, nil), ("toggle", false, 0), ("get", false, nil), ("on", true, 1), ("off", false, 0),
                ("toggle", true, 1),
            ]
            for (command, isOn, byte) in steps {
                let ending = try await bench.run("-p", "ble:ece196", "led", command)
                #expect(ending.status == 0, "\(ending)")
                #expect(ending.output == "led \(isOn ? "on" : "off")\n")
                #expect(ending.errors == "")
                if let byte { written.append([byte]) }
                #expect(board.writes.state == written)
            }
            let record = try await bench.run("-p", "ble:*", "--json", "led", "get").object()
            #expect(record["name"] as? String == "led" && record["value"] as? Bool == true)
        }
    }

    @Test("A board lost during a write leaves the outcome unknown")
    func lost() async throws {
        let board = await Board()
        await Radio.run { board.radio.manners.writesUntilLoss = 0 }
        try await withBoard(board) { bench, _ in
            let ending = try await bench.run("-p", "ble:ece196", "--json", "led", "on")
            expectFailure(ending, 74, saying: "the link broke at LED:1", "unknown")
            #expect(try ending.object()["outcome"] as? String == "unknown")
        }
    }

    @Test("If a board does not answer, the command fails after --timeout")
    func silent() async throws {
        let board = await Board()
        await Radio.run { board.radio.manners.readDelay = .seconds(3600) }
        try await withBoard(board) { bench, _ in
            let ending = try await bench.run("-p", "ble:C0:FF:EE:00:00:01", "--timeout", "2", "led", "get")
            expectFailure(ending, 75, saying: "no answer to LED in 2 s")
        }
    }

    @Test("A boolean of four bytes is accepted, and other bytes are an unexpected reply")
    func noValue() async throws {
        let board = await Board()
        await Radio.run { board.led.value = [1, 0, 0, 0] }
        try await withBoard(board) { bench, _ in
            let four = try await bench.run("-p", "ble:ece196", "led", "get")
            #expect(four.status == 0 && four.output == "led on\n", "\(four)")
            await Radio.run { board.led.value = [1, 2] }
            let ending = try await bench.run("-p", "ble:C0:FF:EE:00:00:01", "--timeout", "3", "led", "get")
            expectFailure(ending, 76, saying: "unexpected reply to LED: LED:0x0102", hint: "check that the device")
            #expect(!ending.errors.contains("baud"), "\(ending.errors)")
        }
    }

    @Test("send translates the lines of the serial protocol, and writes nothing for any other line")
    func lines() async throws {
        try await withBoard(Board(value: 1)) { bench, board in
            for (line, timeout, status, output) in [
                ("LED", "100", 0, "LED:1\n"), ("LED:0", "100", 0, "LED:0\n"), ("FAN:1", "2", 75, ""),
            ] {
                let ending = try await bench.run(
                    "-p", "ble:C0:FF:EE:00:00:01", "--family", "led", "--timeout", timeout, "send", line)
                #expect(ending.status == Int32(status), "\(ending)")
                #expect(ending.output == output)
            }
            #expect(board.writes.state == [[0]])
        }
    }
}
